"""`samedeal bench` as its user runs it."""

import json
import subprocess
import sys

import pytest

FIGURES = {
    "acked_moves_per_s",
    "server_cpu_us_per_acked_move",
    "store_cpu_us_per_acked_move",
    "echo_cpu_us_per_message",
    "cpu_ratio",
    "ack_ms_p50",
    "ack_ms_p99",
    "echo_ms_p99",
    "rss_kib_per_connection",
    "engine_us_per_move",
}


WATCHED_FIGURES = {
    "delivered_per_s",
    "ack_ms_p99_unwatched",
    "ack_ms_p99_watched",
    "ack_p99_ratio",
    "server_cpu_us_per_delivery",
    "broadcast_cpu_us_per_delivery",
    "delivery_cpu_ratio",
    "rss_kib_per_spectator",
}


def _bench(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "samedeal_client.cli.main", "bench", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("rate", ["0", "20"], ids=["closed loop", "paced"])
def test_a_small_bench_reports_every_figure_and_acked_moves(rate: str) -> None:
    done = _bench("--races", "2", "--seconds", "1", "--rate", rate, "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures.keys() >= FIGURES
    assert figures["acked_moves_per_s"] > 0


def test_finished_races_reach_the_boards_while_others_race_and_boards_answer() -> None:
    words = ("--boards", "--rows", "2000", "--races", "2", "--seconds", "2")
    done = _bench(*words, "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["booked_runs"] == figures["finished_runs"] > 0
    for name in ("ack_p99_ratio", "top_p50_ratio", "around_p50_ratio"):
        assert figures[name] > 0


def test_a_small_bench_with_a_crowd_delivers_to_all_of_it() -> None:
    done = _bench("--races", "2", "--seconds", "2", "--rate", "10", "--spectators", "5", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert figures.keys() >= WATCHED_FIGURES
    # Two seconds of it, at most four times a second and one for each turn's end, to each of five.
    assert 5 * 4 <= figures["delivered"] <= 5 * 12
    assert figures["delivered"] % 5 == 0


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--spectators", "-1"),
        ("--races", "0"),
        ("--races", "two"),
        ("--rate", "-1"),
        ("--rate", "nan"),
        ("--seconds", "0"),
        ("--rows", "1"),
    ],
)
def test_a_bad_argument_is_refused_in_one_sentence(option: str, value: str) -> None:
    done = _bench(f"{option}={value}")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert option in done.stderr


def test_the_screen_is_measured_from_key_to_picture_among_eight() -> None:
    done = _bench("--screen", "--seconds", "1", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["tracks"] == 8
    assert figures["keys"] >= 3
    assert 0 < figures["pick_ms_p50"] <= figures["pick_ms_max"]
    assert 0 < figures["move_ms_p50"] <= figures["move_ms_max"]
