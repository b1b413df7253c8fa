"""Token buckets: what is allowed at once, in the long run, and what is forgotten."""

import pytest

from samedeal_server.buckets import Bucket, Buckets, Rate
from samedeal_server.settings import parse_rate


def test_a_burst_passes_and_the_next_is_told_how_long_to_wait() -> None:
    bucket = Bucket(Rate(burst=3, per_s=2), now=10.0)
    assert [bucket.take(10.0) for _ in range(3)] == [0, 0, 0]
    assert bucket.take(10.0) == pytest.approx(0.5)
    assert bucket.take(10.25) == pytest.approx(0.25)


def test_after_the_wait_that_was_named_one_more_passes() -> None:
    bucket = Bucket(Rate(burst=1, per_s=4), now=0.0)
    bucket.take(0.0)
    wait_s = bucket.take(0.0)
    assert bucket.take(wait_s) == 0
    assert bucket.take(wait_s) > 0


def test_a_long_pause_fills_no_more_than_a_burst() -> None:
    bucket = Bucket(Rate(burst=2, per_s=100), now=0.0)
    assert [bucket.take(1000.0) == 0 for _ in range(3)] == [True, True, False]


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets = Buckets[str](Rate(burst=1, per_s=1))
    assert buckets.take("a", 0.0) == 0
    assert buckets.take("b", 0.0) == 0
    assert buckets.take("a", 0.0) > 0


def test_full_buckets_are_forgotten_and_the_others_are_not() -> None:
    buckets = Buckets[int](Rate(burst=2, per_s=1))
    for key in range(100):
        buckets.take(key, 0.0)
    assert len(buckets) == 100
    for at in range(100):
        buckets.take(1000, 10.0 + at)
    assert len(buckets) == 1


@pytest.mark.parametrize("text", ["", "5", "5:", ":5", "0:1", "5:0", "5:-1", "nan:1", "5:inf", "x"])
def test_a_rate_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no rate"):
        parse_rate(text)


def test_a_rate_reads_as_burst_and_seconds_or_off() -> None:
    assert parse_rate("400:0.5") == Rate(400, 0.5)
    assert parse_rate("off") is None
