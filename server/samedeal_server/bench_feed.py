"""`python -m samedeal_server.bench_feed`: finished races and full boards, for `samedeal bench`."""

import argparse
import asyncio
import secrets
from itertools import count
from typing import Any

from redis.asyncio import Redis

from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Phase, RaceOptions, Spectating, Status
from samedeal_server.opening import dealt
from samedeal_server.race import SeatState
from samedeal_server.rows import ORDERS, Board, Row
from samedeal_server.store import keys
from samedeal_server.store.accounts import new_id
from samedeal_server.store.address import StoreAddress
from samedeal_server.store.races import RaceStore

__all__: list[str] = []

_PIECE = 500
"""Rows written with one command."""


async def _feed(redis: Redis, game: str, per_s: float, seconds: float) -> None:
    """Put races into the store as if they had just ended, for the server's sweep to book."""
    races, loop = RaceStore(redis, "bench"), asyncio.get_running_loop()
    start_s = loop.time()
    print("feeding", flush=True)
    for number in range(round(per_s * seconds)):
        await asyncio.sleep(max(0.0, start_s + number / per_s - loop.time()))
        await _finish(redis, races, game)


async def _finish(redis: Redis, races: RaceStore, game: str) -> None:
    race_id, rng = new_id(), secrets.SystemRandom()
    roster = tuple(
        SeatState(seat=at, player=new_id(), name=f"bench-{at}", bot=False) for at in (1, 2)
    )
    options = RaceOptions(ranked=True, spectating=Spectating.SHAPE)
    where: dict[str, Any] = {
        "code": "BENCH",
        "practice": False,
        "options": options,
        "round": 1,
        "host": 1,
    }
    await races.create(dealt(game, secrets.token_bytes(32), id=race_id, roster=roster, **where))
    seconds, _ = await redis.time()
    pipe = redis.pipeline(transaction=False)
    for seat in roster:
        t_ms = rng.randrange(60_000, 900_000)
        run: dict[Any, Any] = {
            "seq": 120,
            "status": Status.WON.value,
            "t": t_ms,
            "best": 48,
            "m_best": 120,
            "opened": 20,
        }
        pipe.hset(keys.seat(race_id, seat.seat), mapping=run)
    times: dict[Any, Any] = {
        "go_at": int(seconds) * 1000 - 900_000,
        "closed_at": int(seconds) * 1000,
    }
    pipe.hset(keys.race(race_id), mapping={"phase": Phase.CLOSED.value, **times})
    await pipe.execute()
    await races.schedule({race_id: 0})


async def _fill(redis: Redis, game: str, rows: int, player: str) -> None:
    """Fill the rating board of a game, and put a player in the middle of it."""
    board, order = Board(game, BoardKind.RATING), ORDERS[BoardKind.RATING]
    key, of = keys.board(board)
    rng, numbers = secrets.SystemRandom(), count(1)
    players = (player if number == rows // 2 else f"{number:016}" for number in numbers)
    for start in range(0, rows, _PIECE):
        pipe = redis.pipeline(transaction=False)
        piece: dict[Any, Any] = {}
        for _ in range(min(_PIECE, rows - start)):
            who = next(players)
            rating = 1_500_000 if who == player else rng.randrange(1_000_000, 2_000_000)
            piece[who] = Row(order.encode(rating), 1_700_000_000_000, who, f"{who}.1").text
        pipe.zadd(key, dict.fromkeys(piece.values(), 0))
        pipe.hset(of, mapping=piece)
        await pipe.execute()


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--game", required=True)
    parser.add_argument("--per-s", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--player", default="")
    args = parser.parse_args()
    redis = StoreAddress.parse(args.redis).client()
    try:
        if args.rows:
            await _fill(redis, args.game, args.rows, args.player)
        else:
            await _feed(redis, args.game, args.per_s, args.seconds)
    finally:
        await redis.aclose()


if __name__ == "__main__":
    asyncio.run(_main())
