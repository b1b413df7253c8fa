"""The bytes of every message: golden.txt holds one full frame per class, as name and hex."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from samedeal.engine.run import UndoPolicy
from samedeal.protocol import client_messages as ask
from samedeal.protocol import daily_messages as daily
from samedeal.protocol import server_messages as say
from samedeal.protocol.board_messages import BoardKind, Period
from samedeal.protocol.codec import decode_client, decode_server, encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import (
    BoardView,
    DayTag,
    DealLabel,
    OptionsPatch,
    OrderRow,
    Phase,
    Phrase,
    PlayerView,
    RaceOptions,
    RaceView,
    Spectating,
    Status,
)
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal.protocol.match_messages import MatchState
from samedeal.protocol.watch_messages import LiveRace, WatchedBoard

GOLDEN = dict(
    line.split() for line in Path(__file__).with_name("golden.txt").read_text().splitlines()
)
ASKED: tuple[type[BaseModel], ...] = get_args(ask.ClientMessage)
SAID: tuple[type[BaseModel], ...] = get_args(say.ServerMessage)

RACE = "0123456789abcdef"
OTHER = "fedcba9876543210"
TOKEN = f"{RACE}.{'ab' * 32}"

# Every field is set and none is at its default, so that every field has bytes in golden.txt.
PATCH = OptionsPatch(
    seats=3,
    time_limit_s=600,
    last_call_s=30,
    countdown_s=5,
    undo=UndoPolicy.FREE,
    spectating=Spectating.SHAPE,
    watch_delay_s=30,
    ranked=True,
    bots=False,
    auto_start=False,
    best_of=3,
    listed=True,
)
OPTIONS = RaceOptions(
    seats=3,
    time_limit_s=600,
    last_call_s=30,
    countdown_s=5,
    undo=UndoPolicy.NONE,
    spectating=Spectating.COUNTS,
    watch_delay_s=30,
    ranked=True,
    bots=False,
    auto_start=False,
    best_of=3,
    listed=True,
)
PLAYER = PlayerView(
    seat=2,
    name="Zoë",
    bot=True,
    ready=True,
    present=True,
    status=Status.BANKED,
    home=7,
    best=9,
    opened=4,
    moves=300,
    t_ms=70_000,
    series=2,
    rating=1523,
    provisional=True,
)
ROW = OrderRow(
    place=1,
    seat=2,
    name="Zoë",
    bot=True,
    status=Status.WON,
    won=True,
    home=52,
    best=52,
    opened=21,
    moves=120,
    t_ms=99_000,
    rating=1552,
    rating_before=1523,
    provisional=True,
)
VIEW = RaceView(
    id=RACE,
    code="QX7K",
    game="klondike",
    rules_version=1,
    commitment="0f" * 32,
    practice=True,
    options=OPTIONS,
    phase=Phase.CLOSED,
    ver=17,
    round=2,
    host=1,
    players=(PLAYER,),
    clock_ms=-3000,
    deadline_ms=600_000,
    paused_ms=20_000,
    seed="a5" * 32,
    order=(ROW,),
    next=OTHER,
    day=DayTag(number=334, date="2026-11-30", label=DealLabel.CERTIFIED),
    crowd=1000,
)
BOARD = BoardView(piles=((24, ()), (0, (12,)), (6, (0, 51))), base=5, passes=3)
WATCHED = WatchedBoard(
    seat=2,
    seq=7,
    t_ms=4500,
    piles=((24, ()), (6, (0, 51))),
    base=5,
    passes=3,
    heights=((24, 0), (6, 2)),
    marks=("W>T1", "undo"),
)
LIVE = LiveRace(
    race=RACE,
    code="QX7K",
    game="klondike",
    ranked=True,
    shows=Spectating.SHAPE,
    players=("Zoë", "Bo"),
    clock_ms=70_000,
    crowd=1000,
)
BOARD_ROW = say.BoardRow(
    place=2,
    player=RACE,
    name="Zoë",
    run=f"{RACE}.2",
    at_ms=1_796_040_000_000,
    wins=3,
    races=5,
    won=True,
    best=52,
    opened=21,
    moves=99,
    t_ms=61_230,
    rating=1_512,
    days=4,
    percent=7_500,
)
ENTRY = say.LogEntry(seq=1, t_ms=1200, move="T9:13>T8", reveals=(51,))
DAILY = daily.Daily(
    id=15,
    day=334,
    date="2026-11-30",
    featured="single-left",
    now_ms=1_796_040_000_000,
    rollover_ms=360_000,
    closed=True,
    games=(
        daily.DayGame(
            game="lanes",
            label=DealLabel.CERTIFIED,
            commitment="0f" * 32,
            seed="a5" * 32,
            void=True,
            played=57,
            own=daily.OwnRun(
                race=RACE,
                status=Status.WON,
                best=48,
                opened=12,
                home=48,
                moves=120,
                t_ms=99_000,
                place=3,
            ),
            streak=daily.Streak(days=8, best=30, freezes=1),
        ),
    ),
    coming=(
        daily.Promise(
            day=335,
            date="2026-12-01",
            game="lanes",
            label=DealLabel.OPEN,
            commitment="1e" * 32,
        ),
    ),
)

SAMPLES: tuple[ask.ClientMessage | say.ServerMessage, ...] = (
    ask.Hello(
        id=1, name="Zoë", or_like=True, token=TOKEN, link="ABCDEFGH23", secret="cd" * 32, bot=True
    ),
    ask.Create(id=2, game="klondike", options=PATCH, seed="tuesday"),
    ask.Join(id=3, code="QX7K"),
    ask.Resume(id=4, race=RACE, have=12),
    ask.SetOptions(id=5, race=RACE, options=PATCH),
    ask.Ready(id=6, race=RACE, ready=False),
    ask.Start(id=7, race=RACE),
    ask.PlayMove(id=8, race=RACE, seq=13, move="T9:13>T8"),
    ask.PlayUndo(id=9, race=RACE, seq=14),
    ask.Bank(id=10, race=RACE),
    ask.Leave(id=11, race=RACE),
    ask.EndRace(id=26, race=RACE),
    ask.Next(id=12, race=RACE),
    ask.Say(id=12, race=RACE, phrase=Phrase.ONE_MORE),
    ask.LobbyWatch(id=19, game="klondike", on=False),
    ask.MatchQueue(id=15, game="klondike"),
    ask.MatchAnswer(id=16, race=RACE, accept=False),
    ask.MatchBot(id=17),
    ask.MatchLeave(id=18),
    ask.ReplayGet(id=13, race=RACE, part=2),
    ask.BoardGet(
        id=14,
        game="klondike",
        board=BoardKind.FASTEST,
        period=Period.WEEK,
        day="2026-11-30",
        bots=True,
        around=True,
        friends=True,
        page="a00",
        limit=50,
    ),
    ask.FriendAdd(id=15, name="Zoë"),
    ask.FriendRemove(id=16, name="Zoë"),
    ask.FriendsGet(id=17),
    ask.Ping(id=2**31 - 1),
    ask.DailyGet(id=15, day=334, game="lanes"),
    ask.DailyPlay(id=16, game="lanes", day=334, practice=True),
    ask.Watch(id=18, code="QX7K", race=RACE),
    ask.Unwatch(id=19, race=RACE),
    ask.LiveGet(id=17, limit=10),
    ask.AccountGet(id=20),
    ask.Rename(id=21, name="Zoë"),
    ask.Rotate(id=22, secret="cd" * 32),
    ask.LinkMake(id=23),
    ask.Export(id=24, race=RACE),
    ask.Delete(id=25),
    say.AccountView(
        id=20, player=RACE, name="Zoë", bot=True, since_ms=1_700_000_000_000, devices=2
    ),
    say.LinkMade(id=23, code="ABCDEFGH23", lasts_ms=600_000),
    say.ExportPart(id=24, text="{}"),
    say.Announcement(sentence="The server stops at noon."),
    say.Dismissed(sentence="This account was deleted."),
    say.Welcome(id=1, player=RACE, name="Zoë", bot=True, token=TOKEN, version="0.1.0"),
    say.Seated(id=2, race=VIEW, seat=2, seq=1, hash=2**53 - 1, board=BOARD, log=(ENTRY,)),
    say.Done(id=3),
    say.Ack(id=8, race=RACE, seq=13, t_ms=4500, hash=99, reveals=(0, 51)),
    say.Refused(id=9, code=ErrorCode.SEQ_GAP, sentence="next is 13", expected=13, retry_ms=500),
    say.ReplayFile(id=13, race=RACE, part=2, parts=3, text="samedeal replay\n"),
    say.Board(
        id=14,
        game="klondike",
        board=BoardKind.FASTEST,
        period="2026-W49",
        bots=True,
        total=3,
        rows=(BOARD_ROW,),
        me=BOARD_ROW,
        beaten=5_000,
        previous="b00",
        next="a00",
    ),
    say.Friends(id=15, friends=(say.Friend(player=RACE, name="Zoë"),)),
    say.Moved(id=12, race=RACE, to=OTHER, code="QX7K"),
    say.Pong(id=0),
    say.Room(race=VIEW),
    say.Said(race=RACE, seat=2, phrase=Phrase.ONE_MORE),
    say.Match(
        id=15,
        game="klondike",
        state=MatchState.FOUND,
        rating=1523,
        within_ms=12_000,
        race=RACE,
        sentence="somebody is here",
    ),
    say.Lobby(
        id=19,
        rooms=(
            LobbyRoom(
                code="QX7K",
                game="klondike",
                host="Zoë",
                bot=True,
                rating=1523,
                provisional=True,
                taken=2,
                options=OPTIONS,
                waited_ms=12_000,
            ),
        ),
    ),
    say.Go(race=VIEW, seat=2, hash=99, board=BOARD),
    say.Progress(race=RACE, ver=18, players=(PLAYER,)),
    say.Notice(race=RACE, kind="stuck", sentence="No move is left."),
    say.Closed(race=VIEW),
    say.TakenOver(race=RACE, sentence="Another connection holds this seat."),
    DAILY,
    say.Watching(
        id=15,
        race=VIEW,
        shows=Spectating.SHAPE,
        reason="boards open later",
        boards=(WATCHED,),
    ),
    say.Watched(race=RACE, ver=19, players=(PLAYER,), boards=(WATCHED,)),
    say.WatchOver(race=RACE, sentence="you took a seat"),
    say.LiveRaces(id=17, races=(LIVE,)),
)
NAMES = [type(sample).__name__ for sample in SAMPLES]


def decode(name: str, frame: bytes) -> ask.ClientMessage | say.ServerMessage:
    asked = name in {model.__name__ for model in ASKED}
    return decode_client(frame) if asked else decode_server(frame)


def unset_fields(value: object) -> list[str]:
    """Name the fields, at any depth, that a decoded message did not get from its bytes."""
    if isinstance(value, tuple):
        return [name for part in value for name in unset_fields(part)]
    if not isinstance(value, BaseModel):
        return []
    model = type(value)
    missing = [f"{model.__name__}.{n}" for n in model.model_fields.keys() - value.model_fields_set]
    return missing + [name for _, part in value for name in unset_fields(part)]


def test_every_message_class_has_golden_bytes() -> None:
    assert set(GOLDEN) == {model.__name__ for model in (*ASKED, *SAID)}


def test_every_message_class_has_one_sample() -> None:
    assert sorted(NAMES) == sorted(model.__name__ for model in (*ASKED, *SAID))


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_a_message_has_its_golden_bytes(sample: ask.ClientMessage | say.ServerMessage) -> None:
    assert encode(sample).hex() == GOLDEN[type(sample).__name__]


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_golden_bytes_decode_to_the_message(
    sample: ask.ClientMessage | say.ServerMessage,
) -> None:
    name = type(sample).__name__
    assert decode(name, bytes.fromhex(GOLDEN[name])) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_golden_bytes_hold_every_field(sample: ask.ClientMessage | say.ServerMessage) -> None:
    name = type(sample).__name__
    assert unset_fields(decode(name, bytes.fromhex(GOLDEN[name]))) == []


@pytest.mark.parametrize(
    "message",
    [
        ask.Hello(id=0),
        ask.Create(id=0, game="klondike"),
        ask.Resume(id=0, race=RACE),
        ask.Ready(id=0, race=RACE),
        ask.BoardGet(id=0, game="klondike"),
        ask.ReplayGet(id=0, race="QX7K"),
        say.Refused(id=None, code=ErrorCode.BAD_FRAME, sentence="a frame holds one map"),
        say.Moved(race=RACE, to=OTHER, code="QX7K"),
        say.Progress(race=RACE, ver=0, players=(PlayerView(seat=1, name="Bo"),)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_message_at_its_defaults_comes_back_equal(
    message: ask.ClientMessage | say.ServerMessage,
) -> None:
    assert decode(type(message).__name__, encode(message)) == message
