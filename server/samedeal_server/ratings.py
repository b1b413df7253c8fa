"""Ratings: each ranked race moves the skills of its players once, from its final order."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from samedeal.engine.games import GAMES
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.fields import Phase
from samedeal_server.race import RaceState
from samedeal_server.rows import Board, Row
from samedeal_server.skill import NEW, Shown, Skill, rate
from samedeal_server.store.boards import BoardStore, Label
from samedeal_server.store.races import RaceStore
from samedeal_server.store.ratings import LeftOut, Rated, RatingStore, of_player
from samedeal_server.store.ratings import Row as RatedRow

__all__ = ["Ratings", "fold", "is_rated"]


class _Stands(NamedTuple):
    """What the rating board says of a player beside the rating."""

    at_ms: int
    """When a race last moved it."""
    label: Label | None = None


class Ratings:
    """Rates races and says how strong players are. All of it may be repeated."""

    def __init__(self, store: RatingStore, races: RaceStore, boards: BoardStore) -> None:
        self._store = store
        self._races = races
        self._boards = boards

    async def of(self, game: str, player: str) -> Shown:
        """How strong a player is."""
        return (await self._store.skills(game, [player]))[0].shown

    async def seat(self, state: RaceState, seat: int) -> bool:
        """Write into a lobby how strong the player of a seat is. Return whether that was news."""
        who = state.seats[seat]
        if who.bot or state.phase is not Phase.LOBBY:
            return False
        shown = await self.of(state.game, who.player)
        if shown == who.rating:
            return False
        await self._races.note(state.id, seat, "rating", str(shown))
        return True

    async def book(self, state: RaceState) -> None:
        """Rate a closed race, if it counts, and write before and after into its record."""
        if not is_rated(state):
            return
        rated = await self._rated(state)
        seats = {seat.player: seat.seat for seat in state.seats.values()}
        for row in rated.rows:
            numbers = f"{row.before.shown} {row.after.shown}"
            await self._races.note(state.id, seats[row.player], "rated", numbers)
        await self._rank(
            state.game,
            {
                seat.player: _Stands(state.closed_at_ms, Label(seat.name, bot=False))
                for seat in state.seats.values()
            },
        )

    async def _rank(self, game: str, players: Mapping[str, _Stands]) -> None:
        """Put players on the rating board as they are now; a rating has to be proven for that."""
        ranked: list[Skill] = []
        # Again if another race moved one of them meanwhile: the newest rating must stand last.
        while (skills := await self._store.skills(game, list(players))) != ranked:
            ranked = skills
            for (player, stands), skill in zip(players.items(), skills, strict=True):
                await self._put(game, player, skill, stands)

    async def _put(self, game: str, player: str, skill: Skill, stands: _Stands) -> None:
        board = Board(game, BoardKind.RATING)
        if skill.shown.is_provisional:
            await self._boards.drop(player, [board])
        else:
            order = board.order.encode(skill.shown.number)
            await self._boards.put(board, Row(order, stands.at_ms, player), stands.label)

    async def _rated(self, state: RaceState) -> Rated:
        """Rate the race, unless that was done before. Return it as it was rated."""
        order = state.order()
        players = [state.seats[row.seat].player for row in order]
        places = [row.place for row in order]
        while (rated := await self._store.rated(state.game, state.id)) is None:
            before = await self._store.skills(state.game, players)
            after = rate(before, places)
            rows = map(RatedRow, players, places, before, after)
            await self._store.add(state.game, Rated(state.id, state.closed_at_ms, tuple(rows)))
        return rated

    async def leave_out(self, which: str, *, out: bool) -> bool:
        """Leave a race, or the race of a run `race.seat`, out of account, or count it again.

        All that follows is made anew. Return whether it moves ratings at all.
        """
        race_id = which.partition(".")[0]
        state = await self._races.load(race_id)
        games = [game for game in GAMES if await self._store.rated(game, race_id) is not None]
        if state is not None and state.phase is Phase.CLOSED and is_rated(state):
            # It may not be booked yet.
            games = [state.game]
        for game in games:
            await self._store.leave_out(game, which, out=out)
            await self.rebuild(game)
        return bool(games)

    async def leave_out_player(self, player: str, *, out: bool) -> None:
        """Leave all races of a player out of account, also those to come, or count them again."""
        for game in GAMES:
            await self._store.leave_out(game, of_player(player), out=out)
            races, _ = await self._store.all(game)
            if any(row.player == player for race in races for row in race.rows):
                await self.rebuild(game)

    async def rebuild(self, game: str) -> None:
        """Make all skills of a game anew from its rated races."""
        while True:
            races, left_out = await self._store.all(game)
            # There may be many: whoever else is served meanwhile must not wait for it.
            skills = await asyncio.to_thread(_fold_counted, races, left_out)
            if await self._store.replace(game, skills, len(races), left_out):
                break
        last = {row.player: _Stands(race.at_ms) for race in races for row in race.rows}
        if last:
            await self._rank(game, last)


def is_rated(state: RaceState) -> bool:
    """Whether a closed race moves ratings: ranked, people only, and somebody made a move.

    Who sat still loses: otherwise one would look who else sits there, and not move a card.
    """
    seats = state.seats.values()
    return (
        state.was_run
        and state.options.ranked
        and not state.practice
        and len(seats) >= 2
        and not any(seat.bot for seat in seats)
        and any(seat.seq > 0 for seat in seats)
    )


def fold(races: Iterable[Rated]) -> dict[str, Skill]:
    """Return the skills that follow from rated races, in their order."""
    skills: dict[str, Skill] = {}
    for race in races:
        before = [skills.get(row.player, NEW) for row in race.rows]
        after = rate(before, [row.place for row in race.rows])
        skills.update(zip((row.player for row in race.rows), after, strict=True))
    return skills


def _fold_counted(races: Iterable[Rated], left_out: LeftOut) -> dict[str, Skill]:
    return fold(race for race in races if not left_out.has(race))
