"""What counts as a store that is away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.faults import translates_faults

if TYPE_CHECKING:
    from collections.abc import Coroutine


@translates_faults
class Calls:
    def __init__(self, path: str) -> None:
        self._path = path

    async def write_on_a_connection_that_ended(self) -> None:
        _, writer = await asyncio.open_unix_connection(self._path)
        writer.close()
        await writer.wait_closed()
        writer.write(b"PING\r\n")

    async def fail(self) -> None:
        raise RuntimeError("of our own making")


def on_uvloop(call: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(call)


async def test_a_write_on_a_connection_that_just_ended_means_that_the_store_is_away(
    valkey_url: str,
) -> None:
    calls = Calls(valkey_url.removeprefix("unix://"))
    with pytest.raises(StoreUnavailable, match="the handler is closed"):
        await asyncio.to_thread(on_uvloop, calls.write_on_a_connection_that_ended())


async def test_a_fault_of_our_own_is_no_fault_of_the_store() -> None:
    with pytest.raises(RuntimeError, match="of our own making"):
        await Calls("").fail()
