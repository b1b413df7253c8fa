"""How is a finished race written down so that anyone can check it?

A replay file is JSON Lines in UTF-8, in one byte form only: compact separators, keys in the order
written here, no duplicates, "\\n" after every line and nothing else.

    {"format":"samedeal-replay","version":1,"game":...,"rules_version":...,"seed":...,
     "commitment":...,"race":...,"code":...,"practice":...,"options":{...},
     "players":[{"seat":...,"name":...,"bot":...}],"started":...,"check":...}
    {"seat":1,"seq":1,"t_ms":2310,"move":"W>T1","check":...}
    {"seat":1,"seq":2,"t_ms":2950,"undo":true,"check":...}
    {"order":[{"place":1,"seat":1,...}],"check":...}

Line 1 is the deal and the race, then one line per accepted action by time, seat and seq, and at
last the order. `check` is the first 8 hex digits of the SHA-256 of every byte of the file before
`,"check"` of its own line: it names the first line that was altered. It is no signature. That the
deal was fixed before GO follows from the commitment, that the play was legal from playing it again.

A file is sealed, its seed null, while the seed is not public: the deal of a day, before the day is
closed. Then only the file itself can be checked, and the play when the seed is handed in.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, NoReturn, TypeAlias

from samedeal.engine.counts import counted
from samedeal.engine.deals import commitment
from samedeal.engine.errors import EngineError, IllegalMove, Unreadable
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.run import UNDO, Action, Run, UndoPolicy
from samedeal.engine.scoring import final_order
from samedeal.engine.table import Table

FORMAT: Final = "samedeal-replay"
VERSION: Final = 1
MAX_LINE_BYTES: Final = 64 * 1024
MAX_ACTIONS: Final = 100_000
MAX_SEATS: Final = 8
MAX_TEXT: Final = 200
MAX_DIGITS: Final = 15

Scalar: TypeAlias = str | int | bool | None


class ReplayError(EngineError):
    """A replay file does not hold up; `line_number`, from 1, is its first wrong line."""

    def __init__(self, line_number: int, sentence: str) -> None:
        super().__init__(line_number, sentence)
        self.line_number = line_number
        self.sentence = sentence

    def __str__(self) -> str:
        return f"line {self.line_number}: {self.sentence}"


class NoReplay(ReplayError):
    """There is nothing to check: the file is empty, or of another kind."""


@dataclass(frozen=True, slots=True)
class Player:
    """Who sat where."""

    seat: int
    name: str
    is_bot: bool


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One accepted action of one seat."""

    seat: int
    seq: int
    t_ms: int
    action: Action


@dataclass(frozen=True, slots=True)
class Standing:
    """One row of the order: a place and the numbers behind it."""

    place: int
    seat: int
    won: bool
    home: int
    best: int
    opened: int
    moves: int
    t_ms: int
    """Time of the win; 0 without one."""
    t_best_ms: int
    m_best: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The deal and the race of a replay file."""

    game: str
    rules_version: int
    seed: str
    """64 lowercase hex digits; empty in a sealed file."""
    commitment: str
    race: str
    code: str
    is_practice: bool
    options: Mapping[str, Scalar]
    """`undo` names the undo policy; `time_limit_s` and `ranked` are checked where given."""
    players: tuple[Player, ...]
    """By seat."""
    started: str
    """GO in UTC, as in 2026-05-01T18:30:00Z."""
    paused_ms: int = 0
    """For how long of it nobody could play, which lengthened the time limit; left out if 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(Header):
    """What a replay file holds, every line of it checked."""

    actions: tuple[LogEntry, ...]
    order: tuple[Standing, ...]

    @property
    def is_sealed(self) -> bool:
        """Whether the seed is not known, so that the play could not be checked."""
        return not self.seed


def standings(runs: Mapping[int, Run]) -> tuple[Standing, ...]:
    """Give the order of a race from the run of each seat."""
    outcomes = {seat: run.outcome(seat) for seat, run in runs.items()}
    return tuple(
        Standing(
            place=placed.place,
            seat=placed.seat,
            won=outcomes[placed.seat].has_won,
            home=runs[placed.seat].home,
            best=outcomes[placed.seat].best,
            opened=outcomes[placed.seat].opened,
            moves=outcomes[placed.seat].moves,
            t_ms=outcomes[placed.seat].t_ms,
            t_best_ms=outcomes[placed.seat].t_best_ms,
            m_best=outcomes[placed.seat].m_best,
        )
        for placed in final_order(outcomes.values())
    )


def compose(header: Header, actions: Iterable[LogEntry], order: Iterable[Standing]) -> list[str]:
    """Write a replay file as lines, each with its newline; `actions` may come in any order.

    What is handed in is not checked: `verify` does that.
    """
    seal = _Seal()
    logged = sorted(actions, key=lambda entry: (entry.t_ms, entry.seat, entry.seq))
    contents: list[dict[str, object]] = [
        _header_fields(header),
        *(_action_fields(entry) for entry in logged),
        {"order": [asdict(standing) for standing in order]},
    ]
    return [seal.close(content).decode() for content in contents]


def verify(lines: Iterable[bytes | str], *, seed: str | None = None) -> Verified:
    """Play a replay file again and raise ReplayError at the first line that does not hold.

    `seed`, 64 hex digits, opens a sealed file. Without it the play of such a file is not checked.

    `lines` are raw, each with its newline, as a file opened in binary mode gives them; whoever
    streams from strangers reads at most MAX_LINE_BYTES + 1 bytes a line. One line at a time is
    held, and what was read of each action.
    """
    reader = _Reader(seed)
    for raw in lines:
        reader.take(raw)
    return reader.finish()


class _Wrong(Exception):
    """Something about the present line is wrong; the text is the sentence."""


class _Foreign(_Wrong):
    """The first line is not that of a replay file."""


def _refuse_number(text: str) -> NoReturn:
    raise _Wrong(f"numbers are whole here, and {text[:20]} is not")


def _whole_number(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _Wrong(f"a number of {len(text)} digits is too long")
    return int(text)


_DECODER: Final = json.JSONDecoder(
    parse_int=_whole_number,
    parse_float=_refuse_number,
    parse_constant=_refuse_number,
)
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_START: Final = b'{"format":"%s",' % FORMAT.encode()
_VERSION: Final = re.compile(re.escape(_START) + rb'"version":([0-9]+),')
_HEADER_KEYS: Final = (
    "format",
    "version",
    "game",
    "rules_version",
    "seed",
    "commitment",
    "race",
    "code",
    "practice",
    "options",
    "players",
    "started",
)
_HEX: Final = re.compile("[0-9a-f]{64}")
_UTC: Final = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|\+00:00)"
)


class _Seal:
    """The running digest of a file, which closes each line with its check."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def close(self, content: Mapping[str, object]) -> bytes:
        """Write `content` in its one byte form, with check and newline, as the next line."""
        body = _ENCODER.encode(content).encode()[:-1]
        self._digest.update(body)
        end = b',"check":"%s"}\n' % self._digest.hexdigest()[:8].encode()
        self._digest.update(end)
        return body + end


def _header_fields(header: Header) -> dict[str, object]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "game": header.game,
        "rules_version": header.rules_version,
        "seed": header.seed or None,
        "commitment": header.commitment,
        "race": header.race,
        "code": header.code,
        "practice": header.is_practice,
        "options": dict(sorted(header.options.items())),
        "players": [
            {"seat": player.seat, "name": player.name, "bot": player.is_bot}
            for player in header.players
        ],
        "started": header.started,
        **({"paused_ms": header.paused_ms} if header.paused_ms else {}),
    }


def _action_fields(entry: LogEntry) -> dict[str, object]:
    what: dict[str, object] = (
        {"undo": True} if entry.action is UNDO else {"move": str(entry.action)}
    )
    return {"seat": entry.seat, "seq": entry.seq, "t_ms": entry.t_ms, **what}


class _Reader:
    """Takes a replay file line by line and plays it along."""

    def __init__(self, seed: str | None) -> None:
        self._line_number = 0
        self._seed = seed
        """What opens a sealed file."""
        self._seal = _Seal()
        self._header: Header | None = None
        self._runs: dict[int, Run] = {}
        """The run of each seat; none in a sealed file."""
        self._seqs: dict[int, int] = {}
        self._limit_ms: int | None = None
        self._actions: list[LogEntry] = []
        self._order: tuple[Standing, ...] | None = None

    def take(self, raw: bytes | str) -> None:
        """Check the next line. Raise ReplayError if anything about it is wrong."""
        self._line_number += 1
        try:
            if self._order is not None:
                raise _Wrong("nothing may follow the order, which is the last line")
            content = self._open(raw)
            if self._header is None:
                self._take_header(content)
            elif "order" in content:
                self._take_order(content)
            else:
                self._take_action(content)
        except _Foreign as error:
            raise NoReplay(self._line_number, str(error)) from error
        except (_Wrong, Unreadable) as error:
            raise ReplayError(self._line_number, str(error)) from error
        except RecursionError as error:
            raise ReplayError(self._line_number, "it is nested too deeply") from error

    def finish(self) -> Verified:
        """Give what was read. Raise ReplayError if the file ended too early."""
        if self._header is None:
            raise NoReplay(1, "the file is empty")
        if self._order is None:
            raise ReplayError(
                self._line_number + 1, "the file is cut off: its last line, the order, is missing"
            )
        header = self._header
        return Verified(
            game=header.game,
            rules_version=header.rules_version,
            seed=header.seed,
            commitment=header.commitment,
            race=header.race,
            code=header.code,
            is_practice=header.is_practice,
            options=header.options,
            players=header.players,
            started=header.started,
            paused_ms=header.paused_ms,
            actions=tuple(self._actions),
            order=self._order,
        )

    def _open(self, raw: bytes | str) -> dict[str, object]:
        """Read a line and check its form and its place in the file."""
        try:
            line = raw.encode() if isinstance(raw, str) else raw
        except UnicodeEncodeError:
            raise _Wrong("it is not UTF-8") from None
        if self._line_number == 1 and not line.startswith(_START):
            raise _Foreign("this is not a samedeal replay file")
        stated = _VERSION.match(line) if self._line_number == 1 else None
        if stated is not None and (version := stated[1].decode()) != str(VERSION):
            # Before anything else is looked at: another version may look otherwise.
            raise _Wrong(
                f"it is of format version {version[:9]}; this program knows version {VERSION},"
                " another release of samedeal may know it"
            )
        if len(line) > MAX_LINE_BYTES:
            raise _Wrong(f"it is longer than {MAX_LINE_BYTES} bytes")
        if not line.endswith(b"\n"):
            raise _Wrong("the file is cut off: this line does not end in a newline")
        try:
            content = _DECODER.decode(line.decode())
        except UnicodeDecodeError:
            raise _Wrong("it is not UTF-8") from None
        except json.JSONDecodeError as error:
            raise _Wrong(
                f"it is not one JSON object: {error.msg} at column {error.colno}"
            ) from None
        if not isinstance(content, dict) or "check" not in content:
            raise _Wrong("it is not an object with a check")
        check = content.pop("check")
        try:
            closed = self._seal.close(content)
        except UnicodeEncodeError:
            raise _Wrong("it holds half a surrogate pair, which is not a character") from None
        if line != closed:
            if line[:-11] == closed[:-11]:
                raise _Wrong(
                    f"its check should be {closed[-11:-3].decode()} and is {check}: it was altered,"
                    " or the lines before it are not all there in their order"
                )
            raise _Wrong("it is not in the one form that compact JSON has")
        return content

    def _take_header(self, content: dict[str, object]) -> None:
        paused = ("paused_ms",) if "paused_ms" in content else ()
        _expect_keys(content, (*_HEADER_KEYS, *paused))
        _number(content["version"], "version")
        played_by = _number(content["rules_version"], "rules_version")
        rules = game(_text(content["game"], "game"), played_by)
        seed, promised = "", _hex(content["commitment"], "commitment")
        if content["seed"] is not None:
            seed = _hex(content["seed"], "seed")
        elif self._seed is not None:
            seed = _hex(self._seed, "the seed handed in")
        if seed and commitment(rules, bytes.fromhex(seed)) != promised:
            raise _Wrong("the commitment was made to another deal than this seed gives")
        is_practice = _flag(content["practice"], "practice")
        options = _options(content["options"], is_practice=is_practice)
        players = _players(content["players"])
        started = _text(content["started"], "started")
        if _UTC.fullmatch(started) is None:
            raise _Wrong("started must be a time in UTC such as 2026-05-01T18:30:00Z")
        paused_ms = _number(content["paused_ms"], "paused_ms") if paused else 0
        if paused and not paused_ms:
            raise _Wrong("paused_ms is left out where it is 0")
        self._header = Header(
            game=rules.id,
            rules_version=played_by,
            seed=seed,
            commitment=promised,
            race=_text(content["race"], "race"),
            code=_text(content["code"], "code", least=0),
            is_practice=is_practice,
            options=options,
            players=players,
            started=started,
            paused_ms=paused_ms,
        )
        policy, limit_s = UndoPolicy(str(options["undo"])), options.get("time_limit_s")
        self._limit_ms = None if limit_s is None else int(limit_s) * 1000 + paused_ms
        self._seqs = {player.seat: 0 for player in players}
        if seed:
            deals = {seat: Table.deal(rules, bytes.fromhex(seed)) for seat in self._seqs}
            self._runs = {seat: Run(table, policy) for seat, table in deals.items()}

    def _take_action(self, content: dict[str, object]) -> None:
        kind = "undo" if "undo" in content else "move"
        _expect_keys(content, ("seat", "seq", "t_ms", kind))
        seat = _number(content["seat"], "seat")
        seq = _number(content["seq"], "seq")
        t_ms = _number(content["t_ms"], "t_ms")
        if len(self._actions) == MAX_ACTIONS:
            raise _Wrong(f"more than {MAX_ACTIONS} actions are too many")
        if seat not in self._seqs:
            raise _Wrong(f"nobody sits at seat {seat}")
        if seq != self._seqs[seat] + 1:
            raise _Wrong(f"the next seq of seat {seat} is {self._seqs[seat] + 1}, not {seq}")
        if self._actions:
            last = self._actions[-1]
            if (t_ms, seat, seq) < (last.t_ms, last.seat, last.seq):
                raise _Wrong("actions stand by time, then seat, and the line before is later")
        if self._limit_ms is not None and t_ms > self._limit_ms:
            raise _Wrong(f"it comes after the time limit of {self._limit_ms / 1000:g} s")
        action: Action
        try:
            if kind == "undo":
                if content["undo"] is not True:
                    raise _Wrong("undo can only be true")
                action = UNDO
            else:
                action = Move.parse(_text(content["move"], "move"))
            if seat in self._runs:
                self._runs[seat].act(action, t_ms)
        except IllegalMove as error:
            raise _Wrong(f"seat {seat} may not do this: {error.sentence}") from error
        self._seqs[seat] = seq
        self._actions.append(LogEntry(seat, seq, t_ms, action))

    def _take_order(self, content: dict[str, object]) -> None:
        _expect_keys(content, ("order",))
        if not self._runs:
            self._order = self._stated(content["order"])
            return
        order = standings(self._runs)
        played = [asdict(standing) for standing in order]
        if not _is_same(content["order"], played):
            raise _Wrong(_difference(content["order"], played))
        self._order = order

    def _stated(self, value: object) -> tuple[Standing, ...]:
        """Read the order of a sealed file: its rows, and how many actions each stands for."""
        if not isinstance(value, list):
            raise _Wrong("the order must be a list")
        rows = []
        for row in value:
            if not isinstance(row, dict) or tuple(row) != tuple(Standing.__slots__):
                raise _Wrong(f"a row of the order has the keys {', '.join(Standing.__slots__)}")
            least = {"home": -MAX_ACTIONS, "place": 1}
            numbers = {
                name: _number(number, name, least=least.get(name, 0))
                for name, number in row.items()
                if name != "won"
            }
            rows.append(Standing(won=_flag(row["won"], "won"), **numbers))
        if {row.seat: row.moves for row in rows} != self._seqs or len(rows) != len(self._seqs):
            raise _Wrong("the order must have a row for each player, with the number of its moves")
        return tuple(rows)


def _is_same(stated: object, played: object) -> bool:
    """Compare as text: to Python, True equals 1."""
    return _ENCODER.encode(stated) == _ENCODER.encode(played)


def _difference(stated: object, played: list[dict[str, object]]) -> str:
    """Say where the stated order first differs from the one that was played."""
    if not isinstance(stated, list) or len(stated) != len(played):
        return f"the order must have {counted(len(played), 'row')}, one for each player"
    for number, (row, right) in enumerate(zip(stated, played, strict=True), start=1):
        if not isinstance(row, dict) or tuple(row) != tuple(right):
            return f"row {number} of the order must have the keys {', '.join(right)}"
        for key in right:
            if not _is_same(row[key], right[key]):
                return (
                    f"row {number} of the order says {key} {_ENCODER.encode(row[key])[:MAX_TEXT]};"
                    f" played again it is {_ENCODER.encode(right[key])}"
                )
    raise AssertionError("the orders do not differ")


def _expect_keys(content: Mapping[str, object], keys: tuple[str, ...]) -> None:
    if tuple(content) != keys:
        raise _Wrong(f"it must have the keys {', '.join(keys)} and check, in this order")


def _number(value: object, name: str, *, least: int = 0) -> int:
    # Not isinstance: a bool is an int to Python.
    if type(value) is not int or value < least:
        raise _Wrong(f"{name} must be a whole number from {least}")
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise _Wrong(f"{name} must be true or false")
    return value


def _text(value: object, name: str, *, least: int = 1) -> str:
    if not isinstance(value, str) or not least <= len(value) <= MAX_TEXT:
        raise _Wrong(f"{name} must be a text of {least} to {MAX_TEXT} characters")
    return value


def _hex(value: object, name: str) -> str:
    text = _text(value, name)
    if _HEX.fullmatch(text) is None:
        raise _Wrong(f"{name} must be 64 lowercase hex digits")
    return text


def _options(value: object, *, is_practice: bool) -> dict[str, Scalar]:
    if not isinstance(value, dict) or list(value) != sorted(value):
        raise _Wrong("options must be an object with its keys sorted")
    options: dict[str, Scalar] = {}
    for name, option in value.items():
        if not isinstance(option, str | int | None):
            raise _Wrong(
                f"the option {name[:MAX_TEXT]} must be a text, a number, true, false or null"
            )
        options[name] = option
    if options.get("undo") not in list(UndoPolicy):
        raise _Wrong(f"the option undo must be one of {', '.join(UndoPolicy)}")
    if options.get("time_limit_s") is not None:
        _number(options["time_limit_s"], "the option time_limit_s", least=1)
    if _flag(options.get("ranked", False), "the option ranked"):
        if is_practice:
            raise _Wrong("a practice deal is never ranked")
        if options["undo"] == UndoPolicy.FREE:
            raise _Wrong("a race with free undo is never ranked")
    return options


def _players(value: object) -> tuple[Player, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_SEATS:
        raise _Wrong(f"players must be a list of 1 to {MAX_SEATS}")
    players: list[Player] = []
    for row in value:
        if not isinstance(row, dict):
            raise _Wrong("a player must be an object")
        if tuple(row) != ("seat", "name", "bot"):
            raise _Wrong("a player must have the keys seat, name, bot, in this order")
        seat = _number(row["seat"], "seat", least=1)
        if seat > MAX_SEATS or (players and seat <= players[-1].seat):
            raise _Wrong(f"players must stand by seat, each once, from 1 to {MAX_SEATS}")
        players.append(Player(seat, _text(row["name"], "name"), _flag(row["bot"], "bot")))
    return tuple(players)
