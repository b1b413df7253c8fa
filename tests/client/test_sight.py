"""What a watcher sees, from messages alone: the newest, never anything older after it."""

import pytest

from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import Phase, PlayerView, RaceOptions, RaceView, Spectating
from samedeal.protocol.watch_messages import Watched, WatchedBoard, Watching, WatchOver
from samedeal_client.errors import ConnectionLost, Refused
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Keys, Section
from samedeal_client.model.watching import watch_rows
from samedeal_client.sight import Feed

RACE = "race000000000001"


def whole(ver: int, *moves: int) -> Watching:
    players = tuple(
        PlayerView(seat=seat, name=f"p{seat}", moves=count)
        for seat, count in enumerate(moves, start=1)
    )
    race = RaceView(
        id=RACE,
        code="QX7K",
        game="lanes",
        rules_version=1,
        commitment="0" * 64,
        practice=False,
        options=RaceOptions(),
        phase=Phase.RUNNING,
        ver=ver,
        round=1,
        host=1,
        players=players,
        clock_ms=0,
        deadline_ms=1,
    )
    boards = tuple(WatchedBoard(seat=player.seat, seq=player.moves) for player in players)
    return Watching(race=race, shows=Spectating.BOARDS, boards=boards)


def news(ver: int, seat: int, moves: int) -> Watched:
    return Watched(
        race=RACE,
        ver=ver,
        players=(PlayerView(seat=seat, name=f"p{seat}", moves=moves),),
        boards=(WatchedBoard(seat=seat, seq=moves),),
    )


async def seen(feed: Feed) -> tuple[int, list[int], list[int], set[int]]:
    """(version, moves, actions on boards, who moved) of the next sight."""
    sight = await feed.next()
    moves = [player.moves for player in sight.race.players]
    seqs = [board.seq for _, board in sorted(sight.boards.items())]
    return sight.race.ver, moves, seqs, set(sight.moved)


async def test_news_replace_what_was_known_of_a_seat() -> None:
    feed = Feed()
    feed.take(whole(7, 2, 3))
    assert await seen(feed) == (7, [2, 3], [2, 3], {1, 2})
    feed.take(news(8, 2, 4))
    assert await seen(feed) == (8, [2, 4], [2, 4], {2})


async def test_who_reads_slowly_gets_the_newest_in_one_sight() -> None:
    feed = Feed()
    feed.take(whole(7, 0, 0))
    await feed.next()
    for moves in range(1, 100):
        feed.take(news(7 + moves, 1, moves))
    feed.take(news(107, 2, 1))
    assert await seen(feed) == (107, [99, 1], [99, 1], {1, 2})


async def test_older_news_change_nothing() -> None:
    feed = Feed()
    feed.take(whole(7, 2, 3))
    feed.take(news(6, 1, 1))
    assert await seen(feed) == (7, [2, 3], [2, 3], {1, 2})


async def test_a_lost_connection_is_seen_and_the_race_as_it_stood() -> None:
    feed = Feed()
    feed.take(whole(7, 2, 3))
    feed.lost_link()
    sight = await feed.next()
    assert (sight.is_up, sight.race.ver) == (False, 7)
    feed.take(whole(9, 5, 3))
    sight = await feed.next()
    assert (sight.is_up, sight.race.ver, sight.moved) == (True, 9, frozenset((1,)))


async def test_what_ends_the_watching_is_raised_and_stays() -> None:
    feed = Feed()
    feed.take(whole(7, 2, 3))
    feed.take(WatchOver(race=RACE, sentence="you hold a seat in this race"))
    feed.end(ConnectionLost("later"))
    for _ in range(2):
        with pytest.raises(Refused, match="you hold a seat") as refused:
            await feed.next()
        assert refused.value.code is ErrorCode.NOT_SHOWN


async def test_a_narrow_screen_says_the_whole_reason_why_not_more_is_shown() -> None:
    feed = Feed()
    reason = "the shapes of the boards are shown; the boards open when all have finished"
    feed.take(whole(1, 3, 2).model_copy(update={"reason": reason}))
    sight = await feed.next()
    keys = Keys().on(Section.WATCH)
    rows = [text_of(row).strip() for row in watch_rows(sight, 0, 0, Faces(), keys, 60, 20)]
    assert len(rows) == 20
    assert " ".join(rows[-3:-1]) == reason
    assert [row[:5] for row in rows[-5:-3]] == ["1. p1", "2. p2"]


async def test_a_row_of_a_watched_race_has_the_whole_name_and_shows_the_first_card() -> None:
    feed = Feed()
    told = whole(1, 3)
    player = told.race.players[0].model_copy(update={"name": "n" * 20, "bot": True, "home": 1})
    race = told.race.model_copy(update={"players": (player,)})
    feed.take(told.model_copy(update={"race": race}))
    keys = Keys().on(Section.WATCH)
    rows = [text_of(row) for row in watch_rows(await feed.next(), 0, 0, Faces(), keys, 80, 24)]
    assert any(f"{player.name} B " in row and "[#." in row for row in rows)
