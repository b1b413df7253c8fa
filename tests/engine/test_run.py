"""One player's play of one deal: what counts, what can be undone, what may be told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.run import UNDO, Action, Run, UndoPolicy
from samedeal.engine.table import Table

ACES = "F1=AC; F2=AD; F3=AH; F4=AS"


def run_of(game_id: str, position: str, policy: UndoPolicy = UndoPolicy.SAFE) -> Run:
    return Run(Table.parse(game(game_id), position), policy)


def dealt(game_id: str, seed: int, policy: UndoPolicy = UndoPolicy.SAFE) -> Run:
    return Run(Table.deal(game(game_id), seed.to_bytes(32, "big")), policy)


def play(run: Run, *moves: str) -> None:
    """Play moves or undos one second after the other."""
    for text in moves:
        t_ms = (run.seq + 1) * 1000
        if text == "undo":
            run.undo(t_ms)
        else:
            run.play(Move.parse(text), t_ms)


def everything(run: Run) -> tuple[object, ...]:
    """All that an action may change."""
    return (
        str(run.table),
        run.table.hash,
        [(step.move, step.is_revealing) for step in run.table.history],
        (run.seq, run.moves, run.home, run.best, run.opened, run.lows),
        (run.t_best_ms, run.m_best, run.t_last_ms, run.t_won_ms, run.is_won),
        (run.draws_in_a_row, run.can_undo, run.undo_refusal),
    )


def some_actions(run: Run, rng: random.Random) -> Iterator[Action]:
    """Choose legal actions at random for ever, undos among them where they are allowed."""
    while not run.is_won:
        actions: list[Action] = sorted(run.table.legal_moves, key=str)
        if run.can_undo:
            actions += [UNDO] * (1 + len(actions) // 4)
        if not actions:
            return
        yield rng.choice(actions)


def refusal(run: Run, action: Action) -> str | None:
    try:
        run.check(action)
    except IllegalMove as error:
        return error.sentence
    return None


def do(run: Run, action: Action, t_ms: int, reveals: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Play or undo, and return what was turned up by a move."""
    if action is UNDO:
        run.undo(t_ms)
        return ()
    return run.play(action, t_ms, reveals).reveals


# What counts


def test_a_run_starts_with_nothing_done() -> None:
    run = dealt("lanes", 1)
    assert (run.seq, run.moves, run.best, run.opened) == (0, 0, 0, 0)
    assert (run.t_best_ms, run.m_best, run.t_last_ms, run.draws_in_a_row) == (0, 0, 0, 0)


def test_every_action_is_one_move_whatever_it_is() -> None:
    run = run_of("sally", "base=A; T1=5C,4D,3S; T2=6D; S=9C")
    play(run, "T1:3>T2")
    assert run.moves == 1
    play(run, "undo")
    assert run.moves == 2
    play(run, "draw")
    assert run.moves == 3
    play(run, "draw")
    assert str(run.table).endswith("S=9C")
    assert (run.moves, run.seq) == (4, 4)


def test_automatic_cards_come_home_without_counting_as_moves() -> None:
    run = run_of("single-left", "F2=AD; F3=AH; T1=2C,AC; S=5H")
    play(run, "draw")
    assert run.moves == 1
    assert run.home == 4


def test_a_refused_move_changes_nothing() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD")
    play(run, "T1>F1")
    before = everything(run)
    with pytest.raises(IllegalMove):
        run.play(Move.parse("T1>T2"), 9000)
    assert everything(run) == before


def test_a_refused_undo_changes_nothing() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C", UndoPolicy.NONE)
    play(run, "T1>F1")
    before = everything(run)
    with pytest.raises(IllegalMove):
        run.undo(9000)
    assert everything(run) == before


def test_undo_keeps_best_and_opened_and_when_they_were_reached() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD")
    opened = run.opened
    play(run, "T1>F1", "undo")
    assert run.home == 0
    assert (run.best, run.opened) == (1, opened + 1)
    assert (run.t_best_ms, run.m_best) == (1000, 1)


def test_reaching_the_same_state_again_does_not_make_it_later() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD")
    play(run, "T1>F1", "undo", "T1>F1")
    assert (run.best, run.t_best_ms, run.m_best) == (1, 1000, 1)


def test_best_is_kept_while_play_goes_on_after_an_undo() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD; S=5H")
    play(run, "T1>F1", "undo", "draw")
    assert (run.home, run.best, run.t_best_ms) == (0, 1, 1000)


def test_opening_alone_moves_the_time_of_the_best_state() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD; T3=2C")
    play(run, "T3>F1", "T1>T2")
    assert (run.best, run.t_best_ms, run.m_best) == (1, 2000, 2)


def test_what_was_opened_before_an_undo_and_after_it_adds_up() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD; T3=5H; T4=6C")
    opened = run.opened
    play(run, "T1>T2", "undo", "T3>T4")
    assert run.opened == opened + 2
    assert run.lows[:4] == (0, 1, 0, 1)


def test_draws_in_a_row_count_draws_and_turn_overs_only() -> None:
    run = run_of("sally", "base=A; T1=9S; T2=TD; S=9C,JC", UndoPolicy.FREE)
    play(run, "draw", "draw", "draw")
    assert run.draws_in_a_row == 3
    play(run, "T1>T2")
    assert run.draws_in_a_row == 0
    play(run, "draw", "undo")
    assert run.draws_in_a_row == 0


# The end


def almost_won(policy: UndoPolicy = UndoPolicy.FREE) -> Run:
    suits = "; ".join(
        f"F{number}={','.join(rank + suit for rank in 'A23456789TJQK')}"
        for number, suit in enumerate("CDH", start=1)
    )
    spades = ",".join(rank + "S" for rank in "A23456789TJQ")
    return run_of("lanes", f"{suits}; F4={spades}; T1=KS", policy)


def test_a_win_ends_the_run_at_its_time() -> None:
    run = almost_won()
    assert run.t_won_ms is None
    play(run, "T1>F4")
    assert run.is_won
    assert run.t_won_ms == 1000
    assert run.outcome(3).t_ms == 1000


@pytest.mark.parametrize("action", [UNDO, DRAW, Move.parse("F4>T1")], ids=str)
def test_after_a_win_nothing_is_accepted(action: Action) -> None:
    run = almost_won()
    play(run, "T1>F4")
    before = everything(run)
    with pytest.raises(IllegalMove, match="the run is over"):
        run.check(action)
    with pytest.raises(IllegalMove, match="the run is over"):
        do(run, action, 2000)
    assert everything(run) == before


def test_a_win_that_is_taken_back_can_be_played_again() -> None:
    run = almost_won()
    before = everything(run)
    play(run, "T1>F4")
    run.take_back()
    assert everything(run) == before
    play(run, "T1>F4")
    assert run.is_won


def test_an_outcome_says_whether_there_was_any_move() -> None:
    run = dealt("lanes", 1)
    assert not run.outcome(2).has_moved
    run.play(DRAW, 500)
    outcome = run.outcome(2)
    assert (outcome.seat, outcome.has_moved, outcome.has_won, outcome.moves) == (2, True, False, 1)


# Undo


def test_safe_undo_takes_back_plain_moves_one_after_the_other() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD; T3=5H; T4=6C")
    start = str(run.table)
    play(run, "T1>T2", "T3>T4", "undo", "undo")
    assert str(run.table) == start
    assert run.moves == 4


def test_safe_undo_stops_at_a_draw() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD; S=KC")
    play(run, "draw", "T1>T2", "undo")
    assert not run.can_undo
    assert run.undo_refusal == "the last move turned up a card, so it stands"


def test_safe_undo_stops_at_a_turn_over() -> None:
    run = run_of("sally", "base=A; W=9C,8C")
    play(run, "draw")
    assert not run.can_undo


def test_safe_undo_stops_at_an_exposed_card() -> None:
    run = run_of("sally", "base=A; T1=KC-,9S; T2=TD")
    play(run, "T1>T2")
    assert not run.can_undo


def test_safe_undo_stops_at_a_card_exposed_by_an_automatic_move() -> None:
    run = run_of("single-left", "F1=AC; F2=AD; F3=AH; T1=KS-,2S; T4=TD,AS")
    play(run, "T4>F4")
    assert str(run.table.history[-1].automatic[0]) == "T1>F4"
    assert run.table.history[-1].is_revealing
    assert not run.can_undo


def test_free_undo_goes_back_to_the_deal_and_no_further() -> None:
    run = dealt("sally", 5, UndoPolicy.FREE)
    start = str(run.table)
    play(run, "draw", "draw", "undo", "undo")
    assert str(run.table) == start
    assert run.undo_refusal == "there is nothing to undo"


def test_no_undo_where_it_is_switched_off() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD", UndoPolicy.NONE)
    play(run, "T1>T2")
    assert run.undo_refusal == "undo is switched off here"


def test_an_undo_is_not_undone_by_the_next_but_goes_further_back() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD; T3=5H; T4=6C")
    play(run, "T1>T2", "T3>T4", "undo")
    assert run.can_undo
    play(run, "undo")
    assert not run.can_undo
    assert run.undo_refusal == "there is nothing to undo"


def test_steps_from_before_the_run_cannot_be_undone() -> None:
    table = Table.parse(game("lanes"), f"{ACES}; T1=9S; T2=TD")
    table.push(Move.parse("T1>T2"))
    assert not Run(table, UndoPolicy.FREE).can_undo


# Taking back


def test_there_is_nothing_to_take_back_before_the_first_action() -> None:
    with pytest.raises(IndexError):
        dealt("lanes", 1).take_back()


def test_taking_back_a_step_that_was_undone_and_restored_restores_best_and_opened() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD")
    before = everything(run)
    play(run, "T1>F1", "undo")
    run.take_back()
    run.take_back()
    assert everything(run) == before


def test_the_time_that_counts_is_named_afterwards_and_moves_that_of_the_best_along() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S,2C; T2=KD; S=5H")
    play(run, "T1>F1")
    run.settle(1234)
    assert (run.t_last_ms, run.t_best_ms, run.m_best) == (1234, 1234, 1)
    play(run, "draw")
    run.settle(5678)
    assert (run.t_last_ms, run.t_best_ms, run.m_best) == (5678, 1234, 1)
    with pytest.raises(IndexError):
        run.take_back()
    assert (run.seq, run.t_last_ms) == (2, 5678)


@pytest.mark.parametrize("policy", UndoPolicy)
@pytest.mark.parametrize("game_id", GAMES)
@settings(max_examples=8, deadline=None)
@given(number=st.integers(0, 2**32))
def test_taking_back_is_the_exact_inverse_of_every_action(
    game_id: str, policy: UndoPolicy, number: int
) -> None:
    note(f"seed {number}")
    rng = random.Random(number)
    run = dealt(game_id, number, policy)
    past = [everything(run)]
    for action in islice(some_actions(run, rng), 50):
        do(run, action, t_ms=len(past) * 700)
        past.append(everything(run))
        if rng.random() < 0.1:
            for _ in range(rng.randrange(len(past))):
                past.pop()
                run.take_back()
                assert everything(run) == past[-1]
    while len(past) > 1:
        past.pop()
        run.take_back()
        assert everything(run) == past[-1]


# Both sides


@pytest.mark.parametrize("game_id", GAMES)
@settings(max_examples=8, deadline=None)
@given(number=st.integers(0, 2**32))
def test_a_run_on_the_view_tells_the_same_as_the_run_on_the_full_table(
    game_id: str, number: int
) -> None:
    note(f"seed {number}")
    rng = random.Random(number)
    full = dealt(game_id, number, UndoPolicy.FREE)
    view = Run(full.table.view(), UndoPolicy.FREE)
    for action in islice(some_actions(full, rng), 60):
        t_ms = full.t_last_ms + rng.randrange(900)
        view.check(action)
        if rng.random() < 0.5:
            do(view, action, t_ms)  # shown before the server answered
            view.take_back()
        do(view, action, t_ms, do(full, action, t_ms))
        assert view.outcome(1) == full.outcome(1)
        assert view.table.hash == full.table.hash
        assert (view.lows, view.home, view.seq) == (full.lows, full.home, full.seq)
        assert (view.undo_refusal, view.draws_in_a_row) == (
            full.undo_refusal,
            full.draws_in_a_row,
        )


@pytest.mark.parametrize("game_id", GAMES)
@settings(max_examples=5, deadline=None)
@given(number=st.integers(0, 2**32))
def test_check_refuses_exactly_what_play_refuses(game_id: str, number: int) -> None:
    note(f"seed {number}")
    rng = random.Random(number)
    run = dealt(game_id, number)
    piles = [f"{kind}{index}" for kind in "FTR" for index in range(1, 10)] + ["W", "S"]
    for action in islice(some_actions(run, rng), 25):
        do(run, action, 1000 * run.seq)
        wild = Move.parse(f"{rng.choice(piles[:-1])}>{rng.choice(piles[:18])}")
        if refusal(run, wild) is None:
            run.play(wild, 1000 * run.seq)
        else:
            with pytest.raises(IllegalMove) as error:
                run.play(wild, 1000 * run.seq)
            assert error.value.sentence == refusal(run, wild)


# Stuck

NOTHING_FITS = "base=A; T1=9S; T2=2D; S=5C,6C"
"""One draw turns both cards, the next turns over: two draws are a whole pass."""


def test_without_stock_and_waste_the_player_sees_that_nothing_is_left() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=4H; T3=KC; T4=7D; T5=JC; T6=TS")
    assert run.is_known_stuck
    assert run.is_stuck_for_good


def test_a_player_with_a_move_left_is_not_stuck() -> None:
    run = run_of("lanes", f"{ACES}; T1=9S; T2=TD")
    assert not run.is_known_stuck
    assert not run.is_stuck_for_good


def test_a_stuck_player_is_not_told_before_the_whole_pass_was_seen() -> None:
    run = run_of("sally", NOTHING_FITS)
    assert run.table.is_stuck
    told = [run.is_known_stuck]
    for _ in range(3):
        play(run, "draw")
        told.append(run.is_known_stuck)
    assert told == [False, False, True, True]


def test_an_undo_in_between_starts_the_pass_again() -> None:
    run = run_of("sally", NOTHING_FITS, UndoPolicy.FREE)
    play(run, "draw", "undo", "draw")
    assert not run.is_known_stuck
    play(run, "draw")
    assert run.is_known_stuck


def test_a_whole_pass_of_draws_tells_nothing_while_a_move_is_left() -> None:
    run = run_of("sally", "base=A; T1=9S; T2=2D; S=8H,5C")
    play(run, *["draw"] * 6)
    assert not run.is_known_stuck
    assert not Run(run.table.view(), UndoPolicy.SAFE).is_known_stuck


def test_a_view_waits_until_turns_of_several_cards_have_come_round() -> None:
    # The pass begins with one card in the waste, so 8H is on top only after the turn-over.
    full = run_of("sally", "base=A; T1=9S; T2=2D; W=5C; S=6C,5C,6S,8H,6C")
    view = Run(full.table.view(), UndoPolicy.SAFE)
    for t_ms in range(3):
        view.play(DRAW, t_ms, full.play(DRAW, t_ms).reveals)
    assert not full.is_known_stuck
    assert not view.is_known_stuck
    assert DRAW in full.table.legal_moves
    full.play(DRAW, 4)
    assert Move.parse("W>T1") in full.table.legal_moves


def test_what_a_player_is_told_does_not_depend_on_cards_not_yet_seen() -> None:
    # The one deal is stuck and the other is not: until the card that tells them apart was
    # turned up, the player must be told the same.
    stuck = run_of("sally", "base=A; T1=9S; T2=2D; S=5C,6C,7S,8S")
    free = run_of("sally", "base=A; T1=9S; T2=2D; S=8H,6C,7S,8S")
    assert stuck.table.is_stuck
    assert not free.table.is_stuck
    assert stuck.table.hash == free.table.hash
    assert stuck.is_known_stuck == free.is_known_stuck
    play(stuck, "draw")
    play(free, "draw")
    assert stuck.table.hash == free.table.hash
    assert stuck.is_known_stuck == free.is_known_stuck
    play(stuck, "draw", "draw")
    play(free, "draw", "draw")
    assert stuck.is_known_stuck
    assert not free.is_known_stuck


def test_looking_whether_it_is_stuck_changes_nothing() -> None:
    run = run_of("sally", NOTHING_FITS, UndoPolicy.FREE)
    view = Run(run.table.view(), UndoPolicy.FREE)
    for t_ms in range(4):
        view.play(DRAW, t_ms, run.play(DRAW, t_ms).reveals)
        before, seen = everything(run), everything(view)
        assert run.is_stuck_for_good
        assert view.is_known_stuck == run.is_known_stuck
        assert (everything(run), everything(view)) == (before, seen)


@settings(max_examples=40, deadline=None)
@given(number=st.integers(0, 2**32))
def test_a_view_says_stuck_only_where_the_full_table_does(number: int) -> None:
    note(f"seed {number}")
    rng = random.Random(number)
    deck = [rank + suit for rank in "A23456789TJQK" for suit in "CDHS"]
    rng.shuffle(deck)
    columns = "; ".join(f"T{index}={deck.pop()}" for index in range(1, 10))
    stock, waste = deck[: rng.randrange(1, 9)], deck[20 : 20 + rng.randrange(1, 9)]
    full = run_of("sally", f"base=A; {columns}; W={','.join(waste)}; S={','.join(stock)}")
    view = Run(full.table.view(), UndoPolicy.SAFE)
    told = False
    for t_ms in range(16):
        view.play(DRAW, t_ms, full.play(DRAW, t_ms).reveals)
        told = view.is_known_stuck
        assert full.is_known_stuck or not told
    assert told == full.is_known_stuck


@pytest.mark.parametrize(
    ("policy", "is_final"),
    [(UndoPolicy.SAFE, False), (UndoPolicy.NONE, True), (UndoPolicy.FREE, False)],
    ids=str,
)
def test_a_plain_move_into_a_dead_end_is_final_only_without_undo(
    policy: UndoPolicy, is_final: bool
) -> None:
    run = run_of("sally", "base=A; F1=AD; T1=9S,2D; T2=9C", policy)
    assert not run.is_stuck_for_good
    play(run, "T1>F1")
    assert run.table.is_stuck
    assert run.is_known_stuck
    assert run.is_stuck_for_good == is_final


@pytest.mark.parametrize(
    ("policy", "is_final"),
    [(UndoPolicy.SAFE, True), (UndoPolicy.NONE, True), (UndoPolicy.FREE, False)],
    ids=str,
)
def test_a_draw_buries_the_way_out_for_good_unless_undo_is_free(
    policy: UndoPolicy, is_final: bool
) -> None:
    # The waste's 8H fits on 9S until the last card of the only pass lies on it.
    position = f"{ACES}; T1=9S; T2=4D; T3=4H; T4=TC; T5=QD; T6=QH; W=8H; S=KC"
    run = run_of("lanes", position, policy)
    assert not run.is_stuck_for_good
    play(run, "draw")
    assert run.table.is_stuck
    assert run.is_known_stuck
    assert run.is_stuck_for_good == is_final
