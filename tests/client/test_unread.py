"""What happens in a race while nobody reads it."""

from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import PlayerView
from samedeal_client.connection import Client
from samedeal_client.inbox import Inbox


def moved(race: str, ver: int, *seats: int) -> say.Progress:
    players = tuple(PlayerView(seat=seat, name=f"p{seat}", moves=ver) for seat in seats)
    return say.Progress(race=race, ver=ver, players=players)


async def test_who_reads_no_events_for_hours_is_owed_the_newest_of_each_player(
    server_url: str,
) -> None:
    async with Client(server_url, name="una") as client:
        race = await client.create_race("lanes", seats=3)
        race.happened(moved(race.id, 1, 3))
        race.happened(say.Notice(race=race.id, kind="store", sentence="away"))
        for ver in range(2, 1_000):
            race.happened(moved(race.id, ver, 1 + ver % 2))
        await client.close()
        events = [event async for event in race.events()]
    told = [event for event in events if not isinstance(event, say.Room)]
    assert told == [
        moved(race.id, 1, 3),
        say.Notice(race=race.id, kind="store", sentence="away"),
        say.Progress(
            race=race.id,
            ver=999,
            players=(
                PlayerView(seat=1, name="p1", moves=998),
                PlayerView(seat=2, name="p2", moves=999),
            ),
        ),
    ]
    # Who asks once more is told at once that nothing comes any more.
    assert [event async for event in race.events()] == []


async def test_a_message_that_was_read_is_merged_with_no_other() -> None:
    inbox: Inbox[int] = Inbox(lambda last, new: last + new)
    inbox.put(1)
    inbox.put(2)
    assert await inbox.next() == 3
    inbox.put(4)
    assert await inbox.next() == 4
