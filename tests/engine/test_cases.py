"""Positions, deals and counts made by an implementation that shares nothing with this one."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from samedeal.engine.deals import commitment, parse_seed
from samedeal.engine.games import game
from samedeal.engine.moves import Move
from samedeal.engine.table import Table

CASES = Path(__file__).parent / "cases"


def rows(name: str) -> list[dict[str, str]]:
    with (CASES / name).open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("case", rows("rules.tsv"), ids=lambda case: case["id"])
def test_the_rules_say_what_the_case_says(case: dict[str, str]) -> None:
    table = Table.parse(game(case["game"]), case["position"])
    move = Move.parse(case["move"])
    legal = case["expected"] == "legal"
    assert (move in table.legal_moves, move in list(table.legal_moves)) == (legal, legal)
    assert (table.refusal(move) is None) == legal


@pytest.mark.parametrize("case", rows("deals.tsv"), ids=lambda c: f"{c['game']}-{c['seed'][:4]}")
def test_a_seed_deals_its_position_and_commits_to_it(case: dict[str, str]) -> None:
    rules, seed = game(case["game"]), parse_seed(case["seed"])
    assert not seed.is_practice
    assert str(Table.deal(rules, seed.value)) == case["position"]
    assert str(Table.parse(rules, case["position"])) == case["position"]
    assert commitment(rules, seed.value) == case["commitment"]


@pytest.mark.parametrize(
    "case", rows("perft.tsv"), ids=lambda c: f"{c['game']}-{c['seed'][:4]}-{c['depth']}"
)
def test_as_many_move_sequences_as_were_counted(case: dict[str, str]) -> None:
    table = Table.deal(game(case["game"]), parse_seed(case["seed"]).value)
    assert sequences(table, int(case["depth"])) == int(case["move_sequences"])


def sequences(table: Table, depth: int) -> int:
    """Count the lines of `depth` moves; a won position ends its line."""
    if depth == 0 or table.is_won:
        return 1
    count = 0
    for move in list(table.legal_moves):
        table.push(move)
        count += sequences(table, depth - 1)
        table.pop()
    return count
