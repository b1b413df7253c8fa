"""Sentinels replace a primary: nothing is acked meanwhile, players are told, play goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from boardworld import operated
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.codec import decode_server, encode
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import OptionsPatch
from samedeal.protocol.limits import SUBPROTOCOL
from samedeal_server.errors import StoreUnavailable
from samedeal_server.store import keys
from samedeal_server.store.address import StoreAddress
from support import ServerProcess, eventually
from topologies import Watched, commit, open_race, opened, races_at
from topologies import ask as ask_link

SENTENCE = "the store is unavailable; your move is kept on your side, send it again"


@pytest.fixture(scope="module")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watched]:
    async with Watched(tmp_path_factory.mktemp("watched")) as watched:
        yield watched


class Player:
    """A bare connection that draws as fast as acks come, and comes back when it is closed."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._hello = ask.Hello(id=0, name=name, or_like=True)
        self._next = 0
        self._socket: ClientConnection
        self.race = ""
        self.code = ""
        self.acked = 0
        self.refused: list[say.Refused] = []
        """Every refusal that says the store is away."""
        self.done = False

    async def __aenter__(self) -> Self:
        await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def request(self, kind: Any, **fields: Any) -> Any:
        """Send a request and return its answer; what else comes in is passed over."""
        self._next += 1
        await self._socket.send(encode(kind(id=self._next, **fields)))
        while True:
            message = decode_server(await self._socket.recv())
            if getattr(message, "id", None) == self._next:
                return message

    async def sit(self, seated: say.Seated) -> None:
        """Hold a seat, and be ready."""
        self.race, self.code = seated.race.id, seated.race.code
        assert isinstance(await self.request(ask.Ready, race=self.race), say.Done)

    async def play(self) -> None:
        """Draw until `done`: a move that is not acked is sent again."""
        while not self.done:
            with suppress(ConnectionClosed):
                seq = self.acked + 1
                answer = await self.request(ask.PlayMove, race=self.race, seq=seq, move="draw")
                if isinstance(answer, say.Ack):
                    assert answer.seq == seq
                    self.acked = seq
                    continue
                self._note(answer)
            if not await self._resumed():
                await asyncio.sleep(0.1)

    async def _connect(self) -> None:
        self._socket = await connect(self._url, subprotocols=[Subprotocol(SUBPROTOCOL)])
        await self._socket.send(encode(self._hello))
        answer = decode_server(await self._socket.recv())
        if isinstance(answer, say.Welcome):
            self._hello = ask.Hello(id=0, token=answer.token or self._hello.token)
        else:
            self._note(answer)

    def _note(self, answer: say.ServerMessage) -> None:
        assert isinstance(answer, say.Refused)
        if answer.code is ErrorCode.STORE_UNAVAILABLE:
            self.refused.append(answer)

    async def _resumed(self) -> bool:
        with suppress(ConnectionClosed):
            await self._socket.close()
            await self._connect()
            seated = await self.request(ask.Resume, race=self.race, have=self.acked)
            if isinstance(seated, say.Seated):
                assert seated.seq >= self.acked
                self.acked = seated.seq
                return True
        return False


async def test_operators_work_on_the_primary_that_sentinels_name(watched: Watched) -> None:
    await operated(watched.url)


async def test_p41_a_killed_primary_costs_no_acked_move_and_play_goes_on(
    watched: Watched, tmp_path: Path
) -> None:
    options = ("--redis", watched.url, "--min-replicas", "1")
    with ServerProcess(tmp_path / "unused", *options) as server:
        async with Player(server.url, "ada") as ada, Player(server.url, "ivo") as ivo:
            room = OptionsPatch(countdown_s=0, time_limit_s=7200)
            await ada.sit(await ada.request(ask.Create, game="sally", options=room))
            await ivo.sit(await ivo.request(ask.Join, code=ada.code))
            players = (ada, ivo)
            async with asyncio.TaskGroup() as tasks:
                for player in players:
                    tasks.create_task(player.play())
                await eventually(lambda: min(player.acked for player in players) > 50)
                killed = await watched.primary()
                killed.kill()
                known = {player: len(player.refused) for player in players}
                # No sentinel declares it down yet: for that long there is no store to write to.
                await eventually(
                    lambda: all(len(player.refused) > count for player, count in known.items())
                )
                stood = [player.acked for player in players]
                for store in watched.stores:
                    if store is not killed:
                        for number, player in enumerate(players, start=1):
                            log = keys.log(player.race, number)
                            assert await store.client.xlen(log) >= player.acked
                assert [player.acked for player in players] == stood
                await watched.declare_down_after(5_000)
                await eventually(
                    lambda: all(
                        player.acked > before + 50
                        for player, before in zip(players, stood, strict=True)
                    )
                )
                for player in players:
                    player.done = True
            await watched.declare_down_after(600_000)
            for player in players:
                assert {refusal.sentence for refusal in player.refused} == {SENTENCE}
            primary = await watched.primary()
            assert primary is not killed
            for number, player in enumerate(players, start=1):
                entries: Any = await primary.client.xrange(keys.log(player.race, number))
                assert len(entries) >= player.acked
                assert [entry for entry, _ in entries] == [
                    f"{seq}-0" for seq in range(1, len(entries) + 1)
                ]


async def test_p41_a_demoted_primary_is_left_at_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "samedeal_server.store.lane")
    address = StoreAddress.parse(watched.url)
    before = await watched.primary()
    await open_race(before.client, "x")
    async with opened(address) as link:
        assert (await ask_link(link, commit("x", 1)))[0] == b"done"
        # Demoted by hand, and still named by the sentinels, who take some seconds to see it.
        await before.ask("REPLICAOF", "127.0.0.1", 1)
        answer = asyncio.create_task(ask_link(link, commit("x", 2)))
        await eventually(lambda: "the sentinels named a store that is no primary" in caplog.text)
        assert not answer.done()
        await before.ask("REPLICAOF", "NO", "ONE")
        assert (await answer)[0] == b"done"


async def test_a_new_primary_is_followed_before_the_old_one_knows(watched: Watched) -> None:
    address = StoreAddress.parse(watched.url)
    before = await watched.primary()
    await open_race(before.client, "y")
    async with opened(address, min_replicas=1) as link, races_at(address) as races:
        assert (await ask_link(link, commit("y", 1)))[0] == b"done"
        assert await races.claim_code("AAAAA", "y")
        await watched.until_known(replicas=1)
        await watched.sentinels[0].ask("SENTINEL", "FAILOVER", "races")
        # Within seconds, all that time the old one takes writes.
        await eventually(lambda: watched.is_left(before))
        assert "master" in await before.ask("ROLE")
        after = await watched.primary()
        await before.ask("REPLICAOF", "127.0.0.1", after.port)
        for seq in range(2, 40):
            # `again`: the first reply was lost on the way to the new one.
            assert (await ask_link(link, commit("y", seq)))[0] in (b"done", b"again")
        assert await after.client.xlen(keys.log("y", 1)) == 39
        assert await races.claim_code("BBBBB", "y")
        assert await after.client.get(keys.code("BBBBB")) == "y"


async def test_a_service_the_sentinels_do_not_know_is_a_sentence(watched: Watched) -> None:
    address = StoreAddress.parse(watched.url.replace("/races", "/others"))
    with pytest.raises(StoreUnavailable, match="no sentinel knows a service others"):
        async with opened(address, give_up_s=2):
            raise AssertionError("there is no such service")
