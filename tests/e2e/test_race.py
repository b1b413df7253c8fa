"""A race between real clients on a real server, from the first message to the replay."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from samedeal.engine.deals import commitment
from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.engine.replay import verify
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, Status
from samedeal_client import bot
from samedeal_client.connection import Client, Race
from samedeal_client.errors import Refused
from samedeal_server.session import MAX_RACES
from support import PATIENCE_S, run_cli


async def both_ready(first: Race, second: Race) -> None:
    await second.ready()
    await first.ready()
    await first.until_go()
    await second.until_go()


async def test_two_bots_race_on_one_deal_and_the_replay_verifies(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="bo", bot=True) as b:
        first = await a.create_race("single-left", countdown_s=0)
        second = await b.join(first.code)
        await both_ready(first, second)
        assert str(first.table) == str(second.table)
        assert first.view.seed is None
        await asyncio.gather(
            bot.play(first, seed=1, pace_s=0.001), bot.play(second, seed=2, pace_s=0.001)
        )
        view = first.view
        assert view.order == second.view.order
        assert {row.name for row in view.order} == {a.name, b.name}
        assert view.seed is not None
        assert commitment(game("single-left"), bytes.fromhex(view.seed)) == view.commitment
        checked = verify((await first.replay()).splitlines(keepends=True))
        assert [row.seat for row in checked.order] == [row.seat for row in view.order]
        assert any(row.name == a.name for row in (await a.boards.page("single-left")).rows)


async def test_what_the_deal_sends_home_counts_from_go_on_and_not_before(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("single-left", countdown_s=0, seed="s1")  # an ace goes home
        second = await b.join(first.code)
        assert [player.home for player in second.view.players] == [0, 0]
        await both_ready(first, second)
        assert [player.home for player in first.view.players] == [1, 1]
        await first.move(DRAW)
        await asyncio.gather(first.bank(), second.bank())
        await first.until_closed()
        checked = verify((await first.replay()).splitlines(keepends=True))
        told = [(row.seat, row.best, row.opened) for row in first.view.order]
        assert told == [(row.seat, row.best, row.opened) for row in checked.order]
        assert (2, 1, 1) in told


async def test_the_rival_sees_progress_and_the_table_of_neither(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0)
        second = await b.join(first.code)
        await both_ready(first, second)
        ack = await first.move(DRAW)
        assert ack.seq == 1
        assert len(ack.reveals) == 1
        await second.until(lambda: second.view.players[0].moves == 1)
        assert second.view.players[1].moves == 0


async def test_an_illegal_move_is_refused_and_changes_nothing(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0)
        second = await b.join(first.code)
        await both_ready(first, second)
        before = first.table.hash
        with pytest.raises(IllegalMove, match="the waste is empty"):
            await first.move("W>T1")
        assert first.table.hash == before


async def test_only_the_host_starts_and_only_when_all_are_ready(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", seats=3, countdown_s=0)
        with pytest.raises(Refused, match="two players"):
            await first.start()
        second = await b.join(first.code)
        with pytest.raises(Refused, match=f"{b.name} is not ready"):
            await first.start()
        with pytest.raises(Refused) as caught:
            await second.start()
        assert caught.value.code is ErrorCode.NOT_HOST
        await second.ready()
        await first.start()
        await first.until_go()
        with pytest.raises(Refused) as caught:
            await second.ready()
        assert caught.value.code is ErrorCode.WRONG_PHASE


async def test_the_race_closes_on_time_when_nobody_is_connected(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0, time_limit_s=10)
        second = await b.join(first.code)
        await both_ready(first, second)
        await first.move(DRAW)
        race_id, token = first.id, a.token
    async with Client(server_url, token=token) as again:
        race = await again.resume(race_id)
        assert race.model.acked == 1
        async with asyncio.timeout(PATIENCE_S):
            await race.until_closed()
        assert [row.status for row in race.view.order] == [Status.CUT_OFF] * 2
        assert [row.place for row in race.view.order] == [1, 2]


async def test_undo_stops_at_the_last_new_card(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0, seed="undo")
        second = await b.join(first.code)
        await both_ready(first, second)
        start = first.table.hash
        move = next(move for move in first.table.legal_moves if move != DRAW)
        await first.move(move)
        ack = await first.undo()
        assert (ack.seq, first.table.hash) == (2, start)
        await first.move(DRAW)
        with pytest.raises(IllegalMove):
            await first.undo()


async def test_next_deals_anew_in_the_same_room(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0, best_of=3)
        second = await b.join(first.code)
        await both_ready(first, second)
        await first.move(DRAW)
        await first.bank()
        await second.bank()
        await first.until_closed()
        following = await first.next()
        other = await b.join(first.code)
        assert following.id == other.id != first.id
        assert following.view.round == 2
        assert [player.series for player in other.view.players] == [1, 0]
        assert following.view.commitment != first.view.commitment


async def test_closed_races_do_not_count_against_the_limit_of_a_connection(
    server_url: str,
) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0)
        for _ in range(MAX_RACES + 2):
            second = await b.join(first.code)
            await both_ready(first, second)
            await first.bank()
            await second.bank()
            await first.until_closed()
            first = await first.next()
        assert first.view.round == MAX_RACES + 3


async def test_a_second_connection_takes_over_and_the_first_is_told(server_url: str) -> None:
    async with Client(server_url, name="ada") as a, Client(server_url, name="ivo") as b:
        first = await a.create_race("lanes", countdown_s=0)
        second = await b.join(first.code)
        await both_ready(first, second)
        await first.move(DRAW)
        async with Client(server_url, token=a.token) as tab:
            race = await tab.resume(first.id)
            await first.until(lambda: first.is_taken_over)
            assert race.table.hash == first.table.hash
            await race.move(DRAW)
            with pytest.raises(Refused):
                await first.move(DRAW)


def test_two_shells_race_over_pipes(server_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "samedeal_client.cli.main"]
    host = subprocess.Popen(
        [*command, "race", "--game", "lanes", "--countdown", "0", "--json", "--server", server_url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert host.stdout is not None
    assert host.stdin is not None
    room = json.loads(host.stdout.readline())
    host.stdin.write("draw\nW>W\nrivals\ndraw\n")
    host.stdin.close()
    replay = tmp_path / "race.jsonl"
    code, out, err = run_cli(
        *("join", room["code"], "--plain", "--server", server_url, "--save", str(replay)),
        stdin="draw\nhop\n",
    )
    with host.stdout:
        lines = [json.loads(line) for line in host.stdout]
    assert host.wait(timeout=30) in (0, 1)
    assert {host.returncode, code} <= {0, 1}
    kinds = [line["type"] for line in lines]
    assert kinds.count("ok") == 2
    assert kinds.count("refused") == 1
    assert kinds[-1] == "closed"
    assert "ok 1: drew" in out
    assert "refused: 'hop' is not a move" in out
    assert "* final order" in out
    assert err == ""
    assert run_cli("verify", str(replay))[0] == 0


async def test_a_room_left_by_all_is_closed_without_a_result(server_url: str) -> None:
    async with Client(server_url, name="ada") as a:
        race = await a.create_race("lanes")
        await race.leave()
        with pytest.raises(Refused):
            await a.join(race.code)
        assert race.view.phase in (Phase.LOBBY, Phase.CLOSED)


def test_no_store_is_one_sentence_and_exit_code_2() -> None:
    code, _, err = run_cli("serve", "--port", "0", "--redis", "redis://127.0.0.1:1")
    assert code == 2
    assert err.startswith("samedeal: no store answers at 127.0.0.1:1")


def test_the_demo_leaves_a_verified_replay_and_nothing_running(tmp_path: Path) -> None:
    code, out, err = run_cli(
        "demo", "--game", "single-left", "--pace", "0.01", "--replay-dir", str(tmp_path)
    )
    assert (code, err) == (0, "")
    assert "fits the commitment" in out
    replays = list(tmp_path.glob("*.jsonl"))
    assert len(replays) == 1
    assert run_cli("verify", str(replays[0]))[0] == 0
