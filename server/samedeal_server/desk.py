"""What can be asked about races, whoever asks: open, join, change, end, next."""

import secrets

from samedeal import __version__
from samedeal.engine.deals import parse_seed
from samedeal.engine.errors import EngineError
from samedeal.engine.run import UndoPolicy
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.fields import (
    RANKED_UNLESS_NAMED,
    OptionsPatch,
    Phase,
    RaceOptions,
    Spectating,
    Status,
)
from samedeal_server.board_desk import BoardDesk
from samedeal_server.boards import Boards
from samedeal_server.daily import Days
from samedeal_server.errors import Refusal
from samedeal_server.lobby import Lobbies
from samedeal_server.matches import Matches
from samedeal_server.opening import SEED_BYTES, check_open, dealt, free_code, known
from samedeal_server.people import People
from samedeal_server.race import RaceState, SeatState
from samedeal_server.ratings import Ratings
from samedeal_server.replays import Replays
from samedeal_server.rooms import Rooms
from samedeal_server.runs import LiveRun
from samedeal_server.spectate import Spectators
from samedeal_server.store.accounts import Account, new_id
from samedeal_server.store.races import Attached, RaceStore

__all__ = ["RaceDesk"]

_SENTENCES = {
    "missing": (ErrorCode.NOT_FOUND, "there is no such race any more"),
    "not_seated": (ErrorCode.NOT_SEATED, "you hold no seat in that race"),
    "phase": (ErrorCode.WRONG_PHASE, "the race has begun; this is to be done before"),
    "closed": (ErrorCode.RUN_OVER, "the race is closed"),
    "over": (ErrorCode.RUN_OVER, "your run is over already"),
    "watched": (ErrorCode.HAS_WATCHED, "you have watched this deal, so you cannot play it"),
    "full": (ErrorCode.RACE_FULL, "every seat of this race is taken"),
    "no_bots": (ErrorCode.BAD_OPTION, "the host lets no bots in"),
    "bot": (ErrorCode.BAD_OPTION, "only a person ends a race of persons and bots"),
    "not_host": (ErrorCode.NOT_HOST, "only the host of the room may do this"),
    "alone": (ErrorCode.NOT_READY, "a race needs two players; share the code"),
    "seats": (ErrorCode.BAD_OPTION, "more seats are taken than that"),
}


def _refused(word: str) -> Refusal:
    return Refusal(*_SENTENCES[word])


def _check(word: str) -> None:
    if word != "done":
        raise _refused(word)


class RaceDesk:
    """The requests of players, done in the store."""

    version = __version__

    def __init__(
        self,
        races: RaceStore,
        people: People,
        boards: Boards,
        rooms: Rooms,
        ratings: Ratings,
        days: Days,
        spectators: Spectators,
        matches: Matches,
        lobbies: Lobbies,
    ) -> None:
        self.spectators = spectators
        self.races = races
        self.rooms = rooms
        self.boards = BoardDesk(boards.store, days)
        self.days = days
        self.matches = matches
        self.lobbies = lobbies
        self.replays = Replays(races, days, people.accounts)
        self.people = people
        self._ratings = ratings

    async def create(self, account: Account, message: ask.Create) -> str:
        """Open a room with the asker as host. Return the race's id."""
        known(message.game)
        seed, practice = secrets.token_bytes(SEED_BYTES), False
        if message.seed is not None:
            # Whoever names the seed can know the deal: hashed or not, it is practice.
            try:
                seed, practice = parse_seed(message.seed).value, True
            except EngineError as error:
                raise Refusal(ErrorCode.BAD_OPTION, str(error)) from None
        options = _merged(RaceOptions(), message.options, practice=practice)
        _check_bots(options, account.bot)
        race_id = new_id()
        await check_open(self.races, account.player, race_id)
        code = await free_code(self.races, race_id)
        host = SeatState(seat=1, player=account.player, name=account.name, bot=account.bot)
        await self.races.create(
            dealt(
                message.game,
                seed,
                id=race_id,
                code=code,
                practice=practice,
                options=options,
                round=1,
                host=1,
                roster=(host,),
            )
        )
        return race_id

    async def join(self, account: Account, code: str) -> str:
        """Take a seat by code, or find the one held. Return the race's id."""
        race_id = await self.races.find(code)
        if race_id is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"there is no race with the code {code}")
        word, _ = await self.races.join(race_id, account.player, account.name, bot=account.bot)
        if word == "phase":
            raise Refusal(ErrorCode.WRONG_PHASE, "this race has begun; nobody can join any more")
        if word != "seated":
            raise _refused(word)
        return race_id

    async def attach(self, account: Account, race_id: str) -> tuple[Attached, RaceState]:
        """Take the asker's seat over from any older connection."""
        attached = await self.races.attach(race_id, account.player)
        if isinstance(attached, str):
            raise _refused(attached)
        state = await self._loaded(race_id)
        if attached.seat in state.seats and await self._ratings.seat(state, attached.seat):
            state = await self._loaded(race_id)
        held = state.seats.get(attached.seat)
        if held is None or held.player != account.player:
            # Given up meanwhile, over another connection.
            raise _refused("not_seated")
        return attached, state

    async def load_run(self, state: RaceState, seat: int, epoch: int) -> LiveRun | None:
        """Fold a seat's log; None before GO, when there is no board to show."""
        if not state.was_run or state.phase is Phase.LOBBY or state.now_ms < state.go_at_ms:
            return None
        live = self.rooms.open_run(state, seat, epoch)
        await live.replay_in_turns(await self.races.log(state.id, seat))
        return live

    async def ready(self, account: Account, message: ask.Ready) -> None:
        """Say ready or not."""
        word = await self.races.ready(message.race, account.player, ready=message.ready)
        _check(word)

    async def start(self, account: Account, message: ask.Start) -> None:
        """Start the countdown."""
        word, seat = await self.races.start(message.race, account.player)
        if word == "not_ready":
            state = await self._loaded(message.race)
            name = state.seats[seat].name if seat in state.seats else f"seat {seat}"
            raise Refusal(ErrorCode.NOT_READY, f"{name} is not ready")
        _check(word)

    async def set_options(self, account: Account, message: ask.SetOptions) -> None:
        """Change the options."""
        state = await self._loaded(message.race)
        options = _merged(state.options, message.options, practice=state.practice)
        if options.best_of != state.options.best_of and any(state.scores().values()):
            sentence = "the series is on; its length can be changed when it is decided"
            raise Refusal(ErrorCode.BAD_OPTION, sentence)
        _check_bots(options, any(seat.bot for seat in state.seats.values()))
        word = await self.races.set_options(message.race, account.player, options)
        _check(word)

    async def end(self, account: Account, race_id: str, how: Status) -> None:
        """Bank or leave."""
        word = await self.races.leave(race_id, account.player, how)
        if word == "closed":
            # Its time is up, but an outage may have lengthened it.
            await self.rooms.advance(race_id)
            word = await self.races.leave(race_id, account.player, how)
        if word == "phase":
            way_out = "" if how is Status.LEFT else "; leave instead"
            raise Refusal(ErrorCode.WRONG_PHASE, f"the race has not begun{way_out}")
        _check(word)
        if how is Status.LEFT:
            await self.races.over(account.player, race_id)

    async def end_race(self, account: Account, message: ask.EndRace) -> None:
        """Close a race in which only bots play on."""
        # An outage may have lengthened it without it knowing yet: that stands in its result.
        await self.rooms.advance(message.race)
        word, seat = await self.races.end_race(message.race, account.player)
        if word == "playing":
            held = (await self._loaded(message.race)).seats[seat]
            sentence = f"{held.name} still plays; only bots need not be waited for"
            if held.player == account.player:
                sentence = "your own run is still on; bank it first"
            raise Refusal(ErrorCode.WRONG_PHASE, sentence)
        if word == "phase":
            raise Refusal(ErrorCode.WRONG_PHASE, "the race has not begun; leave instead")
        _check(word)

    async def tell(self, account: Account, message: ask.Say) -> None:
        """Say a phrase to the room."""
        word, wait_ms = await self.races.say(message.race, account.player, message.phrase)
        if word == "early":
            sentence = f"one phrase at a time; the next one can be said in {wait_ms} ms"
            raise Refusal(ErrorCode.SLOW_DOWN, sentence, retry_ms=wait_ms)
        _check(word)

    async def next_race(self, account: Account, message: ask.Next) -> say.Moved:
        """A new deal in the same room; asked twice, or by two, it is the same race."""
        old = await self._loaded(message.race)
        if old.day is not None:
            raise Refusal(ErrorCode.WRONG_PHASE, "a day has one deal; no other one follows it")
        if old.options.seats == 1:
            raise Refusal(ErrorCode.WRONG_PHASE, "a race of one seat has no next one; open another")
        # Without randomness it fails here, before anyone is led to a race that is not there.
        seed = secrets.token_bytes(SEED_BYTES)
        word, race_id = await self.races.next_race(old.id, account.player, new_id())
        if word == "phase":
            raise Refusal(ErrorCode.WRONG_PHASE, "the next race can be had when this one is closed")
        _check(word)
        if old.phase is not Phase.CLOSED:
            # It was closed since it was read: only now it says who has won and who has left.
            old = await self._loaded(old.id)
        scores = old.scores()
        roster = tuple(
            SeatState(
                seat=seat.seat,
                player=seat.player,
                name=seat.name,
                bot=seat.bot,
                series=0 if old.is_decided else scores[seat.seat],
            )
            for seat in old.seats.values()
            if seat.ended is not Status.LEFT or seat.player == account.player
        )
        seats = {seat.seat for seat in roster}
        await self.races.create(
            dealt(
                old.game,
                seed,
                id=race_id,
                code=old.code,
                practice=False,
                options=old.options,
                round=old.round + 1,
                host=old.host if old.host in seats else min(seats),
                roster=roster,
                previous=old.id,
            )
        )
        await self.races.move_code(old.code, old.id, race_id)
        return say.Moved(id=message.id, race=old.id, to=race_id, code=old.code)

    async def _loaded(self, race_id: str) -> RaceState:
        state = await self.rooms.load(race_id)
        if state is None:
            raise _refused("missing")
        return state


def _merged(options: RaceOptions, patch: OptionsPatch, *, practice: bool) -> RaceOptions:
    """Change what a patch names. Raise Refusal for what cannot be had together."""
    changes = patch.model_dump(exclude_none=True)
    if changes.get("ranked"):
        changes = RANKED_UNLESS_NAMED | changes
    merged = options.model_copy(update=changes)
    if merged.seats == 1 and not practice:
        raise Refusal(ErrorCode.BAD_OPTION, "a race of one seat is practice: choose its seed")
    if merged.ranked and practice:
        raise Refusal(ErrorCode.BAD_OPTION, "a race on a chosen seed is practice, never ranked")
    if merged.ranked and merged.undo is UndoPolicy.FREE:
        raise Refusal(ErrorCode.BAD_OPTION, "ranked races have no free undo")
    if merged.ranked and merged.spectating is Spectating.BOARDS:
        raise Refusal(ErrorCode.BAD_OPTION, "ranked races show no whole boards to spectators")
    if merged.ranked and merged.bots:
        raise Refusal(ErrorCode.BAD_OPTION, "ranked races are for people; they let no bots in")
    return merged


def _check_bots(options: RaceOptions, has_bots: bool) -> None:
    """Raise Refusal for a ranked race in which a bot sits."""
    if options.ranked and has_bots:
        raise Refusal(ErrorCode.BAD_OPTION, "a bot sits in this room; it cannot be ranked")
