"""Screens of text: nothing of what they say is cut off, in the narrowest window either."""

from datetime import date, datetime
from typing import Any

import pytest

from samedeal.engine.games import GAMES
from samedeal.engine.rules import Rules
from samedeal.engine.run import UndoPolicy
from samedeal.protocol.board_messages import Board, BoardRow
from samedeal.protocol.daily_messages import Daily, DayGame, OwnRun, Promise, Streak
from samedeal.protocol.fields import DayTag, DealLabel, OrderRow, Phase, RaceOptions, Status
from samedeal_client.model.days import DayChoice, day_rows
from samedeal_client.model.help import fitted, help_rows, how
from samedeal_client.model.ink import cells, text_of
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.options import OptionsForm
from samedeal_client.model.result import result_rows
from samedeal_client.model.room import room_rows
from samedeal_client.model.standings import BoardChoice, board_rows
from samedeal_client.model.tracks import panel
from samedeal_client.model.window import MIN_HEIGHT, MIN_WIDTH, Window, key_bar
from scenes import PLAYED, playing


def words(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
def test_help_and_room_say_all_of_what_a_game_is(rules: Rules) -> None:
    help_lines = [text_of(row) for row in help_rows(rules, Keys(), Section.RACE)]
    title = words(help_lines[:4])
    view = playing("lanes", 2).race.view.model_copy(update={"game": rules.id})
    room = room_rows(view, 1, Keys().on(Section.ROOM), "ws://h", 0, MIN_WIDTH, MIN_HEIGHT, "")
    for told in (title, words([text_of(row) for row in room])):
        summary = rules.summary.split()
        assert any(told[at : at + len(summary)] == summary for at in range(len(told)))
    assert all(cells(line) <= MIN_WIDTH for line in help_lines[:2])


def test_names_of_every_length_leave_what_they_say_in_one_column() -> None:
    view = playing("lanes", 2).race.view
    long = view.players[0].model_copy(update={"name": "n" * 20})
    view = view.model_copy(update={"players": (long, view.players[1]), "phase": Phase.LOBBY})
    rows = [
        text_of(row) for row in room_rows(view, 1, Keys().on(Section.ROOM), "ws://h", 0, 80, 24, "")
    ]
    assert len({row.index("ready") for row in rows if row.lstrip().startswith("seat")}) == 1


def test_the_result_of_a_day_names_the_day_and_offers_no_next_deal() -> None:
    view = playing("lanes", 1).race.view
    tag = DayTag(number=334, date=date(2026, 11, 30).isoformat(), label=DealLabel.OPEN)
    for day, title, key in ((tag, "daily 334", "n your card"), (None, "race", "n next deal")):
        view = view.model_copy(update={"day": day, "phase": Phase.CLOSED})
        rows = [text_of(row) for row in result_rows(view, 1, Keys().on(Section.RESULT), 80, 24, "")]
        assert title in rows[1]
        assert key in rows[-1]


def test_a_day_s_result_offers_the_replay_once_its_seed_is_public() -> None:
    tag = DayTag(number=334, date="2026-11-30", label=DealLabel.OPEN)
    view = playing("lanes", 1).race.view.model_copy(update={"day": tag, "phase": Phase.CLOSED})
    for seed, is_offered in ((None, False), ("ab" * 32, True)):
        view = view.model_copy(update={"seed": seed})
        rows = result_rows(view, 1, Keys().on(Section.RESULT), 80, 24, "")
        assert ("v replay" in text_of(rows[-1])) is is_offered


def test_a_race_of_the_shell_has_no_home_to_go_to() -> None:
    view, keys = playing("lanes", 2).race.view, Keys().on(Section.RESULT)
    rows = result_rows(view, 1, keys, 80, 24, "", has_home=False)
    assert text_of(rows[-1]).rstrip().endswith("Q exit")


ROW = BoardRow(place=1, player="a" * 16, name="ada", at_ms=1, wins=1, races=1, run="b" * 16 + ".1")


@pytest.mark.parametrize(
    ("rows", "of_others", "paged", "offered", "not_offered"),
    [
        ((), {}, False, (), ("replay", "race", "around", "top", "on")),
        ((ROW,), {"me": ROW}, False, ("replay", "race", "around"), ("top", "on")),
        ((ROW,), {"me": ROW, "next": "an"}, True, ("replay", "race", "top", "on"), ("around",)),
    ],
    ids=["empty", "one page", "the second page"],
)
def test_the_keys_of_boards_are_those_that_do_something_and_fit_into_80_columns(
    rows: tuple[BoardRow, ...],
    of_others: dict[str, Any],
    paged: bool,
    offered: tuple[str, ...],
    not_offered: tuple[str, ...],
) -> None:
    board = Board(id=1, game="lanes", board="wins", period="all", total=1, rows=rows, **of_others)
    choice = BoardChoice()
    choice.page = "p" if paged else None
    drawn = board_rows(choice, board, Keys().on(Section.BOARDS), 80, 24, "")
    foot = text_of(drawn[-1]).split()
    assert foot[-2:] == ["Q", "back"]
    assert [word for word in offered if word not in foot] == []
    assert [word for word in not_offered if word in foot] == []


def day(own: OwnRun | None) -> DayChoice:
    """A day of one game, the run of which stands so."""
    streak = Streak(days=123, best=123, freezes=2)
    each = DayGame(
        game="acey-and-kingsley",
        label=DealLabel.OPEN,
        commitment="ab" * 32,
        played=4567,
        own=own,
        streak=streak,
    )
    facts: dict[str, Any] = {"day": 334, "date": "2026-11-30", "featured": each.game}
    return DayChoice(
        Daily(id=1, **facts, now_ms=0, rollover_ms=1, closed=False, games=(each,), coming=())
    )


def test_a_day_s_row_says_its_place_and_streak_in_80_columns() -> None:
    run = OwnRun(
        race="a" * 16,
        status=Status.BANKED,
        best=10,
        opened=2,
        home=10,
        moves=1234,
        t_ms=3_723_000,
        place=123,
    )
    for own, offered, not_offered in (
        (run, "s share card", "Enter"),
        (None, "Enter plays, ranked", "share"),
        (run.model_copy(update={"status": Status.PLAYING}), "Enter goes on", "share"),
    ):
        keys, now = Keys().on(Section.DAILY), datetime.now().astimezone()
        lines = [text_of(row) for row in day_rows(day(own), keys, now, 80, 24, "")]
        assert offered in lines[-1]
        assert not_offered not in lines[-1]
        assert "Q back" in lines[-1]
        if own is run:
            assert lines[3].rstrip().endswith("1234 moves; place 123 of 4567; streak 123")


def test_limits_of_an_hour_and_more_are_told_in_one_way() -> None:
    view = playing("lanes", 2).race.view
    options = view.options.model_copy(update={"time_limit_s": 5400})
    view = view.model_copy(update={"options": options, "phase": Phase.LOBBY})
    keys = Keys().on(Section.ROOM)
    room = words([text_of(row) for row in room_rows(view, 1, keys, "ws://h", 0, 80, 24, "")])
    tracks = words([text_of(row) for row in panel(view, 1, 31, 20)])
    assert "1:30:00," in room
    assert "1:30:00," in tracks


@pytest.mark.parametrize("game_id", PLAYED)
def test_who_has_not_moved_yet_reads_how_the_game_goes_beside_the_board(game_id: str) -> None:
    play, later = playing(game_id, 2, is_fresh=True), playing(game_id, 2)
    # Bots are quick: what they do first does not push the rules away.
    play.chronicle.last[1] = "opened 1"
    for size in ((80, 24), (120, 40)):
        told = words([text_of(row) for row in Window(*size).players(play, 0)])
        rules = words(how(GAMES[game_id]))
        assert any(told[at : at + len(rules)] == rules for at in range(len(told)))
        assert ("#n" in told) is not GAMES[game_id].open_columns
        assert "alternate" not in words([text_of(row) for row in Window(*size).players(later, 0)])


def test_who_has_ended_is_offered_only_what_works_while_others_play() -> None:
    bar = text_of(key_bar(GAMES["lanes"], Keys().on(Section.RACE), 80, is_over=True))
    assert "leave" in bar
    assert not any(word in bar for word in ("next", "replay", "share"))


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
def test_help_is_whole_in_the_narrowest_window(rules: Rules) -> None:
    for section in Section:
        rows = help_rows(rules, Keys(), section)
        lines = [text_of(row) for row in fitted(rows, MIN_WIDTH)]
        assert max(map(cells, lines)) <= MIN_WIDTH
        assert words(lines) == words([text_of(row) for row in rows])


def test_how_a_run_ended_is_told_in_the_narrowest_window() -> None:
    view = playing("lanes", 2).race.view
    order = tuple(
        OrderRow(
            seat=seat,
            name="n" * 20,
            bot=False,
            place=seat,
            won=False,
            status=status,
            best=48,
            home=48,
            opened=18,
            moves=1234,
            t_ms=3_599_990,
        )
        for seat, status in enumerate((Status.STUCK, Status.BANKED), start=1)
    )
    view = view.model_copy(update={"phase": Phase.CLOSED, "order": order})
    rows = result_rows(view, 1, Keys().on(Section.RESULT), MIN_WIDTH, MIN_HEIGHT, "")
    ends = [text_of(row).rstrip() for row in rows]
    assert (ends[5].endswith("  no move left"), ends[6].endswith("  banked")) == (True, True)


def test_a_room_offers_what_can_be_done_in_it() -> None:
    view, keys = playing("lanes", 2).race.view, Keys().on(Section.ROOM)
    view = view.model_copy(update={"phase": Phase.LOBBY})
    options = view.options
    for seats, is_offered in ((2, False), (3, True)):
        view = view.model_copy(update={"options": options.model_copy(update={"seats": seats})})
        foot = text_of(room_rows(view, 1, keys, "ws://h", 0, 80, 24, "")[-1])
        assert ("add a bot" in foot) is is_offered
    alone = options.model_copy(update={"seats": 1})
    view = view.model_copy(update={"options": alone, "players": view.players[:1]})
    assert "say" not in text_of(room_rows(view, 1, keys, "ws://h", 0, 80, 24, "")[-1]).split()


def test_the_countdown_of_a_day_goes_on() -> None:
    keys, now = Keys().on(Section.DAILY), datetime.now().astimezone()
    choice = day(None)
    choice.daily = choice.daily.model_copy(update={"rollover_ms": 61_000})
    heads = [
        text_of(day_rows(choice, keys, now, 80, 24, "", since_ms=since_ms)[1])
        for since_ms in (0, 2000, 61_000)
    ]
    told = ("ends in 1:01", "ends in 0:59", "over; runs that are on may end")
    assert all(text in head for text, head in zip(told, heads, strict=True))


def test_a_day_in_the_narrowest_window_says_where_it_goes_on_and_keeps_its_keys() -> None:
    keys, now = Keys().on(Section.DAILY), datetime.now().astimezone()
    choice = day(None)
    game_id = choice.chosen.game
    coming = tuple(
        Promise(
            day=335 + after,
            date=f"2026-12-0{after}",
            game=game_id,
            label=DealLabel.OPEN,
            commitment="cd" * 32,
        )
        for after in range(1, 8)
    )
    games = tuple(
        choice.chosen.model_copy(update={"game": one}) for one in (game_id, *list(GAMES)[:4])
    )
    choice.daily = choice.daily.model_copy(update={"coming": coming, "games": games})
    rows = day_rows(choice, keys, now, MIN_WIDTH, MIN_HEIGHT, "a sentence")
    lines = [text_of(row).rstrip() for row in rows]
    assert lines[-1].endswith("Q back")
    assert lines[-2] == "  a sentence"
    assert any(line.startswith("  commitment abab") and line.endswith("...") for line in lines)
    assert "  your first run ranks; its clock runs on when you leave" in lines


def test_what_an_options_screen_takes_is_said_in_the_narrowest_window() -> None:
    rows = OptionsForm(RaceOptions(), "OPTIONS").rows(
        Keys().on(Section.OPTIONS), MIN_WIDTH, MIN_HEIGHT, ""
    )
    assert "Enter done  ESC back" in text_of(rows[-1])


def test_a_room_says_all_that_was_agreed_and_a_race_offers_no_undo_where_there_is_none() -> None:
    view, keys = playing("lanes", 2).race.view, Keys().on(Section.ROOM)
    changes = {"best_of": 3, "watch_delay_s": 30, "undo": UndoPolicy.NONE}
    options = view.options.model_copy(update=changes)
    view = view.model_copy(update={"phase": Phase.LOBBY, "options": options})
    rows = room_rows(view, 1, keys, "ws://h", 0, MIN_WIDTH, MIN_HEIGHT, "")
    assert "undo none, watching boards 30 s late, unranked, best of 3" in "".join(
        text_of(row) for row in rows
    )
    for has_undo in (True, False):
        bar = key_bar(GAMES["lanes"], Keys().on(Section.RACE), 80, has_undo=has_undo)
        assert ("u undo" in text_of(bar)) is has_undo


@pytest.mark.parametrize("rules", GAMES.values(), ids=list(GAMES))
def test_a_full_room_of_eight_is_whole_in_the_smallest_window(rules: Rules) -> None:
    view, keys = playing("lanes", 8).race.view, Keys().on(Section.ROOM)
    changes = {"best_of": 5, "watch_delay_s": 30, "undo": UndoPolicy.NONE, "seats": 8}
    options = view.options.model_copy(update=changes)
    view = view.model_copy(update={"game": rules.id, "options": options})
    for phase, status in ((Phase.LOBBY, "Press Enter"), (Phase.COUNTDOWN, "GO in 3")):
        now = view.model_copy(update={"phase": phase})
        rows = room_rows(now, 1, keys, "ws://h", -3000, MIN_WIDTH, MIN_HEIGHT, "a sentence")
        lines = [text_of(row).strip() for row in rows]
        assert len(lines) == MIN_HEIGHT
        assert [line for line in lines if line.startswith("seat")][7].startswith("seat 8")
        assert any(status in line for line in lines), lines
        assert any("best of 5" in line for line in lines)
        assert lines[-2] == "a sentence"
        assert "ready" in lines[-1]


def test_a_result_has_room_for_the_longest_name_and_its_marks() -> None:
    view = playing("lanes", 2).race.view
    order = OrderRow(
        seat=1,
        name="n" * 20,
        bot=True,
        place=1,
        won=False,
        status=Status.STUCK,
        best=103,
        home=103,
        opened=45,
        moves=1234,
        t_ms=3_599_990,
    )
    view = view.model_copy(update={"phase": Phase.CLOSED, "order": (order,)})
    rows = [text_of(row) for row in result_rows(view, 1, Keys().on(Section.RESULT), 80, 24, "")]
    assert f"{order.name}* B" in rows[5]
    assert rows[5].rstrip().endswith("no move left")
