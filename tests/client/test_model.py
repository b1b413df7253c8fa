"""What the player sees before, with and without the server's answer."""

import random

import pytest

from samedeal.engine.errors import IllegalMove
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.run import UNDO, UndoPolicy
from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import PlayerView
from samedeal_client.model import OutOfStep, RaceModel
from seat import RACE, Seat


def truth(seat: Seat) -> str:
    return str(seat.run.table.view())


def a_move(model: RaceModel) -> Move:
    """Some legal move of cards."""
    return next(move for move in model.table.legal_moves if move != DRAW)


def test_a_move_is_shown_before_the_server_has_answered() -> None:
    model = Seat().model()
    before = str(model.table)
    request = model.play(a_move(model))
    assert str(model.table) != before
    assert (request.seq, model.acked) == (1, 0)


def test_an_answer_settles_a_move_with_the_time_of_the_server() -> None:
    seat = Seat()
    model = seat.model()
    model.acknowledged(seat.ack(model.play(a_move(model))))
    assert (str(model.table), model.acked, model.outbox) == (truth(seat), 1, [])
    assert model.run.t_last_ms == 1000


def test_the_answer_to_a_draw_shows_the_card_that_was_not_known() -> None:
    seat = Seat()
    model = seat.model()
    request = model.play(DRAW)
    assert str(model.table).endswith("W=?")
    model.acknowledged(seat.ack(request))
    assert str(model.table) == truth(seat)


def test_an_illegal_move_is_refused_at_once_and_changes_nothing() -> None:
    model = Seat().model()
    before = str(model.table)
    with pytest.raises(IllegalMove, match="the waste is empty"):
        model.play(Move.parse("W>T1"))
    assert (str(model.table), model.outbox) == (before, [])


def test_a_card_that_is_not_known_yet_cannot_be_played() -> None:
    model = Seat().model()
    model.play(DRAW)
    with pytest.raises(IllegalMove, match="not known yet"):
        model.play(Move.parse("W>T1"))


def test_several_moves_may_be_under_way_and_are_settled_in_order() -> None:
    seat = Seat()
    model = seat.model()
    requests = [model.play(DRAW), model.play(DRAW)]
    assert [request.seq for request in requests] == [1, 2]
    for request in requests:
        model.acknowledged(seat.ack(request))
    assert (str(model.table), model.acked) == (truth(seat), 2)


def test_an_answer_that_comes_twice_counts_once() -> None:
    seat = Seat()
    model = seat.model()
    ack = seat.ack(model.play(DRAW))
    model.acknowledged(ack)
    model.acknowledged(ack)
    assert (model.acked, str(model.table)) == (1, truth(seat))


def test_a_refusal_rolls_back_the_move_and_what_stands_on_it() -> None:
    seat = Seat()
    model = seat.model()
    model.acknowledged(seat.ack(model.play(DRAW)))
    certain = str(model.table)
    first, second = model.play(DRAW), model.play(DRAW)
    assert [entry.message for entry in model.refused(first.id)] == [first, second]
    assert (str(model.table), model.outbox, model.acked) == (certain, [], 1)


def test_a_refused_second_move_leaves_the_first() -> None:
    seat = Seat()
    model = seat.model()
    first, second = model.play(DRAW), model.play(DRAW)
    model.refused(second.id)
    model.acknowledged(seat.ack(first))
    assert (str(model.table), model.acked) == (truth(seat), 1)


def test_an_undo_is_shown_at_once_and_can_be_rolled_back() -> None:
    seat = Seat()
    model = seat.model()
    start = str(model.table)
    model.acknowledged(seat.ack(model.play(a_move(model))))
    moved = str(model.table)
    request = model.undo()
    assert str(model.table) == start
    model.refused(request.id)
    assert str(model.table) == moved


def test_a_hash_that_differs_is_out_of_step_until_all_is_taken_anew() -> None:
    seat = Seat()
    model = seat.model()
    ack = seat.ack(model.play(DRAW))
    with pytest.raises(OutOfStep):
        model.acknowledged(ack.model_copy(update={"hash": ack.hash ^ 1}))
    model.resume(seat.seated(have=0))
    assert (model.acked, str(model.table)) == (1, truth(seat))


def test_resuming_folds_in_the_gap() -> None:
    seat = Seat()
    model = seat.model()
    model.acknowledged(seat.ack(model.play(DRAW)))
    for _ in range(3):
        seat.act(DRAW)
    model.resume(seat.seated(have=model.acked))
    assert (model.acked, str(model.table)) == (4, truth(seat))


def test_resuming_without_anything_takes_the_whole_log() -> None:
    seat = Seat()
    move = a_move(seat.model())
    for action in (DRAW, move, UNDO, DRAW):
        seat.act(action)
    model = seat.model()
    assert (model.acked, str(model.table)) == (4, truth(seat))


def test_a_move_whose_answer_was_lost_is_settled_by_the_log() -> None:
    seat = Seat()
    model = seat.model()
    first, second = model.play(DRAW), model.play(DRAW)
    seat.ack(first)
    resumed = model.resume(seat.seated(have=0))
    assert [(ack.id, ack.seq, ack.t_ms) for ack in resumed.settled] == [(first.id, 1, 1000)]
    assert resumed.again == (second,)
    model.acknowledged(seat.ack(second))
    assert str(model.table) == truth(seat)


def test_an_answer_given_by_the_log_is_the_one_that_was_lost() -> None:
    seat = Seat()
    model = seat.model()
    first, second = model.play(DRAW), model.play(a_move(model))
    answers = seat.ack(first), seat.ack(second)
    assert model.resume(seat.seated(have=0)).settled == answers


def test_a_move_that_never_arrived_is_to_be_sent_again() -> None:
    seat = Seat()
    model = seat.model()
    request = model.play(a_move(model))
    before = str(model.table)
    assert model.resume(seat.seated()).again == (request,)
    assert str(model.table) == before


def settle(seat: Seat, model: RaceModel) -> None:
    """Have the server accept the whole outbox."""
    while model.outbox:
        model.acknowledged(seat.ack(model.outbox[0].message))


def played(seat: Seat, actions: int = 5) -> RaceModel:
    """A model with that many acknowledged actions, some of which show cards."""
    model = seat.model()
    for number in range(actions):
        model.play(DRAW if number % 2 == 0 else a_move(model))
        settle(seat, model)
    return model


@pytest.mark.parametrize("kept", range(5))
def test_acknowledged_actions_a_server_lost_are_sent_again_and_stay_shown(kept: int) -> None:
    seat = Seat()
    model = played(seat)
    before = str(model.table)
    seat.forget(after=kept)
    resumed = model.resume(seat.seated(have=model.acked))
    assert (resumed.lost, model.acked, str(model.table)) == (5 - kept, kept, before)
    assert [message.seq for message in resumed.again] == list(range(kept + 1, 6))
    settle(seat, model)
    assert (model.acked, str(model.table), model.table.hash) == (5, before, seat.run.table.hash)


def test_what_was_lost_goes_before_what_was_never_acknowledged() -> None:
    seat = Seat()
    model = played(seat)
    pending = model.play(DRAW)
    seat.forget(after=3)
    resumed = model.resume(seat.seated(have=model.acked))
    assert [message.seq for message in resumed.again] == [4, 5, 6]
    assert resumed.again[-1] == pending
    settle(seat, model)
    assert (model.acked, str(model.table)) == (6, truth(seat))


def test_a_lost_action_that_is_refused_takes_the_rest_with_it() -> None:
    seat = Seat()
    model = played(seat)
    model.play(DRAW)
    seat.forget(after=2)
    first = model.resume(seat.seated(have=model.acked)).again[0]
    assert [entry.message.seq for entry in model.refused(first.id)] == [3, 4, 5, 6]
    assert (model.acked, str(model.table), model.outbox) == (2, truth(seat), [])


def test_a_run_that_went_on_elsewhere_leaves_no_room_for_what_was_lost() -> None:
    seat = Seat()
    model = played(seat)
    model.play(DRAW)
    seat.forget(after=2)
    seat.act(a_move(seat.model()))
    resumed = model.resume(seat.seated(have=model.acked))
    assert (resumed.again, [entry.message.seq for entry in resumed.dropped]) == ((), [3, 4, 5, 6])
    assert (model.acked, str(model.table), model.outbox) == (3, truth(seat), [])


def test_a_move_whose_number_another_took_is_dropped() -> None:
    seat = Seat()
    model = seat.model()
    request = model.play(DRAW)
    seat.act(a_move(seat.model()))
    resumed = model.resume(seat.seated(have=0))
    assert [entry.message for entry in resumed.dropped] == [request]
    assert (resumed.again, resumed.settled) == ((), ())
    assert (model.acked, str(model.table)) == (1, truth(seat))


def test_a_race_that_is_back_before_go_is_played_again_from_the_board() -> None:
    seat = Seat()
    model = played(seat)
    before = str(model.table)
    seat.forget()
    waiting = seat.seated().model_copy(update={"board": None, "hash": 0})
    assert model.resume(waiting).lost == 5
    assert (model.has_begun, model.acked) == (False, 0)
    again = model.begin(seat.board(), seat.run.table.hash)
    assert ([message.seq for message in again], str(model.table)) == ([1, 2, 3, 4, 5], before)
    settle(seat, model)
    assert (model.acked, str(model.table)) == (5, truth(seat))


def test_a_log_that_does_not_fit_changes_nothing() -> None:
    seat = Seat()
    model = played(seat)
    model.play(DRAW)
    before = str(model.table)
    seat.act(DRAW)
    told = seat.seated(have=model.acked)
    with pytest.raises(OutOfStep):
        model.resume(told.model_copy(update={"hash": told.hash ^ 1}))
    assert (model.acked, str(model.table), len(model.outbox)) == (5, before, 1)


def test_a_log_with_a_hole_is_out_of_step() -> None:
    seat = Seat()
    model = played(seat)
    seat.act(DRAW)
    seat.act(DRAW)
    with pytest.raises(OutOfStep, match="action 6 is missing"):
        model.resume(seat.seated(have=6))


def test_an_older_view_of_the_room_changes_nothing() -> None:
    seat = Seat()
    older = seat.view().model_copy(update={"host": 2})
    model = seat.model()
    model.take_view(older)
    assert model.view.host == 1


def test_progress_moves_the_rivals_on() -> None:
    model = Seat().model()
    rival = PlayerView(seat=2, name="ivo", moves=7, home=3, best=4)
    model.take_progress(say.Progress(race=RACE, ver=model.view.ver + 1, players=(rival,)))
    assert model.view.players[1] == rival


@pytest.mark.parametrize("game_id", ["lanes", "single-left", "sally"])
def test_what_is_shown_is_the_truth_whenever_the_outbox_is_empty(game_id: str) -> None:
    """Random play over a link that loses answers and a store that loses actions, refuses and
    resumes; the seed is the game."""
    seat = Seat(game_id, undo=UndoPolicy.FREE)
    model, rng = seat.model(), random.Random(game_id)
    for _ in range(150):
        legal = list(model.table.legal_moves)
        if model.run.can_undo and rng.random() < 0.2:
            model.undo()
        elif legal:
            model.play(rng.choice(legal))
        match rng.randrange(5) if model.outbox else 4:
            case 0:
                while model.outbox:
                    model.acknowledged(seat.ack(model.outbox[0].message))
            case 1:
                seat.ack(model.outbox[0].message)
                model.resume(seat.seated(have=model.acked))
            case 2:
                model.refused(model.outbox[-1].message.id)
            case 3:
                shown = str(model.table)
                seat.forget(after=max(0, len(seat.log) - rng.randrange(4)))
                model.resume(seat.seated(have=model.acked))
                assert str(model.table) == shown
            case _:
                pass
        if not model.outbox:
            assert str(model.table) == truth(seat)
