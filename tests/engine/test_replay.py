"""The replay file: what is written verifies, and nothing else does."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samedeal.engine.deals import commitment
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.replay import (
    MAX_ACTIONS,
    MAX_LINE_BYTES,
    Header,
    LogEntry,
    NoReplay,
    Player,
    ReplayError,
    Standing,
    compose,
    standings,
    verify,
)
from samedeal.engine.run import UNDO, Action, Run, UndoPolicy
from samedeal.engine.table import Table

SEED = "5a" * 32
WON_SEED = f"{383:064x}"
WON_BY = """
T6>F1 T4>T1 T3>T4 T4:2>T2 T5>T4 draw draw draw W>T5 T7>T5 T5:3>T7 draw draw W>T3 draw draw draw
draw T4>F3 draw T4>F4 T7:4>T4 T7>F1 T2>F1 T7>T3 draw W>T1 draw draw W>T1 T3:3>T1 draw W>T6 W>T6
draw W>F4 T3>F4 T7>F4 T5>T7 T5>T2 T6:3>T2 T7:2>T3 T7>F1 T1>F1 draw draw draw T6>T2 W>T2 draw W>T6
draw W>T4 draw W>T7 draw draw W>T5 draw W>F4 W>F3 W>F1
"""
"""A win of Single Left from WON_SEED."""
Content = dict[str, Any]  # a line of JSON as the tests edit it


def header(game_id: str = "lanes", seats: tuple[int, ...] = (1, 2, 5)) -> Header:
    return Header(
        game=game_id,
        rules_version=game(game_id).version,
        seed=SEED,
        commitment=commitment(game(game_id), bytes.fromhex(SEED)),
        race="r-7f3a",
        code="KQJT",
        is_practice=False,
        options={"undo": "safe", "time_limit_s": 600, "ranked": True, "spectating": "shape"},
        players=tuple(Player(seat, f"Zoë {seat}", seat == 5) for seat in seats),
        started="2026-05-01T18:30:00Z",
    )


def raced(head: Header, actions_each: int = 12) -> tuple[list[LogEntry], tuple[Standing, ...]]:
    """Play a race at random, the last seat not at all, preferring cards home to anything else."""
    rng = random.Random(1)
    runs: dict[int, Run] = {}
    log: list[LogEntry] = []
    for player in head.players:
        table = Table.deal(game(head.game), bytes.fromhex(head.seed))
        run = runs[player.seat] = Run(table, UndoPolicy(str(head.options["undo"])))
        if player is head.players[-1]:
            continue
        while run.seq < actions_each:
            moves = sorted(
                run.table.legal_moves, key=lambda move: (">F" not in str(move), str(move))
            )
            move = moves[0] if rng.random() < 0.5 else rng.choice(moves)
            action: Action = UNDO if run.can_undo and rng.random() < 0.2 else move
            t_ms = run.t_last_ms + rng.randrange(3000)
            if action is UNDO:
                run.undo(t_ms)
            else:
                run.play(action, t_ms)
            log.append(LogEntry(player.seat, run.seq, t_ms, action))
    return log, standings(runs)


@cache
def a_file() -> tuple[bytes, ...]:
    """Give the raw lines of a race of three."""
    head = header()
    return tuple(line.encode() for line in compose(head, *raced(head)))


def contents() -> list[Content]:
    lines: list[Content] = [json.loads(line) for line in a_file()]
    for line in lines:
        del line["check"]
    return lines


def sealed(lines: list[Content]) -> list[bytes]:
    """Close altered lines with right checks, as a careful forger would."""
    digest, raw = hashlib.sha256(), []
    for line in lines:
        body = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
        digest.update(body)
        end = b',"check":"' + digest.hexdigest()[:8].encode() + b'"}\n'
        digest.update(end)
        raw.append(body + end)
    return raw


def refusal(lines: list[bytes]) -> ReplayError:
    with pytest.raises(ReplayError) as caught:
        verify(lines)
    return caught.value


def raw_lines(raw: bytes) -> list[bytes]:
    """Split at newlines only, as a file opened in binary mode does."""
    *whole, rest = raw.split(b"\n")
    return [line + b"\n" for line in whole] + ([rest] if rest else [])


# What is written verifies


@pytest.mark.parametrize("game_id", GAMES)
def test_a_composed_file_verifies_and_gives_back_what_went_in(game_id: str) -> None:
    head = header(game_id)
    log, order = raced(head)
    verified = verify(compose(head, reversed(log), order))
    assert list(verified.actions) == sorted(log, key=lambda e: (e.t_ms, e.seat, e.seq))
    assert verified.order == order
    assert (verified.game, verified.players, verified.seed) == (game_id, head.players, SEED)
    assert (verified.options, verified.started) == (head.options, head.started)
    assert (verified.race, verified.code, verified.is_practice) == ("r-7f3a", "KQJT", False)


def test_the_checks_are_those_of_an_independent_writer() -> None:
    assert sealed(contents()) == list(a_file())


def test_lines_may_be_streamed_and_be_text_or_bytes() -> None:
    assert verify(iter(a_file())) == verify(line.decode() for line in a_file())


def test_a_player_who_never_moved_stands_last() -> None:
    assert verify(a_file()).order[-1].seat == 5


# Nothing else verifies


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_an_altered_byte_is_found_in_its_line(data: st.DataObject) -> None:
    raw = bytearray(b"".join(a_file()))
    index = data.draw(st.integers(0, len(raw) - 1))
    raw[index] ^= data.draw(st.integers(1, 255))
    assert refusal(raw_lines(bytes(raw))).line_number == line_of(index)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_removed_byte_is_found_in_its_line(data: st.DataObject) -> None:
    raw = bytearray(b"".join(a_file()))
    index = data.draw(st.integers(0, len(raw) - 1))
    del raw[index]
    assert refusal(raw_lines(bytes(raw))).line_number == line_of(index)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_an_added_byte_is_found_in_its_line(data: st.DataObject) -> None:
    raw = bytearray(b"".join(a_file()))
    index = data.draw(st.integers(0, len(raw)))
    byte = data.draw(st.integers(0, 255))
    if raw[index : index + 1] == b"\n" == bytes([byte]):
        # A second newline is the same before the first and after it: an empty line follows.
        index += 1
    raw.insert(index, byte)
    assert refusal(raw_lines(bytes(raw))).line_number == line_of(index)


def line_of(index: int) -> int:
    """Number the line of the file that holds the byte at `index`."""
    return b"".join(a_file())[:index].count(b"\n") + 1


def test_a_left_out_line_is_found_where_it_was() -> None:
    for index in range(len(a_file())):
        lines = list(a_file())
        del lines[index]
        assert refusal(lines).line_number == index + 1


def test_a_doubled_line_is_found_where_it_comes_again() -> None:
    for index in range(len(a_file())):
        lines = list(a_file())
        lines.insert(index, lines[index])
        assert refusal(lines).line_number == index + 2


def test_exchanged_lines_are_found_at_the_first() -> None:
    for index in range(len(a_file()) - 1):
        lines = list(a_file())
        lines[index], lines[index + 1] = lines[index + 1], lines[index]
        assert refusal(lines).line_number == index + 1


def test_a_file_cut_off_anywhere_is_refused() -> None:
    raw = b"".join(a_file())
    for length in range(0, len(raw), 7):
        assert refusal(raw_lines(raw[:length])).line_number == line_of(length)


# A careful forger, whose checks are right


def edit(index: int, **values: object) -> Callable[[list[Content]], None]:
    """Set keys of a line; the value of a key already there keeps its place."""

    def apply(lines: list[Content]) -> None:
        lines[index].update(values)

    return apply


def options(**values: object) -> Callable[[list[Content]], None]:
    def apply(lines: list[Content]) -> None:
        lines[0]["options"] = dict(sorted({**lines[0]["options"], **values}.items()))

    return apply


def players(*seats: object) -> Callable[[list[Content]], None]:
    return edit(0, players=[{"seat": seat, "name": "Ann", "bot": False} for seat in seats])


OTHER_SEED = "5b" * 32

FORGED_HEADERS: dict[str, tuple[Callable[[list[Content]], None], str]] = {
    "another format version": (
        edit(0, version=2),
        "of format version 2; this program",
    ),
    "a flag for the version": (edit(0, version=True), "version must be a whole number"),
    "an unknown game": (edit(0, game="chess"), "chess"),
    "another game": (edit(0, game="single-left"), "commitment"),
    "other rules": (edit(0, rules_version=99), "version 99 of the rules of lanes"),
    "an upper case seed": (edit(0, seed="5A" * 32), "64 lowercase hex digits"),
    "a short seed": (edit(0, seed="5a" * 31), "64 lowercase hex digits"),
    "another seed": (edit(0, seed=OTHER_SEED), "commitment was made to another deal"),
    "another commitment": (edit(0, commitment="00" * 32), "commitment was made to another deal"),
    "no race": (edit(0, race=""), "race must be a text"),
    "a number for the code": (edit(0, code=7), "code must be a text"),
    "a number for practice": (edit(0, practice=1), "practice must be true or false"),
    "a ranked practice deal": (edit(0, practice=True), "practice deal is never ranked"),
    "a ranked race with free undo": (options(undo="free"), "free undo is never ranked"),
    "an unknown undo policy": (options(undo="twice"), "undo must be one of safe, none, free"),
    "a number for the undo policy": (options(undo=0), "undo must be one of safe, none, free"),
    "no undo policy": (edit(0, options={}), "undo must be one of safe, none, free"),
    "no time at all": (options(time_limit_s=0), "time_limit_s must be a whole number from 1"),
    "a text for the time limit": (options(time_limit_s="600"), "time_limit_s must be a whole"),
    "a number for ranked": (options(ranked=1), "ranked must be true or false"),
    "a list as an option": (options(seats=[2]), "the option seats must be"),
    "unsorted options": (edit(0, options={"undo": "safe", "ranked": True}), "keys sorted"),
    "nobody": (players(), "players must be a list of 1 to 8"),
    "nine players": (players(*range(1, 10)), "players must be a list of 1 to 8"),
    "a seat twice": (players(1, 1), "players must stand by seat, each once"),
    "seats out of order": (players(2, 1), "players must stand by seat"),
    "seat 0": (players(0), "seat must be a whole number from 1"),
    "seat 9": (players(9), "from 1 to 8"),
    "a flag for a seat": (players(True), "seat must be a whole number"),
    "a player with less": (edit(0, players=[{"seat": 1}]), "a player must have the keys"),
    "a local time": (edit(0, started="2026-05-01T18:30:00"), "started must be a time in UTC"),
    "a pause of nothing": (edit(0, paused_ms=0), "paused_ms is left out where it is 0"),
    "a text for the pause": (edit(0, paused_ms="1"), "paused_ms must be a whole number"),
    "another key": (edit(0, winner=1), "it must have the keys format, version"),
}


@pytest.mark.parametrize(("forge", "sentence"), FORGED_HEADERS.values(), ids=FORGED_HEADERS)
def test_a_forged_header_is_refused(forge: Callable[[list[Content]], None], sentence: str) -> None:
    lines = contents()
    forge(lines)
    error = refusal(sealed(lines))
    assert error.line_number == 1
    assert sentence in error.sentence


FORGED_ACTIONS: dict[str, tuple[dict[str, object], str]] = {
    "an empty seat": ({"seat": 3}, "nobody sits at seat 3"),
    "a flag for the seat": ({"seat": True}, "seat must be a whole number"),
    "a gap": ({"seq": 2}, "the next seq of seat 1 is 1, not 2"),
    "seq 0": ({"seq": 0}, "the next seq of seat 1 is 1, not 0"),
    "a flag for the seq": ({"seq": True}, "seq must be a whole number"),
    "a text for the time": ({"t_ms": "12"}, "t_ms must be a whole number"),
    "a time before GO": ({"t_ms": -1}, "t_ms must be a whole number from 0"),
    "a time after the limit": ({"t_ms": 600_001}, "after the time limit of 600 s"),
    "a fraction": ({"t_ms": 12.5}, "numbers are whole here, and 12.5 is not"),
    "not a number": ({"t_ms": float("nan")}, "NaN"),
    "infinity": ({"t_ms": float("inf")}, "Infinity"),
    "a huge number": ({"t_ms": 10**400}, "a number of 401 digits is too long"),
    "a number for the move": ({"move": 5}, "move must be a text"),
    "no move": ({"move": ""}, "move must be a text"),
    "another form of the move": ({"move": "T1:1>T2"}, ""),
    "an unknown move": ({"move": "T1>>T2"}, ""),
    "an illegal move": ({"move": "W>T1"}, "seat 1 may not do this"),
    "a move and an undo": ({"undo": True}, "it must have the keys seat, seq, t_ms, undo and check"),
    "another key": ({"by": "Ann"}, "it must have the keys seat, seq, t_ms, move and check"),
}


@pytest.mark.parametrize(("values", "sentence"), FORGED_ACTIONS.values(), ids=FORGED_ACTIONS)
def test_a_forged_action_is_refused(values: dict[str, object], sentence: str) -> None:
    lines = [contents()[0], {"seat": 1, "seq": 1, "t_ms": 10, "move": "draw"}]
    lines[1].update(values)
    error = refusal(sealed(lines))
    assert error.line_number == 2
    assert sentence in error.sentence


def refused_at(*actions: Content) -> tuple[int, str]:
    error = refusal(sealed([contents()[0], *actions]))
    return error.line_number, error.sentence


def draw(seat: int, seq: int, t_ms: int) -> Content:
    return {"seat": seat, "seq": seq, "t_ms": t_ms, "move": "draw"}


def undo(seat: int, seq: int, t_ms: int, value: object = True) -> Content:
    return {"seat": seat, "seq": seq, "t_ms": t_ms, "undo": value}


def test_an_undo_that_the_policy_forbids_is_refused() -> None:
    line, sentence = refused_at(draw(1, 1, 5), undo(1, 2, 6))
    assert line == 3
    assert "seat 1 may not do this" in sentence


def test_an_undo_can_only_be_true() -> None:
    assert refused_at(undo(1, 1, 5, value=1)) == (2, "undo can only be true")


def test_a_time_that_runs_backwards_is_refused() -> None:
    line, sentence = refused_at(draw(1, 1, 5), draw(1, 2, 4))
    assert (line, "the line before is later" in sentence) == (3, True)


def test_at_the_same_time_the_lower_seat_stands_first() -> None:
    line, sentence = refused_at(draw(2, 1, 5), draw(1, 1, 5))
    assert (line, "the line before is later" in sentence) == (3, True)


def test_an_action_at_the_time_limit_still_counts() -> None:
    line, sentence = refused_at(draw(1, 1, 600_000))
    assert (line, "order, is missing" in sentence) == (3, True)


def test_p35_an_outage_is_in_the_file_and_lengthens_the_time_limit() -> None:
    head = replace(header(), paused_ms=20_500)
    lines = compose(head, *raced(head))
    assert '"started":"2026-05-01T18:30:00Z","paused_ms":20500,' in lines[0]
    assert verify(lines).paused_ms == 20_500
    assert "paused_ms" not in compose(header(), *raced(header()))[0]
    for t_ms, is_in_time in ((620_500, True), (620_501, False)):
        entry = LogEntry(1, 1, t_ms, DRAW)
        with pytest.raises(ReplayError, match="the order" if is_in_time else "time limit of 620.5"):
            verify(compose(head, [entry], []))


def test_play_of_another_seed_with_its_right_commitment_is_refused() -> None:
    lines = contents()
    right = commitment(game("lanes"), bytes.fromhex(OTHER_SEED))
    lines[0].update(seed=OTHER_SEED, commitment=right)
    assert refusal(sealed(lines)).line_number > 1


def test_every_number_of_the_order_is_played_again() -> None:
    for row, right in enumerate(contents()[-1]["order"]):
        for key in right:
            lines = contents()
            standing = lines[-1]["order"][row]
            standing[key] = not standing[key] if key == "won" else standing[key] + 1
            error = refusal(sealed(lines))
            assert error.line_number == len(lines)
            assert f"row {row + 1} of the order says {key}" in error.sentence


def test_a_flag_is_not_a_place() -> None:
    lines = contents()
    lines[-1]["order"][0]["place"] = True
    assert "says place true; played again it is 1" in refusal(sealed(lines)).sentence


def test_an_order_with_its_rows_exchanged_is_refused() -> None:
    lines = contents()
    lines[-1]["order"].reverse()
    assert "row 1 of the order says" in refusal(sealed(lines)).sentence


def test_an_order_without_a_player_is_refused() -> None:
    lines = contents()
    lines[-1]["order"].pop()
    assert "must have 3 rows" in refusal(sealed(lines)).sentence


def test_an_order_that_is_no_list_of_rows_is_refused() -> None:
    shapes: list[object] = [7, {}, None, [1, 2, 3], [{}, {}, {}]]
    for order in shapes:
        lines = contents()
        lines[-1]["order"] = order
        assert refusal(sealed(lines)).line_number == len(lines)


def test_nothing_may_follow_the_order() -> None:
    for more in (b"\n", b"{}\n", a_file()[1], a_file()[-1]):
        error = refusal([*a_file(), more])
        assert error.line_number == len(a_file()) + 1
        assert "nothing may follow the order" in error.sentence


def won_race() -> list[Content]:
    """Give the contents of a race of one who wins."""
    raw = bytes.fromhex(WON_SEED)
    head = replace(
        header("single-left", seats=(1,)),
        seed=WON_SEED,
        commitment=commitment(game("single-left"), raw),
    )
    run = Run(Table.deal(game("single-left"), raw), UndoPolicy.SAFE)
    log = []
    for seq, text in enumerate(WON_BY.split(), start=1):
        run.play(Move.parse(text), 900 * seq)
        log.append(LogEntry(1, seq, 900 * seq, Move.parse(text)))
    lines: list[Content] = [json.loads(line) for line in compose(head, log, standings({1: run}))]
    for line in lines:
        del line["check"]
    return lines


def test_a_win_is_verified_with_its_time() -> None:
    (winner,) = verify(sealed(won_race())).order
    assert (winner.won, winner.home, winner.t_ms) == (True, 52, 900 * len(WON_BY.split()))


def test_nothing_is_accepted_from_a_seat_after_its_win() -> None:
    lines = won_race()
    last = lines[-2]
    lines.insert(-1, {"seat": 1, "seq": last["seq"] + 1, "t_ms": last["t_ms"], "move": "draw"})
    error = refusal(sealed(lines))
    assert error.line_number == len(lines) - 1
    assert error.sentence == "seat 1 may not do this: the run is over"


# Files from elsewhere


@pytest.mark.parametrize(
    "lines",
    [
        [b"\xef\xbb\xbf" + b'{"format":"samedeal-replay","version":1}\n'],
        ['{"format":"samedeal-replay","version":1}\n'.encode("utf-16")],
        [b"\x1f\x8b\x08\x00\x00"],
        [b"[]\n"],
        [b"\n"],
        [b""],
        [b'{"format":"other","version":1}\n'],
        [b' {"format":"samedeal-replay","version":1}\n'],
        [b"[" * 100_000],
        ["\ud800"],
    ],
    ids=repr,
)
def test_a_foreign_file_is_called_so(lines: list[bytes]) -> None:
    error = refusal(lines)
    assert error.line_number == 1
    assert isinstance(error, NoReplay) == (error.sentence != "it is not UTF-8")
    assert error.sentence in ("this is not a samedeal replay file", "it is not UTF-8")


def test_an_empty_file_is_called_so() -> None:
    error = refusal([])
    assert isinstance(error, NoReplay)
    assert str(error) == "line 1: the file is empty"


HOSTILE_LINES = {
    "too long": (b'{"seat":"' + b"x" * MAX_LINE_BYTES + b'"}\n', "longer than 65536 bytes"),
    "cut off": (b'{"seat":1,"check":"00000000"}', "does not end in a newline"),
    "nested": (b'{"a":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n", "nested too deeply"),
    "nested objects": (b'{"a":' * 9_000 + b"1" + b"}" * 9_000 + b"\n", "nested too deeply"),
    "a key twice": (b'{"seat":1,"seat":1,"check":"00000000"}\n', "not in the one form"),
    "a huge number": (b'{"seat":' + b"9" * 60_000 + b"}\n", "60000 digits is too long"),
    "a huge power": (b'{"seat":1e999999999}\n', "1e999999999 is not"),
    "minus infinity": (b'{"seat":-Infinity}\n', "-Infinity is not"),
    "not UTF-8": (b'{"seat":"\xff"}\n', "not UTF-8"),
    "half a pair": (b'{"seat":"\\ud800","check":"00000000"}\n', "half a surrogate pair"),
    "a list": (b"[1]\n", "not an object with a check"),
    "no check": (b'{"seat":1}\n', "not an object with a check"),
    "a number for the check": (b'{"seat":1,"check":0}\n', "not in the one form"),
    "another check": (b'{"seat":1,"check":"00000000"}\n', "its check should be"),
    "nothing": (b"\n", "not one JSON object"),
    "a zero byte": (b"\x00\n", "not one JSON object"),
}


@pytest.mark.parametrize(("line", "sentence"), HOSTILE_LINES.values(), ids=HOSTILE_LINES)
def test_a_hostile_line_is_refused_by_its_number(line: bytes, sentence: str) -> None:
    error = refusal([a_file()[0], line])
    assert error.line_number == 2
    assert sentence in error.sentence


def to_the_end(line: Content, key: str) -> None:
    line[key] = line.pop(key)


def test_keys_in_another_order_are_refused() -> None:
    header_line, action_line, order_line = contents(), contents(), contents()
    to_the_end(header_line[0], "race")
    to_the_end(action_line[1], "seat")
    to_the_end(order_line[-1]["order"][0], "seat")
    for lines in (header_line, action_line, order_line):
        assert "the keys" in refusal(sealed(lines)).sentence


@pytest.mark.parametrize(
    "reform",
    [
        lambda line: line.replace(b",", b", ", 1),
        lambda line: line.replace(b"}\n", b"} \n"),
        lambda line: line.replace(b"\n", b"\r\n"),
        lambda line: b" " + line,
        lambda line: line.replace(b'"seat"', b'"\\u0073eat"'),
    ],
    ids=["a space", "a trailing space", "a carriage return", "an indent", "an escape"],
)
def test_the_same_content_in_another_form_is_refused(reform: Callable[[bytes], bytes]) -> None:
    lines = list(a_file())
    lines[1] = reform(lines[1])
    assert lines[1] != a_file()[1]
    assert refusal(lines).line_number == 2


def test_more_actions_than_any_race_has_are_refused() -> None:
    head = replace(header("sally", seats=(1,)), options={"undo": "none"})
    endless = [draw(1, seq, seq) for seq in range(1, MAX_ACTIONS + 2)]
    whole = [json.loads(compose(head, [], [])[0]), *endless]
    del whole[0]["check"]
    error = refusal(sealed(whole))
    assert error.line_number == MAX_ACTIONS + 2
    assert "too many" in error.sentence
