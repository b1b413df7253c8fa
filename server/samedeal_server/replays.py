"""Replay files of closed races, made from their logs and handed out in parts."""

import asyncio
import datetime
from collections import OrderedDict
from collections.abc import Mapping

from samedeal.engine import replay
from samedeal.engine.run import Run, parse_action
from samedeal.protocol import client_messages as ask
from samedeal.protocol import server_messages as say
from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.replay_messages import MAX_PART
from samedeal_server.daily import Days
from samedeal_server.deals import deal
from samedeal_server.errors import Refusal
from samedeal_server.race import RaceState
from samedeal_server.store.accounts import Account, AccountStore
from samedeal_server.store.races import RaceStore

__all__ = ["Replays"]

ID_LETTERS = 16
"""Characters of a race id; a join code has fewer."""
KEPT_CHARACTERS = 8 * 1024 * 1024
"""Characters of files that are kept at hand: whoever asks for a part asks for the next one soon."""


class Replays:
    """The replay files of a node. Of a closed race only names change."""

    def __init__(self, races: RaceStore, days: Days, accounts: AccountStore) -> None:
        self._races = races
        self._accounts = accounts
        self._days = days
        self._files: OrderedDict[str, tuple[int, str]] = OrderedDict()
        # One at a time: the work of many would keep the players' moves waiting.
        self._making = asyncio.Lock()

    async def part(self, account: Account, message: ask.ReplayGet) -> say.ReplayFile:
        """Answer with one part of a file that the asker may see. Raise Refusal."""
        race_id = message.race
        if len(race_id) < ID_LETTERS:
            found = await self._races.find(race_id)
            if found is None:
                raise Refusal(ErrorCode.NOT_FOUND, f"there is no race with the code {race_id}")
            race_id = found
        state = await self._races.load(race_id)
        if state is None:
            raise Refusal(ErrorCode.NOT_FOUND, "there is no such race any more")
        if race_id != message.race and not state.has_result and state.previous:
            # A code leads to the newest race of its room, which may have just been opened.
            state = await self._races.load(state.previous) or state
        if not state.has_result:
            sentence = "the replay can be had when the race is closed"
            raise Refusal(ErrorCode.WRONG_PHASE, sentence)
        await self._days.check_visible(account, state)
        await self._check_banned(account, state)
        async with self._making:
            text = await self._file(state)
        parts = -(-len(text) // MAX_PART)
        if message.part >= parts:
            raise Refusal(ErrorCode.NOT_FOUND, f"the replay has parts 0 to {parts - 1}")
        at = message.part * MAX_PART
        return say.ReplayFile(
            id=message.id,
            race=state.id,
            part=message.part,
            parts=parts,
            text=text[at : at + MAX_PART],
        )

    async def _check_banned(self, account: Account, state: RaceState) -> None:
        """Raise Refusal if somebody in the race is banned, and the asker was not in it."""
        players = [seat.player for seat in state.seats.values()]
        if account.player not in players and await self._accounts.banned(players):
            sentence = "this replay is hidden: a player in it is banned"
            raise Refusal(ErrorCode.HIDDEN, sentence)

    async def _file(self, state: RaceState) -> str:
        # The file of a day's run gets its seed when the day is closed.
        kept_as = state.id if state.is_seed_public else f"{state.id} sealed"
        ver, text = self._files.get(kept_as, (-1, ""))
        if ver != state.ver:
            logs = {seat: await self._races.log(state.id, seat) for seat in state.seats}
            # Off the loop: a long race takes longer to play again than a move may wait.
            text = await asyncio.to_thread(composed, state, logs)
            self._files[kept_as] = state.ver, text
            while self._kept() > KEPT_CHARACTERS and len(self._files) > 1:
                self._files.popitem(last=False)
        self._files.move_to_end(kept_as)
        return text

    def _kept(self) -> int:
        return sum(len(text) for _, text in self._files.values())


def composed(state: RaceState, logs: Mapping[int, list[tuple[str, int]]]) -> str:
    """Write the replay file of a closed race from the log of each seat."""
    runs, actions = {}, []
    for seat, log in logs.items():
        runs[seat] = run = Run(deal(state.game, state.seed), state.options.undo)
        for seq, (text, t_ms) in enumerate(log, start=1):
            action = parse_action(text)
            run.act(action, t_ms)
            actions.append(replay.LogEntry(seat, seq, t_ms, action))
    started = datetime.datetime.fromtimestamp(state.go_at_ms // 1000, datetime.UTC)
    header = replay.Header(
        game=state.game,
        rules_version=state.rules_version,
        seed=state.seed.hex() if state.is_seed_public else "",
        commitment=state.commitment,
        race=state.id,
        code=state.code,
        is_practice=state.practice,
        options=state.options.model_dump(mode="json"),
        players=tuple(
            replay.Player(seat.seat, seat.name, seat.bot) for _, seat in sorted(state.seats.items())
        ),
        started=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        paused_ms=state.paused_ms,
    )
    return "".join(replay.compose(header, actions, replay.standings(runs)))
