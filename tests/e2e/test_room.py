"""The rules of a room over the wire: host, options, undo, last call, stuck, bank, next."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from samedeal.engine.deals import parse_seed
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.engine.run import Run, UndoPolicy
from samedeal.engine.table import Table
from samedeal.greedy import Greedy
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Message, Phase, RaceView, Status
from samedeal_server.session import MAX_RACES
from support import eventually
from wire import Wire, race_of, wired

WON, STUCK = "deal 325", "deal 208"
"""Seeds of single-left: a greedy player wins the first, and runs dry in the second."""


def greedy_moves(seed: str) -> list[str]:
    """What a greedy player does with single-left until it is over, one way or the other."""
    run = Run(Table.deal(game("single-left"), parse_seed(seed).value), UndoPolicy.NONE)
    greedy, moves = Greedy(1), []
    while not run.is_won and not run.is_known_stuck:
        move = greedy.choose(run.table)
        assert move is not None
        run.play(move, 0)
        moves.append(str(move))
    assert run.is_won == (seed == WON)
    return moves


@pytest.fixture
async def wires(server_url: str) -> AsyncIterator[tuple[Wire, Wire, Wire]]:
    async with AsyncExitStack() as stack:
        ada, ivo, eva = [
            await stack.enter_async_context(wired(server_url, name))
            for name in ("ada", "ivo", "eva")
        ]
        yield ada, ivo, eva


Wires = tuple[Wire, Wire, Wire]


async def play(wire: Wire, race: str, moves: list[str]) -> say.Ack:
    ack = None
    for seq, move in enumerate(moves, start=1):
        ack = await wire.get(say.Ack, ask.PlayMove, race=race, seq=seq, move=move)
    assert ack is not None
    return ack


async def refused(wire: Wire, kind: type[Message], **fields: object) -> ErrorCode:
    answer = await wire.get(say.Refused, kind, **fields)
    assert answer.sentence
    return answer.code


def room_of(wire: Wire) -> RaceView:
    """The race as the connection was told last."""
    views = [m.race for m in wire.heard if isinstance(m, say.Seated | say.Room | say.Go)]
    return views[-1]


def heard_where(wire: Wire) -> list[str]:
    """Where the room goes on, as the connection was told without asking."""
    return [event.to for event in wire.all(say.Moved) if event.id is None]


# Host and options


async def test_when_the_host_leaves_the_lobby_the_next_seat_is_host_and_all_see_it(
    wires: Wires,
) -> None:
    ada, ivo, eva = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"seats": 3})
    race = room.race.id
    for wire in (ivo, eva):
        await wire.get(say.Seated, ask.Join, code=room.race.code)
    await ada.get(say.Done, ask.Leave, race=race)
    for wire in (ivo, eva):
        await eventually(lambda w=wire: room_of(w).host == 2)  # type: ignore[misc]
        assert [p.name for p in room_of(wire).players] == [ivo.name, eva.name]
    assert await refused(eva, ask.Start, race=race) is ErrorCode.NOT_HOST
    await eva.get(say.Done, ask.Ready, race=race)
    await ivo.get(say.Done, ask.Start, race=race)
    assert await refused(ada, ask.Ready, race=race) is ErrorCode.NOT_SEATED
    assert await refused(ada, ask.Resume, race=race) is ErrorCode.NOT_SEATED
    assert not ada.all(say.TakenOver)


async def test_the_seat_of_one_who_left_hears_nothing_more_and_is_anothers(wires: Wires) -> None:
    ada, ivo, eva = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"countdown_s": 0})
    race = room.race.id
    await ivo.get(say.Seated, ask.Join, code=room.race.code)
    await ivo.get(say.Done, ask.Leave, race=race)
    heard = len(ivo.heard)
    await ada.get(say.Done, ask.Ready, race=race)
    seated = await eva.get(say.Seated, ask.Join, code=room.race.code)
    assert seated.seat == 2
    await eva.get(say.Done, ask.Ready, race=race)
    await eventually(lambda: bool(eva.all(say.Go)))
    move = {"race": race, "seq": 1, "move": "draw"}
    assert await refused(ivo, ask.PlayMove, **move) is ErrorCode.NOT_SEATED
    await eva.get(say.Ack, ask.PlayMove, **move)
    assert [type(message) for message in ivo.heard[heard:]] == [say.Refused]


async def test_options_are_the_hosts_and_of_the_lobby(wires: Wires) -> None:
    ada, ivo, _ = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"countdown_s": 0})
    race = room.race.id
    await ivo.get(say.Seated, ask.Join, code=room.race.code)
    await ivo.get(say.Done, ask.Ready, race=race)
    wanted = {"race": race, "options": {"time_limit_s": 77}}
    assert await refused(ivo, ask.SetOptions, **wanted) is ErrorCode.NOT_HOST
    await ada.get(say.Done, ask.SetOptions, **wanted)
    await eventually(lambda: room_of(ivo).options.time_limit_s == 77)
    view = room_of(ivo)
    assert view.options.countdown_s == 0
    assert not any(player.ready for player in view.players)
    for wire in (ivo, ada):
        await wire.get(say.Done, ask.Ready, race=race)
    await eventually(lambda: bool(ada.all(say.Go)))
    assert ada.all(say.Go)[0].race.deadline_ms == 77_000
    late = [
        await ada.get(say.Refused, ask.SetOptions, **wanted),
        await ada.get(say.Refused, ask.Start, race=race),
        await ada.get(say.Refused, ask.Ready, race=race, ready=False),
    ]
    begun = (ErrorCode.WRONG_PHASE, "the race has begun; this is to be done before")
    assert [(answer.code, answer.sentence) for answer in late] == [begun] * 3


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        ("", {"ranked": True, "undo": "free"}),
        ("", {"ranked": True, "spectating": "boards"}),
        ("", {"ranked": True, "bots": True}),
        ("mine", {"ranked": True}),
    ],
    ids=["free undo", "whole boards", "bots", "a chosen seed"],
)
async def test_what_a_ranked_race_may_not_have_is_refused(
    wires: Wires, seed: str, options: dict[str, object]
) -> None:
    ada, _, _ = wires
    chosen = {"seed": seed} if seed else {}
    wanted = {"game": "lanes", "options": options, **chosen}
    assert await refused(ada, ask.Create, **wanted) is ErrorCode.BAD_OPTION
    room = await ada.get(say.Seated, ask.Create, game="lanes", **chosen)
    change = {"race": room.race.id, "options": options}
    assert await refused(ada, ask.SetOptions, **change) is ErrorCode.BAD_OPTION


async def test_a_ranked_race_shows_spectators_shapes_unless_told_otherwise(wires: Wires) -> None:
    ada, _, _ = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"ranked": True})
    assert room.race.options.spectating == "shape"
    room = await ada.get(say.Seated, ask.Create, game="lanes")
    assert room.race.options.spectating == "boards"


async def test_bots_stay_out_where_the_host_says_so(server_url: str, wires: Wires) -> None:
    ada, ivo, _ = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"bots": False})
    async with wired(server_url, "robo", bot=True) as robo:
        code = {"code": room.race.code}
        assert await refused(robo, ask.Join, **code) is ErrorCode.BAD_OPTION
        await ivo.get(say.Seated, ask.Join, **code)


async def test_what_is_not_there_is_said_to_be_missing(wires: Wires) -> None:
    ada, ivo, eva = wires
    assert await refused(ada, ask.Join, code="22222") is ErrorCode.NOT_FOUND
    assert await refused(ada, ask.Resume, race="0" * 16) is ErrorCode.NOT_FOUND
    assert await refused(ada, ask.Create, game="whist") is ErrorCode.NOT_FOUND
    assert await refused(ada, ask.BoardGet, game="whist") is ErrorCode.NOT_FOUND
    assert await refused(ada, ask.ReplayGet, race="0" * 16) is ErrorCode.NOT_FOUND
    assert await refused(ada, ask.Hello, name="again") is ErrorCode.HELLO_FIRST
    race = await race_of(ada, ivo)
    code = ada.all(say.Seated)[-1].race.code
    late = await eva.get(say.Refused, ask.Join, code=code)
    assert (late.code, "begun" in late.sentence) == (ErrorCode.WRONG_PHASE, True)
    assert await refused(eva, ask.Bank, race=race) is ErrorCode.NOT_SEATED
    assert await refused(eva, ask.Next, race=race) is ErrorCode.NOT_SEATED
    assert await refused(ada, ask.Next, race=race) is ErrorCode.WRONG_PHASE


async def test_a_full_room_says_so(wires: Wires) -> None:
    ada, ivo, eva = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes")
    await ivo.get(say.Seated, ask.Join, code=room.race.code)
    assert await refused(eva, ask.Join, code=room.race.code) is ErrorCode.RACE_FULL


async def test_a_wrong_token_is_refused_and_hello_may_be_said_again(
    server_url: str, wires: Wires
) -> None:
    ada, _, _ = wires
    wrong = ada.token[:-1] + ("0" if ada.token[-1] != "0" else "1")
    async with wired(server_url) as tab:
        assert await refused(tab, ask.Hello, token=wrong) is ErrorCode.BAD_TOKEN
        assert await refused(tab, ask.Hello) is ErrorCode.BAD_FRAME
        assert await refused(tab, ask.Ping) is ErrorCode.HELLO_FIRST
        welcome = await tab.get(say.Welcome, ask.Hello, token=ada.token)
        assert (welcome.name, welcome.token) == (ada.name, None)


async def test_a_connection_sits_in_so_many_open_races_and_no_more(wires: Wires) -> None:
    ada, ivo, _ = wires
    rooms = [await ada.get(say.Seated, ask.Create, game="lanes") for _ in range(MAX_RACES)]
    other = await ivo.get(say.Seated, ask.Create, game="lanes")
    assert await refused(ada, ask.Create, game="lanes") is ErrorCode.TOO_MANY
    assert await refused(ada, ask.Join, code=other.race.code) is ErrorCode.TOO_MANY
    # Coming back to one of them is no further one.
    await ada.get(say.Seated, ask.Resume, race=rooms[0].race.id)
    await ada.get(say.Done, ask.Leave, race=rooms[0].race.id)
    await ada.get(say.Seated, ask.Join, code=other.race.code)


# Playing


async def test_with_free_undo_everything_can_be_taken_back(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, undo="free")
    start = ada.all(say.Go)[0].hash
    await play(ada, race, ["draw", "draw"])
    await ada.get(say.Ack, ask.PlayUndo, race=race, seq=3)
    ack = await ada.get(say.Ack, ask.PlayUndo, race=race, seq=4)
    assert (ack.hash, ack.reveals) == (start, ())
    assert await refused(ada, ask.PlayUndo, race=race, seq=5) is ErrorCode.ILLEGAL_MOVE
    await eventually(
        lambda: any(view.moves == 4 for m in ivo.all(say.Progress) for view in m.players)
    )


async def test_who_comes_back_gets_the_actions_it_lacks_or_all_of_them(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo)
    board = ada.all(say.Go)[0].board
    ack = await play(ada, race, ["draw"] * 4)
    # More than there is cannot be had: then everything is sent.
    for have, first in ((0, 1), (3, 4), (4, None), (5, 1), (99, 1)):
        back = await ada.get(say.Seated, ask.Resume, race=race, have=have)
        assert (back.seq, back.hash, back.board) == (4, ack.hash, board)
        seqs = [entry.seq for entry in back.log]
        assert seqs == ([] if first is None else list(range(first, 5)))


async def test_without_undo_nothing_can_be_taken_back(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, undo="none", seed="undo")
    table = Table.deal(game("lanes"), parse_seed("undo").value)
    move = next(move for move in table.legal_moves if move != DRAW)
    ack = await play(ada, race, [str(move)])
    assert await refused(ada, ask.PlayUndo, race=race, seq=2) is ErrorCode.ILLEGAL_MOVE
    back = await ada.get(say.Seated, ask.Resume, race=race)
    assert (back.seq, back.hash) == (1, ack.hash)


async def test_text_that_is_no_move_is_told_from_a_move_that_is_illegal(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo)
    fields = {"race": race, "seq": 1}
    assert await refused(ada, ask.PlayMove, move="hop", **fields) is ErrorCode.UNREADABLE_MOVE
    assert await refused(ada, ask.PlayMove, move="W>T1", **fields) is ErrorCode.ILLEGAL_MOVE
    assert (await play(ada, race, ["draw"])).seq == 1


async def test_nothing_is_played_before_go(wires: Wires) -> None:
    ada, ivo, _ = wires
    room = await ada.get(say.Seated, ask.Create, game="lanes", options={"countdown_s": 60})
    race = room.race.id
    move = {"race": race, "seq": 1, "move": "draw"}
    assert await refused(ada, ask.PlayMove, **move) is ErrorCode.WRONG_PHASE
    await ivo.get(say.Seated, ask.Join, code=room.race.code)
    for wire in (ada, ivo):
        await wire.get(say.Done, ask.Ready, race=race)
    await eventually(lambda: room_of(ada).phase is Phase.COUNTDOWN)
    assert await refused(ada, ask.PlayMove, **move) is ErrorCode.WRONG_PHASE
    assert await refused(ada, ask.Bank, race=race) is ErrorCode.WRONG_PHASE
    back = await ada.get(say.Seated, ask.Resume, race=race)
    assert (back.board, back.race.seed) == (None, None)
    assert back.race.clock_ms < 0


# The end


async def test_a_win_calls_the_others_last_and_then_closes(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, game="single-left", seed=WON, last_call_s=1)
    moves = greedy_moves(WON)
    await play(ivo, race, moves[:3])
    ack = await play(ada, race, moves)
    again = await ada.get(say.Ack, ask.PlayMove, race=race, seq=ack.seq, move=moves[-1])
    assert again.model_copy(update={"id": 0}) == ack.model_copy(update={"id": 0})
    more = {"race": race, "seq": ack.seq + 1, "move": "draw"}
    assert await refused(ada, ask.PlayMove, **more) is ErrorCode.RUN_OVER
    for wire in (ada, ivo):
        await eventually(lambda w=wire: bool(w.all(say.Closed)))  # type: ignore[misc]
        assert [notice.kind for notice in wire.all(say.Notice)] == ["last_call"]
        told = [room.race for room in wire.all(say.Room) if room.race.phase is Phase.RUNNING]
        assert told[-1].deadline_ms == ack.t_ms + 1000
    view = ivo.all(say.Closed)[0].race
    assert view.clock_ms == view.deadline_ms == ack.t_ms + 1000
    assert [(row.place, row.name, row.status) for row in view.order] == [
        (1, ada.name, Status.WON),
        (2, ivo.name, Status.CUT_OFF),
    ]
    assert view.order[0].t_ms == ack.t_ms
    assert [player.status for player in view.players] == [Status.WON, Status.CUT_OFF]
    late = {"race": race, "seq": 4, "move": moves[3]}
    assert await refused(ivo, ask.PlayMove, **late) is ErrorCode.RUN_OVER
    assert await refused(ivo, ask.Bank, race=race) is ErrorCode.RUN_OVER


async def test_who_wins_in_the_last_call_is_behind_the_first(wires: Wires) -> None:
    ada, ivo, eva = wires
    race = await race_of(ada, ivo, eva, game="single-left", seed=WON, last_call_s=600)
    moves = greedy_moves(WON)
    for wire in (ada, ivo):
        await play(wire, race, moves)
    await eva.get(say.Done, ask.Bank, race=race)
    await eventually(lambda: bool(eva.all(say.Closed)))
    view = eva.all(say.Closed)[0].race
    assert [(row.seat, row.won, row.status) for row in view.order] == [
        (1, True, Status.WON),
        (2, True, Status.WON),
        (3, False, Status.BANKED),
    ]
    assert len(eva.all(say.Notice)) == 1


async def test_a_dry_deal_is_told_to_its_player_and_closes_when_all_are_there(
    wires: Wires,
) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, game="single-left", seed=STUCK, undo="none")
    moves = greedy_moves(STUCK)
    await play(ada, race, moves)
    await eventually(lambda: bool(ada.all(say.Notice)))
    assert ada.all(say.Notice)[0].kind == "stuck"
    await play(ivo, race, moves)
    for wire in (ada, ivo):
        await eventually(lambda w=wire: bool(w.all(say.Closed)))  # type: ignore[misc]
    view = ivo.all(say.Closed)[0].race
    assert [row.status for row in view.order] == [Status.STUCK] * 2
    assert view.clock_ms < view.deadline_ms


async def test_who_banks_keeps_what_was_reached_and_plays_no_more(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo)
    await play(ada, race, ["draw"])
    await ada.get(say.Done, ask.Bank, race=race)
    await ada.get(say.Done, ask.Bank, race=race)
    more = {"race": race, "seq": 2, "move": "draw"}
    assert await refused(ada, ask.PlayMove, **more) is ErrorCode.RUN_OVER
    await eventually(lambda: room_of(ivo).players[0].status is Status.BANKED)
    assert not ivo.all(say.Closed)
    await ivo.get(say.Done, ask.Leave, race=race)
    await eventually(lambda: bool(ivo.all(say.Closed)))
    (closed,) = ivo.all(say.Closed)
    assert [(row.name, row.status, row.moves) for row in closed.race.order] == [
        (ada.name, Status.BANKED, 1),
        (ivo.name, Status.LEFT, 0),
    ]
    assert closed.race.seed is not None


# The next race


async def test_a_room_keeps_its_code_its_options_and_its_score_for_three_rounds(
    wires: Wires,
) -> None:
    ada, ivo, eva = wires
    race = await race_of(ada, ivo, undo="none", time_limit_s=60, best_of=5)
    code = ada.all(say.Seated)[0].race.code
    commitments = set()
    for number, winner in enumerate((ada, ivo, ada), start=1):
        await winner.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(lambda number=number: len(ada.all(say.Closed)) == number)  # type: ignore[misc]
        moved, other = [await w.get(say.Moved, ask.Next, race=race) for w in (ada, ivo)]
        assert moved.to == other.to != race
        assert moved.code == code
        first = await ada.get(say.Seated, ask.Resume, race=moved.to)
        second = await ivo.get(say.Seated, ask.Join, code=code)
        assert (first.race.id, second.race.id) == (moved.to, moved.to)
        assert (first.seat, second.seat, first.race.round) == (1, 2, number + 1)
        assert first.race.options.time_limit_s == 60
        commitments.add(first.race.commitment)
        race = moved.to
        for wire in (ivo, ada):
            await wire.get(say.Done, ask.Ready, race=race)
        await eventually(lambda n=number: len(ada.all(say.Go)) == n + 1)  # type: ignore[misc]
    assert [player.series for player in first.race.players] == [2, 1]
    assert len(commitments) == 3
    # Asked late for the second race, the room's code still leads to the last one.
    earliest = ada.all(say.Seated)[0].race.id
    await ada.get(say.Moved, ask.Next, race=earliest)
    assert (await ivo.get(say.Seated, ask.Join, code=code)).race.id == race
    assert await refused(eva, ask.Join, code=code) is ErrorCode.WRONG_PHASE


async def test_everyone_hears_where_the_room_goes_on_and_who_left_is_not_taken_along(
    wires: Wires,
) -> None:
    ada, ivo, eva = wires
    race = await race_of(ada, ivo, eva)
    await ada.get(say.Done, ask.Leave, race=race)
    for wire in (ivo, eva):
        await wire.get(say.Done, ask.Bank, race=race)
    await eventually(lambda: bool(eva.all(say.Closed)))
    moved = await ivo.get(say.Moved, ask.Next, race=race)
    for wire in wires:
        await eventually(lambda w=wire: heard_where(w) == [moved.to])  # type: ignore[misc]
    # Asked again it is answered again, but news only once.
    await eva.get(say.Moved, ask.Next, race=race)
    for wire in wires:
        await wire.get(say.Pong, ask.Ping)
        assert heard_where(wire) == [moved.to]
    assert await refused(ada, ask.Resume, race=moved.to) is ErrorCode.NOT_SEATED
    seated = await ivo.get(say.Seated, ask.Resume, race=moved.to)
    assert [player.name for player in seated.race.players] == [ivo.name, eva.name]
    assert seated.race.host == 2


async def test_a_series_goes_on_until_it_is_decided_and_then_begins_anew(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, best_of=3)
    scores = []
    for number, winner in enumerate((ada, ivo, ada), start=1):
        await winner.get(say.Ack, ask.PlayMove, race=race, seq=1, move="draw")
        for wire in (ada, ivo):
            await wire.get(say.Done, ask.Bank, race=race)
        await eventually(lambda n=number: len(ivo.all(say.Closed)) == n)  # type: ignore[misc]
        scores.append([player.series for player in ivo.all(say.Closed)[-1].race.players])
        race = (await ada.get(say.Moved, ask.Next, race=race)).to
        seated = [await wire.get(say.Seated, ask.Resume, race=race) for wire in (ivo, ada)]
        if number < 3:
            # Half way nobody makes it longer or shorter.
            longer = {"race": race, "options": {"best_of": 5}}
            assert await refused(ada, ask.SetOptions, **longer) is ErrorCode.BAD_OPTION
            for wire in (ivo, ada):
                await wire.get(say.Done, ask.Ready, race=race)
            await eventually(lambda n=number: len(ivo.all(say.Go)) == n + 1)  # type: ignore[misc]
    assert scores == [[1, 0], [1, 1], [2, 1]]
    assert [player.series for player in seated[0].race.players] == [0, 0]
    await ada.get(say.Done, ask.SetOptions, race=race, options={"best_of": 5})


async def test_a_race_without_a_move_counts_for_nobody_in_a_series(wires: Wires) -> None:
    ada, ivo, _ = wires
    race = await race_of(ada, ivo, best_of=3)
    for wire in (ada, ivo):
        await wire.get(say.Done, ask.Bank, race=race)
    await eventually(lambda: bool(ivo.all(say.Closed)))
    assert [player.series for player in ivo.all(say.Closed)[0].race.players] == [0, 0]


async def test_no_room_with_a_bot_becomes_ranked(server_url: str, wires: Wires) -> None:
    ada = wires[0]
    async with wired(server_url, "robo", bot=True) as robo:
        ranked = {"game": "lanes", "options": {"ranked": True}}
        assert await refused(robo, ask.Create, **ranked) is ErrorCode.BAD_OPTION
        room = await ada.get(say.Seated, ask.Create, game="lanes")
        await robo.get(say.Seated, ask.Join, code=room.race.code)
        fields = {"race": room.race.id, "options": {"ranked": True}}
        assert await refused(ada, ask.SetOptions, **fields) is ErrorCode.BAD_OPTION
