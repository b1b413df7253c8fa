"""Promise 2 over whole traffic: what anyone is sent does not depend on cards that lie hidden.

Two deals agree in every card that a play of them turns up and differ in every other. The same play,
with illegal moves, undos, broken frames and comings and goings, must give the same bytes on both.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from node import Player, Trio, node
from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import GAMES
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.run import Run, UndoPolicy, parse_action
from samedeal.engine.table import Table
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import pack, unpack
from samedeal.protocol.days import DAILY_GAMES
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Spectating, Status
from samedeal_server.deals import deal
from samedeal_server.desk import RaceDesk
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from support import eventually

STEPS = 34
CASES = [(game, policy) for game in GAMES for policy in UndoPolicy]
LEVELS = (Spectating.BOARDS, Spectating.SHAPE, Spectating.COUNTS)
SHOWN = {case: LEVELS[(at + at // 3) % 3] for at, case in enumerate(CASES)}
"""What watchers may see; every game and every undo policy meets each."""
BLIND = [case for case in CASES if SHOWN[case] is not Spectating.BOARDS]
SUITED, SUITS = re.compile(r"\b([A2-9TJQK])([CDHS])"), dict(zip("CDHS", "SHDC", strict=True))


# Two deals and a play of both


@dataclass(slots=True)
class Play:
    """What two players do with a deal, and how much of it that shows."""

    deal: str
    twin: str = ""
    """The same deal with other cards wherever the play shows none."""
    steps: list[tuple[int, str, str]] = field(default_factory=list)
    """(seat, kind, action)."""
    hidden: dict[str, int] = field(default_factory=dict)
    """Cards at the bottom of stock and columns that nobody ever sees, per pile."""

    @property
    def recoloured(self) -> str:
        """The twin with other suits: clubs and spades, diamonds and hearts have changed places.

        Every game here takes the same play on it.
        """
        return SUITED.sub(lambda card: card[1] + SUITS[card[2]], self.twin)


def random_play(game: str, policy: UndoPolicy, rng: random.Random) -> Play:
    """Moves, draws, undos and what is refused, by two players, as they come."""
    table = Table.deal(GAMES[game], rng.randbytes(32))
    play = Play(str(table))
    play.hidden = {name: table.face_down(name) for name, _ in table.rules.piles}
    runs = {seat: Run(Table.parse(table.rules, play.deal), policy) for seat in (1, 2)}
    names = [name for name, _ in table.rules.piles]
    while len(play.steps) < STEPS:
        seat, lot = rng.choice((1, 1, 2)), rng.random()
        run = runs[seat]
        moves = list(run.table.legal_moves)
        # Draws are legal most of the time; without a word against it nothing else would happen.
        others = [move for move in moves if move != DRAW]
        if lot < 0.15 and run.can_undo:
            action = "undo"
        elif lot < 0.8 and moves and not run.is_won:
            action = str(rng.choice(others if others and lot < 0.5 else moves))
        elif lot < 0.85:
            play.steps.append((seat, rng.choice(("hostile", "gap", "again", "resume")), ""))
            continue
        else:
            count = rng.choice((1, 1, 2, 3))
            action = str(Move(rng.choice(names), rng.choice(names), count))
            if lot > 0.97:
                action = "undo"
        try:
            run.act(parse_action(action), 0)
        except IllegalMove:
            play.steps.append((seat, "refused", action))
        else:
            play.steps.append((seat, "played", action))
            if run.is_known_stuck:
                # The notice comes with the next look, so its place among the frames is chance.
                return random_play(game, policy, rng)
        for name in play.hidden:
            play.hidden[name] = min(play.hidden[name], run.table.face_down(name))
        if any(step.move == DRAW and not step.reveals for step in run.table.history):
            play.hidden["S"] = 0
    play.twin = with_other_cards(play.deal, play.hidden)
    return play


def with_other_cards(position: str, hidden: dict[str, int]) -> str:
    """The position with another card in each hidden place: they change places among each other."""
    piles = dict(part.split("=") for part in position.split("; "))
    cards = {name: text.split(",") for name, text in piles.items() if name[0] in "SWFTR"}
    places = [(name, at) for name, count in hidden.items() for at in range(count)]
    places.sort(key=lambda place: cards[place[0]][place[1]].rstrip("-"))
    held = [cards[name][at].rstrip("-") for name, at in places]
    # In sorted order equal cards lie side by side, so half way round lies another one.
    half = len(held) // 2
    for (name, at), card in zip(places, held[half:] + held[:half], strict=True):
        cards[name][at] = card + ("-" if name != "S" else "")
    piles.update((name, ",".join(texts)) for name, texts in cards.items())
    return "; ".join(f"{name}={text}" for name, text in piles.items())


# The play on a node, recorded


@dataclass(slots=True)
class Recording:
    """Everything that was sent while a play went on."""

    seed: str
    sent: dict[str, list[bytes]]
    """The frames of each connection, by who it was."""


async def recorded(
    store_url: str, case: tuple[str, UndoPolicy], cards: str, play: Play
) -> Recording:
    """Play on a node that deals these cards, whatever the seed, and have someone watch."""
    game, policy = case

    def dealt(game_id: str, _seed: bytes) -> Table:
        return Table.parse(GAMES[game_id], cards)

    async with node(store_url, "n1", deal=dealt) as desk:
        options = {"undo": policy.value, "spectating": SHOWN[case].value}
        table = Trio(desk, game, tag=f"-{next(TAGS)}", **options)
        await table.sit()
        eye = await watcher(desk, table.race)
        for step in play.steps:
            await table.do(*step)
            if step[1] == "played":
                await eventually(partial(has_seen, eye, step[0], table.seq[step[0]]))
        refused = await table.seats[3].get(say.Refused, ask.ReplayGet, race=table.race)
        assert refused.code is ErrorCode.WRONG_PHASE
        await table.seats[1].get(say.Done, ask.Bank, race=table.race)
        await eventually(partial(has_seen_the_end_of_seat_1, eye))
        await table.resume(1)
        state = await desk.races.load(table.race)
        assert state is not None
        assert state.phase is Phase.RUNNING
        sent = {f"{n}": player.frames for n, player in enumerate(table.everyone)}
        sent["eye"] = eye.frames
        recording = Recording(state.seed.hex(), sent)
        # Out of the way of the sweep of others.
        await desk.races.unschedule(table.race)
    return recording


async def watcher(desk: RaceDesk, race: str) -> Player:
    """Someone who watches, and has been told that nobody else does."""
    eye = Player(desk)
    await eye.get(say.Welcome, ask.Hello, name=f"kim-{next(TAGS)}")
    await eye.get(say.Watching, ask.Watch, race=race)
    await eventually(
        lambda: any(isinstance(m, say.Watching) and m.race.crowd == 1 for m in eye.said()), 20
    )
    return eye


def has_seen(eye: Player, seat: int, moves: int) -> bool:
    rows = [row for m in eye.said() if isinstance(m, say.Watched) for row in m.players]
    return any((row.seat, row.moves) == (seat, moves) for row in rows)


def has_seen_the_end_of_seat_1(eye: Player) -> bool:
    return any(
        isinstance(m, say.Watching) and m.race.players[0].status is Status.BANKED
        for m in eye.said()
    )


MASKED = {"player": "p" * 16, "token": "t", "commitment": "c" * 64, "t_ms": 0, "clock_ms": 0}
TAGS = itertools.count(100_000)
RACE_ID, CODE = re.compile(r"[0-9a-z]{16}"), re.compile(r"[2-9A-HJ-NP-Z]{5}")


def masked(value: Any, key: str = "") -> Any:
    """What differs from race to race by chance or by the clock, made the same."""
    if isinstance(value, dict):
        return {name: masked(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [masked(part) for part in value]
    if key in MASKED:
        return MASKED[key]
    if key in ("race", "id") and isinstance(value, str):
        return RACE_ID.sub("r" * 16, value)
    if key == "name":
        return re.sub(r"-\d{6}$", "", value)
    if key == "code" and CODE.fullmatch(value):
        return "AAAAA"
    return value


def comparable(frame: bytes) -> bytes:
    """A frame as bytes that may be compared; it says nothing but what its fields do."""
    fields = unpack(frame)
    assert pack(fields) == frame
    return pack(masked(fields))


@dataclass(slots=True)
class Traffic:
    """Every play on its deal and on the twin of it, and what the server logged meanwhile."""

    plays: dict[tuple[str, UndoPolicy], Play]
    pairs: dict[tuple[str, UndoPolicy], tuple[Recording, Recording]]
    recoloured: dict[tuple[str, UndoPolicy], Recording]
    """The same plays on other suits, where watchers see no card."""
    log: str


@contextmanager
def everything_logged() -> Iterator[list[str]]:
    """Have every logger of the process say all it can."""
    lines: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record) + repr(record.args))

    root, keeper = logging.getLogger(), Keeper(logging.NOTSET)
    level = root.level
    root.setLevel(logging.NOTSET)
    root.addHandler(keeper)
    try:
        yield lines
    finally:
        root.removeHandler(keeper)
        root.setLevel(level)


@pytest.fixture(scope="module")
async def traffic(valkey_url: str) -> Traffic:
    """All games under all undo policies, at the same time: each waits for the next tick."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    plays = {case: random_play(*case, rng) for case in CASES}
    with everything_logged() as lines:
        recordings = await asyncio.gather(
            *(
                recorded(valkey_url, case, deal, play)
                for case, play in plays.items()
                for deal in (play.deal, play.twin)
            ),
            *(recorded(valkey_url, case, plays[case].recoloured, plays[case]) for case in BLIND),
        )
    pairs = {case: (recordings[2 * at], recordings[2 * at + 1]) for at, case in enumerate(plays)}
    recoloured = dict(zip(BLIND, recordings[2 * len(plays) :], strict=True))
    return Traffic(plays, pairs, recoloured, "\n".join(lines))


IDS = [f"{game}-{policy}" for game, policy in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_p29_two_deals_that_differ_in_hidden_cards_give_the_same_bytes(
    traffic: Traffic, case: tuple[str, UndoPolicy]
) -> None:
    play, (one, two) = traffic.plays[case], traffic.pairs[case]
    rules = GAMES[case[0]]
    assert Table.parse(rules, play.deal).piles() == Table.parse(rules, play.twin).piles()
    different = sum(a != b for a, b in zip(play.deal, play.twin, strict=True))
    assert different >= sum(play.hidden.values()) > 0
    assert one.sent.keys() == two.sent.keys()
    for who, frames in one.sent.items():
        for at, (frame, other) in enumerate(zip(frames, two.sent[who], strict=False)):
            assert comparable(frame) == comparable(other), (who, at, unpack(frame), unpack(other))
        assert len(frames) == len(two.sent[who])


@pytest.mark.parametrize("case", BLIND, ids=[f"{game}-{policy}" for game, policy in BLIND])
def test_p29_watchers_of_shapes_and_counts_are_told_nothing_of_ranks_and_suits(
    traffic: Traffic, case: tuple[str, UndoPolicy]
) -> None:
    """Every card is another one, those that players see too; who watches gets the same bytes."""
    frames = traffic.pairs[case][0].sent["eye"]
    others = traffic.recoloured[case].sent["eye"]
    assert [comparable(frame) for frame in frames] == [comparable(frame) for frame in others]
    assert traffic.pairs[case][0].sent["0"] != traffic.recoloured[case].sent["0"]
    heights = [b for f in map(unpack, frames) for b in f.get("boards", ()) if "heights" in b]
    assert bool(heights) is (SHOWN[case] is Spectating.SHAPE)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_p27_the_seed_is_in_no_frame_before_the_close(
    traffic: Traffic, case: tuple[str, UndoPolicy]
) -> None:
    for recording in traffic.pairs[case]:
        for frames in recording.sent.values():
            for frame in frames:
                assert recording.seed.encode() not in frame
                assert bytes.fromhex(recording.seed) not in frame


def test_seeds_and_deals_are_in_no_line_of_the_log(traffic: Traffic) -> None:
    # That it was listening, and that it would have found one.
    assert "SENTINEL" not in traffic.log
    with everything_logged() as lines:
        logging.getLogger("samedeal_server.rooms").debug("SENTINEL %s", "arg")
    assert len(lines) == 1
    for case, pair in traffic.pairs.items():
        for recording in pair:
            assert recording.seed not in traffic.log
            assert repr(bytes.fromhex(recording.seed)) not in traffic.log
        for cards in (traffic.plays[case].deal, traffic.plays[case].twin):
            assert cards.rpartition("S=")[2] not in traffic.log


def test_every_kind_of_frame_was_compared(traffic: Traffic) -> None:
    kinds = {
        unpack(frame)["type"]
        for pair in traffic.pairs.values()
        for frames in pair[0].sent.values()
        for frame in frames
    }
    assert kinds >= {
        "welcome", "seated", "done", "room", "go", "ack", "refused", "progress", "taken_over",
        "watching", "watched",
    }  # fmt: skip
    assert "notice" not in kinds
    codes = {
        fields["code"]
        for pair in traffic.pairs.values()
        for frames in pair[0].sent.values()
        for frame in frames
        if (fields := unpack(frame))["type"] == "refused"
    }
    assert codes >= {"bad_frame", "illegal_move", "seq_gap", "wrong_phase"}


# Stuck looks into the hidden stock; what is said of it must not

STUCK = "T1=AC-,9H; T2=9D; T3=AH; S=4D"
OPEN = "T1=4D-,9H; T2=9D; T3=AH; S=AC"


async def home_and_stuck(store_url: str, deal: str) -> tuple[Recording, bool]:
    """Play the ace home: after it the first deal has no progress left, the second has."""
    steps = [(1, "played", "T3>F1"), (1, "refused", "T2>T1"), (2, "played", "T3>F1")]
    async with node(store_url, "n1", deal=lambda game, _: Table.parse(GAMES[game], deal)) as desk:
        trio = Trio(desk, "klondike", tag=f"-{next(TAGS)}", undo="none")
        await trio.sit()
        for step in steps:
            await trio.do(*step)
        redis = StoreAddress.parse(store_url).client()

        async def is_marked() -> bool:
            return await redis.hget(keys.seat(trio.race, 2), "stuck") == "1"

        if deal == STUCK:
            await eventually(is_marked)
        marked = await is_marked()
        await redis.aclose()
        await trio.resume(1)
        sent = {f"{n}": player.frames for n, player in enumerate(trio.everyone)}
        return Recording("", sent), marked


async def test_p29_what_only_the_server_knows_to_be_stuck_is_told_to_nobody(
    valkey_url: str,
) -> None:
    stuck, is_marked = await home_and_stuck(valkey_url, STUCK)
    free, is_free_marked = await home_and_stuck(valkey_url, OPEN)
    assert (is_marked, is_free_marked) == (True, False)
    for who, frames in stuck.sent.items():
        assert [comparable(f) for f in frames] == [comparable(f) for f in free.sent[who]]


async def test_a_fault_of_the_server_names_neither_seed_nor_card(valkey_url: str) -> None:
    with everything_logged() as lines:
        async with node(valkey_url, "n1") as desk:
            trio = Trio(desk, "sally", tag=f"-{next(TAGS)}")
            await trio.sit()
            state = await desk.races.load(trio.race)
            assert state is not None
            redis = StoreAddress.parse(valkey_url).client()
            await redis.hset(keys.race(trio.race), "round", "damaged")
            fields: dict[str, Any] = {"race": trio.race, "options": {}}
            refused = await trio.seats[1].get(say.Refused, ask.SetOptions, **fields)
            await redis.hset(keys.race(trio.race), "round", "1")
            await redis.aclose()
    assert refused.code is ErrorCode.INTERNAL
    log = "\n".join(lines)
    assert "damaged" in log
    for text in (state.seed.hex(), repr(state.seed), str(deal(state.game, state.seed))[-60:]):
        assert text not in log + refused.sentence + repr(state)


async def a_day(store_url: str, game: str, deal: str, steps: list[tuple[int, str, str]]) -> Player:
    """Play the daily of a game, on these cards, to its end. Return who did."""
    async with node(store_url, "n1", deal=lambda game, _: Table.parse(GAMES[game], deal)) as desk:
        player = Player(desk)
        name = f"ada-{next(TAGS)}"
        token = (await player.get(say.Welcome, ask.Hello, name=name)).token
        race = (await player.get(say.Seated, ask.DailyPlay, game=game)).race.id
        seq = 0
        for _, kind, action in steps:
            if kind == "resume":
                other = Player(desk)
                await other.get(say.Welcome, ask.Hello, token=token)
                await other.get(say.Seated, ask.Resume, race=race, have=seq // 2)
                player.frames += other.frames
                other.frames = player.frames
                player = other
            if kind not in ("played", "refused"):
                continue
            undo = action == "undo"
            fields = {} if undo else {"move": action}
            answer = await player.ask(
                ask.PlayUndo if undo else ask.PlayMove, race=race, seq=seq + 1, **fields
            )
            assert isinstance(answer, say.Ack) is (kind == "played"), answer
            seq += kind == "played"
        await eventually(partial(has_progressed, player, seq))
        await player.get(say.Done, ask.Bank, race=race)
        await eventually(lambda: any(isinstance(m, say.Closed) for m in player.said()))
    return player


def has_progressed(player: Player, moves: int) -> bool:
    said = [m for m in player.said() if isinstance(m, say.Progress)]
    return any(view.moves == moves for m in said for view in m.players)


def of_a_day(frames: list[bytes]) -> list[bytes]:
    """Frames that may be compared: progress is told when it is time, so only the last of it."""
    told = [fields for fields in map(unpack, frames) if fields["type"] != "progress"]
    told += [fields for fields in map(unpack, frames) if fields["type"] == "progress"][-1:]
    for fields in told:
        if isinstance(fields.get("race"), dict):
            # The run began a moment later, and its day ends at the same time.
            fields["race"]["deadline_ms"] = 0
    return [comparable(pack(fields)) for fields in told]


@pytest.mark.parametrize("game", DAILY_GAMES)
async def test_p29_a_day_of_two_deals_that_differ_in_hidden_cards_gives_the_same_bytes(
    valkey_url: str, game: str
) -> None:
    play = random_play(game, UndoPolicy.SAFE, random.Random(f"day of {game}"))
    steps = [step for step in play.steps if step[0] == 1]
    assert sum(kind == "played" for _, kind, _ in steps) > 5
    sent = []
    for cards in (play.deal, play.twin):
        player = await a_day(valkey_url, game, cards, steps)
        sent.append(of_a_day(player.frames))
    assert play.deal != play.twin
    assert sent[0] == sent[1]
