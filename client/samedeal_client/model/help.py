"""The help: how this game is played here, and which key does what."""

import textwrap
from collections.abc import Sequence

from samedeal.engine.rules import Base, Rules, Space
from samedeal_client.model.ink import Ink, Row, Span, cells, row, text_of
from samedeal_client.model.keys import Action, Keys, Section

__all__ = ["fitted", "help_rows", "how"]

_WIDTH = 58
"""What fits into the narrowest window."""

_CARDS = (
    (Action.PILE_1, "pick a column, then another one: the cards go there"),
    (Action.WASTE, "pick the waste"),
    (Action.RESERVE_1, "pick the first reserve"),
    (Action.RESERVE_2, "pick the second reserve"),
    (Action.HOME, "send the picked card home; without a pick the waste"),
    (Action.UP_PILE, "to a pile that goes up"),
    (Action.DOWN_PILE, "to a pile that goes down"),
    (Action.SAFE, "send home all that is safe; play out a finished game"),
    (Action.TAKE_BACK, "take a card back: again the next, or name its suit: {suits}"),
    (Action.DRAW, "turn the stock, one turn at a time"),
    (Action.MORE, "one card more of a run"),
    (Action.FEWER, "one card fewer"),
    (Action.UNDO, "take the last move back, as far as the room allows"),
    (Action.REDO, "play it again, where undo is free"),
    (Action.CURSOR, "cursor on and off"),
    (Action.LEFT, "move the cursor, as the next three do"),
    (Action.DOWN, "down"),
    (Action.UP, "up"),
    (Action.RIGHT, "right"),
    (Action.DROP, "pick and drop at the cursor"),
    (Action.CLEAR, "put the pick down"),
    (Action.TARGETS, "mark where the pick may go, or not"),
    (Action.ALWAYS_TARGETS, "always mark what can move"),
    (Action.HINT, "all legal moves; not in a ranked race"),
    (Action.COLOURS, "two colours, four, none"),
    (Action.PANEL, "tracks, numbers, log"),
    (Action.SCROLL_UP, "see the upper cards of a long column"),
    (Action.SCROLL_DOWN, "and the lower ones again"),
    (Action.BANK, "twice: end the run, keep its result"),
    (Action.END_RACE, "end the race, when only bots play on"),
    (Action.QUIT, "twice, or {yes} after it: leave"),
    (Action.SAY, "say one of eight phrases to the room"),
    (Action.REDRAW, "draw the screen again"),
)


_ELSEWHERE = {
    Action.UP: "the one above",
    Action.DOWN: "the one below",
    Action.LEFT: "back by one",
    Action.RIGHT: "on by one",
    Action.SCROLL_UP: "back by a page",
    Action.SCROLL_DOWN: "on by a page",
    Action.TAKE: "take what is chosen",
    Action.CHANGE: "the next value",
    Action.ITEM_1: "take the first one, and so on",
    Action.READY: "be ready, or not yet",
    Action.ADD_BOT: "have a bot take a free seat",
    Action.OPTIONS: "change what was agreed, as the host",
    Action.START: "start at once, as the host",
    Action.ACCEPT: "accept the opponent",
    Action.DECLINE: "decline, and leave the queue",
    Action.TAKE_BOT: "play a bot instead",
    Action.NEXT: "the next deal",
    Action.REPLAY: "play it again, when it is over",
    Action.GHOST: "race the recorded run on its deal, unranked",
    Action.SHARE: "the result card, to the clipboard",
    Action.PRACTICE: "play it as practice, unranked",
    Action.NEXT_GAME: "the next game",
    Action.BOTS: "bots, or people",
    Action.AROUND: "the rows around the own one",
    Action.TOP: "the first rows",
    Action.PLAY: "play, or pause",
    Action.FASTER: "faster",
    Action.SLOWER: "slower",
    Action.NEXT_BOARD: "the next player's board",
    Action.DEAL: "to the deal",
    Action.END: "to the end",
    Action.DIFFERENCE: "where the first two boards differ next",
    Action.COLOURS: "two colours, four, none",
    Action.SAY: "say a phrase to the room",
    Action.LEAVE: "leave",
    Action.BACK: "go back",
    Action.REDRAW: "draw the screen again",
}


def help_rows(rules: Rules | None, keys: Keys, section: Section) -> list[Row]:
    """The help for a screen as rows; how many there are does not depend on the window."""
    rows: list[Row] = []
    if section is not Section.RACE:
        rows.append(row(" HERE", Ink.TITLE))
        here = keys.on(section)
        rows += [
            _line(here.name(action), _ELSEWHERE[action])
            for action in here.actions
            if action in _ELSEWHERE
        ]
        rows += [(), row(" IN A RACE", Ink.TITLE)]
    if rules is not None:
        title = textwrap.wrap(f"{rules.title.upper()}: {rules.summary}", _WIDTH)
        rows += [row(f" {line}", Ink.TITLE) for line in title]
        rows += [row(f" {line}") for line in how(rules)]
        rows.append(())
    rows.append(
        row(" Same pile twice sends home. A click picks, a second drops, a double one", Ink.PLAIN)
    )
    rows.append(row(" sends home. The same deal lies before everyone: most cards home wins."))
    rows.append(())
    rows += _race_rows(rules, keys)
    rows.append(())
    own = keys.on(Section.HELP)
    words = " ".join(
        own.name(action)
        for action in (Action.UP, Action.DOWN, Action.SCROLL_DOWN, Action.SCROLL_UP)
    )
    rows.append(row(f" {words} scroll this, any other key goes back.", Ink.DIM))
    return rows


def fitted(rows: Sequence[Row], width: int) -> list[Row]:
    """The rows, those that are wider than a window on two rows or more."""
    fitting: list[Row] = []
    for one in rows:
        if cells(text_of(one)) <= width:
            fitting.append(one)
            continue
        *before, last = one
        indent = " " * max(1, sum(cells(span.text) for span in before))
        lines = textwrap.wrap(last.text.strip(), width - len(indent))
        start = before or [Span(indent)]
        fitting.append((*start, Span(lines[0], last.ink)))
        fitting += [(Span(indent + line, last.ink),) for line in lines[1:]]
    return fitting


def _race_rows(rules: Rules | None, all_keys: Keys) -> list[Row]:
    rows: list[Row] = []
    keys, suits = all_keys.on(Section.RACE), all_keys.on(Section.TAKE_BACK)
    others = {
        "{yes}": all_keys.on(Section.CONFIRM).name(Action.YES),
        "{suits}": " ".join(map(suits.name, suits.actions)),
    }
    for action, about in _CARDS:
        if (
            action in (Action.RESERVE_1, Action.RESERVE_2)
            and rules is not None
            and not rules.reserves
        ):
            continue
        if action in (Action.UP_PILE, Action.DOWN_PILE) and (rules is None or rules.in_suit):
            continue
        name = keys.name(action)
        if action is Action.PILE_1:
            name = f"{name}-{keys.name(Action.PILE_9)}"
        for place, key in others.items():
            about = about.replace(place, key)
        rows.append(_line(name, about))
    return rows


def _line(name: str, about: str) -> Row:
    return (Span(f" {name:>6}  ", Ink.TITLE), Span(about))


def how(rules: Rules) -> list[str]:
    """The rules in a few lines, from their values."""
    start = "the rank of the first card" if rules.base is not Base.FIXED else "ace"
    if rules.in_suit:
        lines = [f"Home goes up in suit, from {start}."]
    else:
        lines = ["Four piles go up from the ace, four down from the King, in any suit."]
    if rules.builds:
        runs = "an ordered run moves as one" if rules.moves_runs else "one card at a time"
        lines.append(f"Columns go down in alternate colours; {runs}.")
    else:
        lines.append("Nothing is built in the spaces; each holds one card.")
    space = {
        Space.ANY: "any card",
        Space.KING: "a King",
        Space.HIGH: "the rank just below the base",
    }[rules.space]
    place = "column" if rules.builds else "space"
    lines.append(f"An empty {place} takes {space}.")
    passes = {None: "as often as you like", 1: "once"}.get(rules.passes, f"{rules.passes} times")
    lines.append(f"The stock is turned by {rules.draw} and gone through {passes}.")
    back = "may come back" if rules.takes_back else "stays there"
    lines.append(f"A card that is home {back}.")
    if rules.plays_home:
        lines.append("Cards that nothing can be built on any more go home by themselves.")
    return lines
