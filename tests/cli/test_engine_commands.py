"""The commands that scripts rely on: output and exit codes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys

import pytest

from support import run_cli


def test_games_lists_the_five_first() -> None:
    code, out, _ = run_cli("games")
    ids = [line.split()[0] for line in out.splitlines()]
    assert code == 0
    assert ids[:5] == ["sally", "sally-kings", "acey-and-kingsley", "lanes", "single-left"]


def test_deal_prints_seed_commitment_and_position_as_json() -> None:
    code, out, _ = run_cli("deal", "lanes", "--seed", "0" * 64, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["seed"] == "0" * 64
    assert facts["position"].startswith("F1=AC; F2=AD; F3=AH; F4=AS; T1=QC,3H,7H;")


def test_a_text_seed_deals_the_same_twice_and_random_ones_differ() -> None:
    same = {run_cli("deal", "sally", "--seed", "summer")[1] for _ in range(2)}
    other = {run_cli("deal", "sally")[1] for _ in range(2)}
    assert (len(same), len(other)) == (1, 2)


def test_moves_are_sorted_as_text() -> None:
    assert run_cli("moves", "lanes", "T1=9H; W=8S")[1].splitlines() == sorted(
        run_cli("moves", "lanes", "T1=9H; W=8S")[1].splitlines()
    )


def test_check_says_what_is_missing() -> None:
    code, out, _ = run_cli("check", "lanes", "T1=9H; T3=5S; W=4D", "W>T1")
    assert (code, out) == (1, "illegal: 4D goes on a black 5; column 3 takes it\n")
    assert run_cli("check", "lanes", "T1=9H; W=8S", "W>T1")[:2] == (0, "legal\n")


def test_apply_makes_the_automatic_moves_too() -> None:
    position = "F1=AC; T1=7C; T2=6C; S=AD"
    code, out, _ = run_cli("apply", "single-left", position, "draw")
    assert (code, out) == (0, "F1=AC; F2=AD; T1=7C; T2=6C\n")


def test_apply_stops_at_an_illegal_move() -> None:
    code, out, err = run_cli("apply", "lanes", "T1=9H; W=8S", "W>T1", "W>T2")
    assert (code, out) == (1, "")
    assert "W>T2" in err


def test_a_question_to_the_engine_does_not_wait_for_the_rest_of_the_program() -> None:
    words = ["samedeal", "check", "lanes", "T1=9H; W=8S", "W>T1"]
    asked = (
        f"import sys; sys.argv = {words}; from samedeal_client.cli.main import main; "
        "assert main() == 0; assert 'samedeal.engine' in sys.modules; "
        "assert not {'asyncio', 'pydantic', 'svg', 'textual', 'websockets'} & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "legal\n", "")


@pytest.mark.parametrize(
    "args",
    [
        ["deal", "chess"],
        ["deal", "lanes", "--seed", ""],
        ["moves", "lanes", "T1=9X"],
        ["moves", "lanes", "Q1=9H"],
        ["moves", "sally", "T1=9H"],
        ["moves", "lanes", "T1=9H; T2=9H"],
        ["check", "lanes", "T1=9H", "W>>T1"],
        ["check", "lanes", "T1=9H", "T1:1>T2"],
        ["check", "lanes", "T1=9H", "T1>T7"],
        ["check", "lanes", "T1=9H", "R1>F1"],
        ["apply", "lanes", "T1=9H", "jump"],
        ["apply", "lanes", "T1=9H", "T1>T2", "T2>T17"],
        ["verify", "no-such-file"],
        ["verify", "no\n\x1b[31msuch-file"],
        ["deal", "lanes", "--se\ned", "x"],
        ["verify", os.devnull],
        ["verify", __file__],
        ["dance"],
        ["deal"],
    ],
    ids=" ".join,
)
def test_bad_input_gets_one_sentence_and_exit_code_2(args: list[str]) -> None:
    code, out, err = run_cli(*args)
    assert (code, out) == (2, "")
    assert err.startswith("samedeal: ")
    assert err.removesuffix("\n").isprintable()


def test_an_output_that_is_closed_is_no_fault() -> None:
    deal = f"{shlex.quote(sys.executable)} -m samedeal_client.cli.main deal lanes >&-"
    done = subprocess.run(["sh", "-c", deal], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
