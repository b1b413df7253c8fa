"""The commit path's connection: order, batches, and what happens when the store goes away."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.discovery import pack
from samedeal_server.store.link import CommitLink
from samedeal_server.store.scripts import Script
from support import Proxy, eventually

COMMIT = Script("commit")


def commit(seq: int) -> bytes:
    """Action `seq` of seat 1 in race `x`; idempotent, like every command of the link."""
    where = (keys.race("x"), keys.seat("x", 1), keys.log("x", 1))
    return pack("EVALSHA", COMMIT.sha, 3, *where, "n", 1, 60_000, seq, "draw", 0, 0, 0, 0, 0)


async def open_race(redis: Redis) -> None:
    key = keys.race("x")
    for field, value in (("phase", "running"), ("go_at", "0"), ("deadline", "9e15")):
        await redis.hset(key, field, value)
    await redis.hset(key, "last_call_s", "60")
    await redis.hset(keys.seat("x", 1), "epoch", "1")


async def ask(link: CommitLink, command: bytes) -> Any:
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    link.submit(command, answer.set_result)
    return await answer


@pytest.fixture
async def link(valkey_url: str, redis: Redis) -> AsyncIterator[CommitLink]:
    await open_race(redis)
    link = CommitLink(StoreAddress.parse(valkey_url), [COMMIT])
    await link.open()
    yield link
    await link.close()


@pytest.fixture
async def proxy(valkey_url: str, redis: Redis) -> Proxy:
    await open_race(redis)
    return Proxy(StoreAddress.parse(valkey_url).nodes[0].path)


def through(port: int, **settings: Any) -> CommitLink:
    address = StoreAddress.parse(f"redis://127.0.0.1:{port}")
    return CommitLink(address, [COMMIT], **{"lanes": 1, "give_up_s": 8.0, **settings})


async def test_each_reply_belongs_to_its_command(link: CommitLink) -> None:
    replies = await asyncio.gather(*(ask(link, pack("ECHO", str(n))) for n in range(500)))
    assert replies == [str(n).encode() for n in range(500)]


async def test_commands_of_one_turn_are_answered_together(valkey_url: str, redis: Redis) -> None:
    link = CommitLink(StoreAddress.parse(valkey_url), [COMMIT], lanes=1)
    await link.open()
    turn, turns, done = 0, [], asyncio.Event()

    def count() -> None:
        nonlocal turn
        turn += 1
        if not done.is_set():
            asyncio.get_running_loop().call_soon(count)

    def answered(_: Any) -> None:
        turns.append(turn)
        if len(turns) == 20:
            done.set()

    asyncio.get_running_loop().call_soon(count)
    for _ in range(20):
        link.submit(pack("PING"), answered)
    await done.wait()
    await link.close()
    # One, unless the replies were cut in two on the way.
    assert len(set(turns)) <= 2


async def test_a_script_the_store_forgot_is_loaded_and_sent_again(
    link: CommitLink, redis: Redis
) -> None:
    await redis.script_flush()
    replies = await asyncio.gather(*(ask(link, commit(seq)) for seq in range(1, 41)))
    assert sum(reply[0] == b"done" for reply in replies) >= 1
    assert all(isinstance(reply, list) for reply in replies)


async def test_an_unknown_script_is_answered_not_repeated_for_ever(link: CommitLink) -> None:
    reply = await ask(link, pack("EVALSHA", "0" * 40, 0))
    assert isinstance(reply, StoreUnavailable)
    assert "NOSCRIPT" in str(reply)


async def test_an_error_reply_is_answered_and_the_link_lives(link: CommitLink) -> None:
    assert isinstance(await ask(link, pack("NONSENSE")), StoreUnavailable)
    assert await ask(link, pack("PING")) == b"PONG"


async def test_a_callback_that_raises_is_logged_and_harms_nobody(
    link: CommitLink, caplog: pytest.LogCaptureFixture
) -> None:
    def raises(_: Any) -> None:
        raise ValueError("of the callback")

    link.submit(pack("PING"), raises)
    assert await ask(link, pack("PING")) == b"PONG"
    await eventually(lambda: "of the callback" in caplog.text)


async def test_a_commit_whose_reply_got_lost_counts_once(proxy: Proxy, redis: Redis) -> None:
    async with proxy as port:
        link = through(port)
        await link.open()
        proxy.lose_replies = True
        answer = asyncio.create_task(ask(link, commit(1)))
        await eventually(lambda: proxy.lost_bytes > 0)
        proxy.lose_replies = False
        proxy.cut()
        reply = await answer
        await link.close()
    assert reply[:2] == [b"again", b"draw"]
    assert await redis.xlen(keys.log("x", 1)) == 1


async def test_commands_survive_cuts_in_any_place(proxy: Proxy, redis: Redis) -> None:
    async with proxy as port:
        link = through(port)
        await link.open()
        for seq in range(1, 301):
            if seq % 50 == 0:
                proxy.cut()
            assert (await ask(link, commit(seq)))[0] in (b"done", b"again")
        await link.close()
    assert await redis.xlen(keys.log("x", 1)) == 300


async def test_a_lane_that_falls_silent_is_replaced(proxy: Proxy) -> None:
    async with proxy as port:
        link = through(port, stall_s=0.2)
        await link.open()
        proxy.lose_replies = True
        answer = asyncio.create_task(ask(link, commit(1)))
        await eventually(lambda: proxy.accepted >= 2)
        proxy.lose_replies = False
        assert (await answer)[0] == b"again"
        await link.close()


async def test_what_is_not_answered_in_time_is_given_up(
    proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    async with proxy as port:
        link = through(port, give_up_s=1.0)
        await link.open()
        proxy.refuse = True
        proxy.cut()
        answers = await asyncio.gather(*(ask(link, commit(seq)) for seq in range(1, 51)))
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        proxy.refuse = False

        async def is_back() -> bool:
            return bool(await ask(link, pack("PING")) == b"PONG")

        await eventually(is_back)
        await link.close()


async def test_beyond_max_pending_the_answer_is_no_at_once(valkey_url: str, redis: Redis) -> None:
    link = CommitLink(StoreAddress.parse(valkey_url), [COMMIT], max_pending=10)
    await link.open()
    replies = await asyncio.gather(*(ask(link, pack("PING")) for _ in range(15)))
    await link.close()
    assert replies[:10] == [b"PONG"] * 10
    assert all(isinstance(reply, StoreUnavailable) for reply in replies[10:])


async def test_a_store_that_turned_read_only_is_waited_for(link: CommitLink, redis: Redis) -> None:
    await redis.replicaof("127.0.0.1", 1)
    answer = asyncio.create_task(ask(link, commit(1)))
    await eventually(lambda: link.pending == 1)
    await redis.replicaof("NO", "ONE")
    assert (await answer)[0] == b"done"


async def test_closing_waits_for_the_replies_under_way(
    valkey_url: str, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    link = CommitLink(StoreAddress.parse(valkey_url), [COMMIT])
    await link.open()
    replies: list[Any] = []
    link.submit(pack("PING"), replies.append)
    await link.close()
    assert replies == [b"PONG"]
    assert not caplog.records, "it waited on, for nothing"
    assert isinstance(await ask(link, pack("PING")), StoreUnavailable)


async def test_closing_gives_up_what_stays_unanswered(
    proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxy as port:
        link = through(port)
        await link.open()
        proxy.lose_replies = True
        answers = [asyncio.create_task(ask(link, commit(seq))) for seq in (1, 2)]
        await eventually(lambda: proxy.lost_bytes > 0)
        await asyncio.gather(link.close(0.1), link.close())
        assert [type(await answer) for answer in answers] == [StoreUnavailable] * 2
    assert link.pending == 0
    assert "with 2 commands open" in caplog.text


async def test_no_store_at_all_is_a_sentence() -> None:
    link = CommitLink(StoreAddress.parse("unix:///nowhere/store.sock"), [], give_up_s=1.0)
    with pytest.raises(StoreUnavailable, match="cannot be reached: No such file"):
        await link.open()
