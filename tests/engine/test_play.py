"""What holds on any table, however it was played: random play of every game."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from samedeal.engine.cards import HIDDEN
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.table import Table

every_game = pytest.mark.parametrize("game_id", GAMES)
numbers = st.integers(0, 2**32)


def dealt(game_id: str, number: int) -> Table:
    note(f"seed {number.to_bytes(32, 'big').hex()}")
    return Table.deal(game(game_id), number.to_bytes(32, "big"))


def played(table: Table, rng: random.Random, most: int) -> Iterator[Move]:
    """Yield random legal moves, home and out of the columns rather than a draw, until it ends."""
    for _ in range(most):
        moves = sorted(table.legal_moves, key=str)
        if not moves or table.is_won:
            return
        home = [move for move in moves if move.target[0] == "F" and move.source[0] != "F"]
        yield rng.choice(home if home and rng.random() < 0.5 else moves)


def wild_moves(table: Table, rng: random.Random, most: int) -> list[Move]:
    """Moves between any piles of the game, and one pile it lacks; few are legal."""
    names = [name for name, _ in table.rules.piles] + ["T19"]
    return [
        Move(rng.choice(names), rng.choice(names), rng.choice((1, 1, 1, 2, 3, 14)))
        for _ in range(most)
    ]


def everything(table: Table) -> tuple[object, ...]:
    """All that a step may change."""
    counts = (table.home, table.best, table.opened, table.lows, table.passes, table.base)
    return (str(table), table.hash, counts, table.piles(), table.is_won, len(table.history))


def seen(table: Table) -> tuple[object, ...]:
    """All that the player of this table can see."""
    return (str(table.view()), *everything(table)[1:], set(table.legal_moves))


@every_game
@settings(max_examples=10, deadline=None)
@given(number=numbers)
def test_no_card_is_lost_or_doubled(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    for move in played(table, rng, 60):
        table.push(move)
        cards = Counter(
            word.rstrip("-")
            for part in str(table).split("; ")
            for word in part.partition("=")[2].split(",")
            if len(word.rstrip("-")) == 2
        )
        assert set(cards.values()) == {table.rules.packs}
        assert len(cards) == 52


@every_game
@settings(max_examples=10, deadline=None)
@given(number=numbers)
def test_pop_is_the_exact_inverse_of_push(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    past = [everything(table)]
    steps = []
    for move in played(table, rng, 60):
        steps.append(table.push(move))
        assert table.history[-1] is steps[-1]
        past.append(everything(table))
        if rng.random() < 0.1:
            for _ in range(rng.randrange(1, len(past))):
                assert table.pop() is steps.pop()
                past.pop()
                assert everything(table) == past[-1]
    while steps:
        assert table.pop() is steps.pop()
        past.pop()
        assert everything(table) == past[-1]
    with pytest.raises(IndexError):
        table.pop()


@every_game
@settings(max_examples=10, deadline=None)
@given(number=numbers)
def test_a_table_and_its_view_are_read_back_as_they_were_written(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    for move in played(table, rng, 40):
        table.push(move)
        again, view = Table.parse(table.rules, str(table)), table.view()
        assert str(again) == str(table)
        assert (again.hash, again.home) == (table.hash, table.home)
        assert str(Table.parse(table.rules, str(view))) == str(view)
        assert Move.parse(str(move)) == move
        wire = Table.from_piles(
            table.rules,
            table.piles(),
            base=table.base,
            passes=table.passes,
            best=table.best,
            lows=table.lows,
        )
        assert everything(wire)[:5] == everything(view)[:5]


@every_game
@settings(max_examples=12, deadline=None)
@given(number=numbers)
def test_a_view_follows_the_full_table_by_what_is_revealed(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    view = table.view()
    start = seen(view)
    for move in played(table, rng, 80):
        assert seen(view)[:-2] == seen(table)[:-2]
        assert seen(view)[-1] == seen(table)[-1]
        assert str(view) == str(table.view())
        for wild in wild_moves(table, rng, 4):
            assert view.refusal(wild) == table.refusal(wild)
        step = table.push(move)
        assert HIDDEN not in step.reveals
        assert view.push(move, step.reveals) == step
        if rng.random() < 0.1:
            assert view.pop() == table.pop() == step
            assert view.hash == table.hash
    while view.history:
        view.pop()
    assert seen(view) == start


@every_game
@settings(max_examples=12, deadline=None)
@given(number=numbers)
def test_hidden_cards_decide_nothing(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    for move in islice(played(table, rng, 60), rng.randrange(60)):
        table.push(move)
    other = Table.parse(table.rules, with_other_hidden_cards(str(table), rng))
    assert str(other.view()) == str(table.view())
    assert (other.hash, other.home) == (table.hash, table.home)
    assert list(other.legal_moves) == list(table.legal_moves)
    assert other.is_stuck_visibly == table.is_stuck_visibly
    assert other.pass_length == table.pass_length
    for wild in [DRAW, *wild_moves(table, rng, 60)]:
        assert other.refusal(wild) == table.refusal(wild)


def with_other_hidden_cards(position: str, rng: random.Random) -> str:
    """Shuffle the face-down cards and the stock of a full position among each other."""
    parts = [part.split("=") for part in position.split("; ")]
    hidden = [
        word.rstrip("-")
        for name, cards in parts
        for word in cards.split(",")
        if word.endswith("-") or name == "S"
    ]
    rng.shuffle(hidden)
    written = []
    for name, cards in parts:
        words = [
            hidden.pop() + word[2:] if word.endswith("-") or name == "S" else word
            for word in cards.split(",")
        ]
        written.append(f"{name}={','.join(words)}")
    assert not hidden
    return "; ".join(written)


@every_game
@settings(max_examples=8, deadline=None)
@given(number=numbers)
def test_a_step_says_what_became_visible(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    for move in played(table, rng, 60):
        before = visible(table)
        turns_over = move == DRAW and not table.face_down("S")
        step = table.push(move)
        if turns_over:
            assert step.reveals == ()
        else:
            assert Counter(step.reveals) == visible(table) - before
        assert step.is_revealing == (bool(step.reveals) or turns_over)


def visible(table: Table) -> Counter[int]:
    return Counter(card for _, cards in table.piles() for card in cards)


@every_game
@settings(max_examples=8, deadline=None)
@given(number=numbers)
def test_records_only_grow(game_id: str, number: int) -> None:
    table, rng = dealt(game_id, number), random.Random(number)
    sizes = (*table.rules.columns, *[table.rules.reserve_size] * table.rules.reserves)
    for move in played(table, rng, 60):
        best, opened = table.best, table.opened
        table.push(move)
        assert table.best == max(best, table.home)
        assert table.opened >= opened
        assert table.opened == sum(sizes) - sum(table.lows)
