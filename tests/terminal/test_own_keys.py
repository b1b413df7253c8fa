"""A player who changed every key: each screen answers to the new ones alone, and names them."""

import pytest

from samedeal_client.connection import Client
from samedeal_client.model.keys import Keys
from samedeal_client.model.keytable import DEFAULT_KEYS, Action, Section
from samedeal_client.terminal.screens.base import BaseScreen
from samedeal_client.terminal.screens.prompt import PromptScreen
from screens import Show, shown
from support import eventually

pytestmark = pytest.mark.usefixtures("new_here")

CHANGED = {
    section: {
        # Letters that no default has; a prompt's are no letters.
        action: ("ctrl+g",) if section is Section.PROMPT else (chr(0x100 + at),)
        for at, action in enumerate(table)
    }
    for section, table in DEFAULT_KEYS.items()
}


class Walk:
    """Goes from screen to screen by changed keys."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self.keys = Keys(CHANGED)
        self.seen: set[Section] = set()

    @property
    def section(self) -> Section:
        screen = self.show.app.screen
        assert isinstance(screen, BaseScreen | PromptScreen)
        return screen.section

    async def press(self, *actions: Action) -> None:
        for action in actions:
            await self.show.press(self.keys.on(self.section).keys(action)[0])

    async def on(self, section: Section) -> None:
        """Wait for a screen, whose keys then are those that are pressed."""
        await eventually(lambda: self.section is section)

    async def at(self, section: Section, *texts: str) -> None:
        """Wait for a screen. It names changed keys, and does nothing for any other one."""
        await self.on(section)
        await self.show.until(*texts)
        self.seen.add(section)
        screen, before = self.show.app.screen, self.show.lines("message")
        old = [key for keys in DEFAULT_KEYS[section].values() for key in keys]
        await self.show.press(*old, "ctrl+q", "f1")
        await self.show.pilot.pause()
        assert self.show.app.screen is screen
        assert self.show.lines("message") == before
        if section is not Section.PROMPT:
            usual = Keys().on(section)
            foot = self.show.text.splitlines()[-1].split()
            assert not {usual.name(action) for action in usual.actions} & set(foot)
            assert any(word[0] > "\xff" for word in foot)


async def test_every_screen_answers_to_changed_keys_alone_and_names_them(at_noon: str) -> None:
    async with (
        Client(at_noon, name="kurt") as kurt,
        Client(at_noon, name="klara") as klara,
        shown(at_noon, name="kim", keys=Keys(CHANGED)) as show,
    ):
        other = await kurt.create_race("lanes", countdown_s=0)
        for race in (other, await klara.join(other.code)):
            await race.ready()
        walk = Walk(show)
        await walk.at(Section.HOME, "you are kim")
        await walk.press(Action.HELP)
        await show.until("HERE", "IN A RACE", "any other key goes back")
        walk.seen.add(walk.section)
        await show.press("Q")
        await walk.at(Section.HOME)
        await walk.press(Action.JOIN)
        await show.until_static("The code of the room")
        await walk.at(Section.PROMPT)
        await show.until_static("ctrl+g goes back")
        await walk.press(Action.BACK)
        for opens, section, text in (
            (Action.OPEN_ROOMS, Section.LIST, "no room waits"),
            (Action.BOARDS, Section.BOARDS, "nobody is on this board yet"),
            (Action.DAILY, Section.DAILY, "featured"),
            (Action.QUICK, Section.GAMES, "which game?"),
        ):
            await walk.at(Section.HOME)
            await walk.press(opens)
            await walk.at(section, text)
            await walk.press(Action.BACK)
        await walk.at(Section.HOME)
        await walk.press(Action.FIND)
        await walk.on(Section.GAMES)
        await walk.press(Action.ITEM_4)
        await walk.at(Section.MATCH, "leave the queue")
        await walk.press(Action.BACK)
        await walk.at(Section.HOME)
        await walk.press(Action.WATCH)
        await walk.at(Section.LIST, other.code)
        await walk.press(Action.TAKE)
        await walk.at(Section.WATCH, "stock 30")
        await walk.press(Action.BACK)
        await walk.on(Section.LIST)
        await walk.press(Action.BACK)
        await walk.at(Section.HOME)
        await walk.press(Action.MAKE)
        await walk.on(Section.GAMES)
        await walk.press(Action.ITEM_4)
        await walk.at(Section.OPTIONS, "< 2 >")
        await walk.press(Action.TAKE)
        await walk.at(Section.ROOM, "free")
        await race_on(walk, show, klara)
        assert walk.seen == set(Section) - {Section.CONFIRM, Section.TAKE_BACK}


async def race_on(walk: Walk, show: Show, rival: Client) -> None:
    """Go on from a room to the end of its race, and home."""
    theirs = await rival.join(show.seat.race.code)
    await theirs.ready()
    await walk.press(Action.SAY)
    await walk.at(Section.SAY, "good luck", "goodbye")
    await walk.press(Action.ITEM_2)
    await show.until("says: good luck")
    await walk.press(Action.READY)
    await walk.at(Section.RACE, "stock 30")
    await walk.press(Action.DRAW)
    await show.until("moves 1", f"{walk.keys.on(Section.RACE).name(Action.DRAW)} turn")
    yes = walk.keys.on(Section.CONFIRM).name(Action.YES)
    await walk.press(Action.QUIT)
    await show.until(f"or {yes} leaves")
    await show.press("y")
    await walk.at(Section.RACE)
    await walk.press(Action.BANK, Action.BANK)
    await theirs.bank()
    await walk.at(Section.RESULT, "You have place")
    await walk.press(Action.REPLAY)
    await walk.at(Section.REPLAY, "after action 0")
    await walk.press(Action.BACK)
    await walk.at(Section.RESULT)
    await walk.press(Action.LEAVE)
    await walk.at(Section.HOME)
