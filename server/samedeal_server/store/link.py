"""The commit path: many small scripts, one write a loop turn, no task each.

A redis-py pipeline costs more than the commit itself, so this path packs commands and reads
replies on connections of its own, its lanes. Everything else goes through redis-py.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from samedeal_server.errors import StoreUnavailable
from samedeal_server.store.address import Node, StoreAddress, Topology
from samedeal_server.store.discovery import SLOTS, Sentinels, named, read_slots
from samedeal_server.store.lane import Command, Lane, LaneSettings, OnReply
from samedeal_server.store.scripts import Script

__all__ = ["CommitLink", "OnReply"]

_log = logging.getLogger(__name__)

_MAX_HOPS = 3
"""A command that nodes send on so often at once waits until they agree."""
_REROUTE_S = 0.1
"""About how long a command without a node waits before it is tried again."""
_WATCH_S = 1.0
"""Sentinels are asked so often who the primary is: a demoted one may not know it for seconds."""
_MAP_S = 0.25
"""A cluster is asked who serves what about so often, and not more."""


class CommitLink:
    """Send idempotent scripts to the store and hand each reply to its callback.

    What is unanswered when a connection breaks is sent again on the next one, in order. A command
    that stays unanswered for `give_up_s` is answered StoreUnavailable: it may still take effect.
    A lane that owes a reply and says nothing for `stall_s` counts as broken. Two lanes carry half
    as much again as one when saturated, and cost no more at low load; a cluster has them to each
    primary. With `min_replicas` a reply is handed on when so many replicas have the write.
    """

    def __init__(
        self,
        address: StoreAddress,
        scripts: Sequence[Script],
        *,
        lanes: int = 2,
        min_replicas: int = 0,
        give_up_s: float = 8.0,
        stall_s: float = 3.0,
        max_pending: int = 10_000,
    ) -> None:
        self._address = address
        self._settings = LaneSettings(address, scripts, stall_s, min_replicas)
        self._lanes = lanes
        self._give_up_s = give_up_s
        self._max_pending = max_pending
        self._patrol_s = min(give_up_s, stall_s) / 4
        self._shards: dict[Node, _Shard] = {}
        self._owners: list[_Shard | None] = [None] * SLOTS
        """Who serves each slot; where there is no cluster, one store serves them all."""
        self._adrift: deque[Command] = deque()
        """Commands of slots that nobody serves, or that are put off."""
        self._rerouting: asyncio.TimerHandle | None = None
        self._map_wanted = asyncio.Event()
        self._map_known = asyncio.Event()
        self._map_failure = "no answer"
        self._watcher: asyncio.Task[None] | None = None
        """Keeps up with the sentinels, or with the slots of the cluster."""
        self._leaving: set[asyncio.Task[None]] = set()
        self._pending = 0
        self._patrol: asyncio.TimerHandle | None = None
        self._closed = True
        self._drained: asyncio.Future[None] | None = None
        """What a closing link waits for."""
        self._loop: asyncio.AbstractEventLoop

    @property
    def pending(self) -> int:
        """Commands that were submitted and not answered yet."""
        return self._pending

    async def open(self) -> None:
        """Connect every lane. Raise StoreUnavailable if that takes longer than `give_up_s`."""
        self._loop = asyncio.get_running_loop()
        self._closed = False
        try:
            async with asyncio.timeout(self._give_up_s):
                if self._address.topology is Topology.CLUSTER:
                    self._map_wanted.set()
                    self._watcher = asyncio.create_task(self._keep_map(), name="slot map")
                    await self._map_known.wait()
                elif self._address.topology is Topology.SENTINEL:
                    sentinels = Sentinels(self._address)
                    only = self._serve_all(sentinels.primary)
                    self._watcher = asyncio.create_task(self._watch(sentinels, only))
                else:
                    self._serve_all(_always(self._address.nodes[0]))
                for shard in list(self._shards.values()):
                    await shard.until_up()
        except TimeoutError:
            shards = self._shards.values()
            why = next((shard.failure for shard in shards if shard.failure), self._map_failure)
            await self.close(0)
            raise StoreUnavailable(f"the store cannot be reached: {why}") from None

    async def close(self, limit_s: float = 2.0) -> None:
        """Take no more commands, wait for the replies under way, give the rest up."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._pending:
                self._drained = self._loop.create_future()
                await asyncio.wait_for(self._drained, limit_s)
        except TimeoutError:
            _log.warning("closing the link to the store with %d commands open", self._pending)
        finally:
            if self._watcher is not None:
                self._watcher.cancel()
                await asyncio.wait([self._watcher])
            while self._shards:
                await self._shards.popitem()[1].stop()
            if self._leaving:
                await asyncio.wait(self._leaving)
            for timer in (self._patrol, self._rerouting):
                if timer is not None:
                    timer.cancel()
            self._patrol = self._rerouting = None
            while self._adrift:
                self._give_up(self._adrift.popleft(), "the server is closing")

    def submit(self, command: bytes, on_reply: OnReply, *, slot: int = 0) -> None:
        """Send a packed command in this turn of the loop; `on_reply` is called in a later one.

        The callbacks of the replies that arrive together run in one turn, in the order of the
        replies. In a cluster the slot of its keys says where a command goes. Never raises: a full
        or closed link answers StoreUnavailable.
        """
        if self._closed or self._pending >= self._max_pending:
            why = "the server is closing" if self._closed else "too many moves wait for the store"
            self._loop.call_soon(_tell, on_reply, StoreUnavailable(why))
            return
        self._pending += 1
        self._route(Command(command, on_reply, self._loop.time() + self._give_up_s, slot))
        if self._patrol is None:
            self._patrol = self._loop.call_later(self._patrol_s, self._look_after)

    def _route(self, command: Command) -> None:
        shard = self._owners[command.slot]
        if shard is None:
            self._put_off(command)
        else:
            shard.take(command)

    # What follows is for the shards.

    def settle(self, command: Command, reply: Any) -> None:
        """Answer a command for good."""
        on_reply, command.on_reply = command.on_reply, None
        if on_reply is None:
            return
        self._pending -= 1
        if self._drained is not None and not self._pending and not self._drained.done():
            self._drained.set_result(None)
        _tell(on_reply, reply)

    def route_again(self, commands: Sequence[Command]) -> None:
        """Find a new place for the commands of a shard that is none any more."""
        for command in commands:
            if command.on_reply is not None:
                self._put_off(command)

    def redirect(self, command: Command, told: str, teller: Node) -> None:
        """Follow MOVED and ASK at once, TRYAGAIN a little later."""
        if command.on_reply is None:
            return
        if self._address.topology is not Topology.CLUSTER:
            why = f"the store is part of a cluster ({told}); name it by redis+cluster://"
            self.settle(command, StoreUnavailable(why))
            return
        command.hops += 1
        word, _, rest = told.partition(" ")
        if word == "TRYAGAIN" or command.hops > _MAX_HOPS:
            self._map_wanted.set()
            self._put_off(command)
            return
        slot, _, where = rest.partition(" ")
        host, _, port = where.rpartition(":")
        shard = self._shard(named(host.encode(), int(port), teller))
        if word == "MOVED":
            self._owners[int(slot)] = shard
            self._map_wanted.set()
            shard.take(command)
        else:
            shard.take_asking(command)

    def lost(self) -> None:
        """A primary is out of reach: its slots may be served elsewhere soon."""
        self._map_wanted.set()

    # Who serves what

    def _serve_all(self, find: Callable[[], Awaitable[Node]]) -> "_Shard":
        """Have one store serve every slot."""
        shard = _Shard(self, find, self._lanes, self._settings)
        self._shards[self._address.nodes[0]] = shard
        self._owners = [shard] * SLOTS
        return shard

    async def _watch(self, sentinels: Sentinels, only: "_Shard") -> None:
        """Leave a primary as soon as the sentinels have another one."""
        while True:
            await asyncio.sleep(_WATCH_S * random.uniform(0.5, 1.0))
            primary = await sentinels.agreed()
            if primary is not None:
                for lane in only.lanes:
                    lane.leave_unless(primary)

    def _shard(self, node: Node) -> "_Shard":
        shard = self._shards.get(node)
        if shard is None:
            self._shards[node] = shard = _Shard(self, _always(node), self._lanes, self._settings)
        return shard

    async def _keep_map(self) -> None:
        """Ask the cluster who serves what, whenever there is a reason to."""
        while True:
            await self._map_wanted.wait()
            self._map_wanted.clear()
            nodes = [*self._shards, *self._address.nodes]
            random.shuffle(nodes)
            try:
                ranges = await read_slots(self._address, nodes)
            except OSError as error:
                self._map_failure = str(error)
                self._map_wanted.set()
            else:
                owners: list[_Shard | None] = [None] * SLOTS
                for part in ranges:
                    count = part.last - part.first + 1
                    owners[part.first : part.last + 1] = [self._shard(part.primary)] * count
                self._owners = owners
                self._map_known.set()
                self._leave_all_but({part.primary for part in ranges})
            await asyncio.sleep(_MAP_S * random.uniform(0.5, 1.0))

    def _leave_all_but(self, nodes: set[Node]) -> None:
        """Drop the shards that serve nothing any more; their commands go elsewhere."""
        for node in self._shards.keys() - nodes:
            leaving = asyncio.create_task(self._shards.pop(node).stop())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    def _put_off(self, command: Command) -> None:
        self._adrift.append(command)
        if self._rerouting is None:
            delay_s = _REROUTE_S * random.uniform(0.5, 1.0)
            self._rerouting = self._loop.call_later(delay_s, self._reroute)

    def _reroute(self) -> None:
        self._rerouting = None
        adrift, self._adrift = self._adrift, deque()
        for command in adrift:
            command.hops = 0
            if self._owners[command.slot] is None:
                self._map_wanted.set()
            self._route(command)

    # What takes too long

    def _queues(self) -> Iterator[deque[Command]]:
        yield self._adrift
        for shard in self._shards.values():
            yield shard.queue
            yield shard.asking

    def _look_after(self) -> None:
        """Give up what waited too long, and break the lanes that fell silent."""
        now = self._loop.time()
        for queue in self._queues():
            late = [command for command in queue if command.deadline <= now]
            if late:
                in_time = [command for command in queue if command.deadline > now]
                queue.clear()
                queue.extend(in_time)
            for command in late:
                self._give_up(command, "the store does not answer")
        owes = False
        for shard in self._shards.values():
            for lane in shard.lanes:
                for command in lane.overdue(now):
                    self._give_up(command, "the store does not answer")
                lane.break_if_silent(now)
                owes = owes or lane.owes
        # Dead commands still in flight keep the patrol on: their lane may be a silent one.
        if self._pending or owes:
            self._patrol = self._loop.call_later(self._patrol_s, self._look_after)
        else:
            self._patrol = None

    def _give_up(self, command: Command, why: str) -> None:
        self.settle(command, StoreUnavailable(why))


class _Shard:
    """One primary: what waits for it, and the lanes to it."""

    def __init__(
        self,
        link: CommitLink,
        find: Callable[[], Awaitable[Node]],
        lanes: int,
        settings: LaneSettings,
    ) -> None:
        self.queue: deque[Command] = deque()
        self.asking: deque[Command] = deque()
        """Commands that it shall serve although their slot is only on its way to it."""
        self.lanes = [Lane(self, find, settings) for _ in range(lanes)]
        self.settle = link.settle
        self.redirect = link.redirect
        self.lost = link.lost
        self._link = link
        self._flush_is_due = False
        self._stopped = False
        self._loop = asyncio.get_running_loop()
        for lane in self.lanes:
            lane.start()

    @property
    def failure(self) -> str | None:
        """Why it cannot be reached."""
        return self.lanes[0].failure

    async def until_up(self) -> None:
        """Wait until every lane is connected."""
        for lane in self.lanes:
            await lane.is_up.wait()

    async def stop(self) -> None:
        """Disconnect; what is unanswered goes back to the link."""
        self._stopped = True
        for lane in self.lanes:
            await lane.stop()
        queued = [*self.asking, *self.queue]
        self.asking.clear()
        self.queue.clear()
        self._link.route_again(queued)

    def take(self, command: Command) -> None:
        """Write a command that comes alone at once; queue others to the end of this turn."""
        if self.queue or not self.lanes[0].send_if_idle(command):
            self.queue.append(command)
            self.flush_soon()

    def take_asking(self, command: Command) -> None:
        """The same for a command whose slot is on its way to this primary."""
        self.asking.append(command)
        self.flush_soon()

    def flush_soon(self) -> None:
        """Write what is queued at the end of this turn, in one go for each lane."""
        if not self._flush_is_due and (self.queue or self.asking):
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def requeue(self, commands: Sequence[Command]) -> None:
        """Put commands of a broken lane back to the front, in order."""
        if self._stopped:
            self._link.route_again(commands)
            return
        self.queue.extendleft(command for command in reversed(commands) if command.on_reply)
        self.flush_soon()

    def _flush(self) -> None:
        self._flush_is_due = False
        queue = self.queue
        for lane in self.lanes:
            while self.asking and lane.room > 0:
                lane.send_asking(self.asking.popleft())
            room = lane.room
            if room <= 0 or not queue:
                continue
            if len(queue) <= room:
                batch = list(queue)
                queue.clear()
            else:
                batch = [queue.popleft() for _ in range(room)]
            lane.send(batch)


def _always(node: Node) -> Callable[[], Awaitable[Node]]:
    async def find() -> Node:
        return node

    return find


def _tell(on_reply: OnReply, reply: Any) -> None:
    try:
        on_reply(reply)
    except Exception:
        _log.exception("a callback of the link to the store failed")
