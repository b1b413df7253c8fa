"""The help: how this game is played here, and which key does what."""

import textwrap

from samedeal.engine.rules import Base, Rules, Space
from samedeal_client.model.ink import Ink, Row, Span, row
from samedeal_client.model.keys import Action, Keys

__all__ = ["help_rows"]

_WIDTH = 58
"""What fits into the narrowest window."""

_KEYS = (
    (Action.PILE_1, "pick a column, then another one: the cards go there"),
    (Action.WASTE, "pick the waste"),
    (Action.RESERVE_1, "pick the first reserve; the next key is the second one"),
    (Action.RESERVE_2, "pick the second reserve"),
    (Action.HOME, "send the picked card home; without a pick the waste"),
    (Action.UP_PILE, "to a pile that goes up"),
    (Action.DOWN_PILE, "to a pile that goes down"),
    (Action.SAFE, "send home all that is safe; play out a finished game"),
    (Action.TAKE_BACK, "take a card back from home; again: the next one, or name its suit"),
    (Action.DRAW, "turn the stock, one turn at a time"),
    (Action.MORE, "one card more of a run"),
    (Action.FEWER, "one card fewer"),
    (Action.UNDO, "take the last move back, as far as the room allows"),
    (Action.REDO, "play it again, where undo is free"),
    (Action.CURSOR, "cursor on and off; arrows move it, Enter picks and drops"),
    (Action.CLEAR, "put the pick down"),
    (Action.TARGETS, "mark where the pick may go, or not"),
    (Action.ALWAYS_TARGETS, "always mark what can move"),
    (Action.HINT, "all legal moves; not in a ranked race"),
    (Action.COLOURS, "two colours, four, none"),
    (Action.PANEL, "tracks, numbers, log"),
    (Action.SCROLL_UP, "see the lower cards of a long column"),
    (Action.BANK, "twice: end the run, keep its result"),
    (Action.QUIT, "twice, or y after it: leave"),
    (Action.REDRAW, "draw the screen again"),
)


def help_rows(rules: Rules | None, keys: Keys) -> list[Row]:
    """The help as rows; how many there are does not depend on the window."""
    rows: list[Row] = []
    if rules is not None:
        title = textwrap.wrap(f"{rules.title.upper()}: {rules.summary}", _WIDTH)
        rows += [row(f" {line}", Ink.TITLE) for line in title]
        rows += [row(f" {line}") for line in _how(rules)]
        rows.append(())
    rows.append(
        row(" Same pile twice sends home. A click picks, a second drops, a double one", Ink.PLAIN)
    )
    rows.append(row(" sends home. The same deal lies before everyone: most cards home wins."))
    rows.append(())
    for action, about in _KEYS:
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
        rows.append((Span(f" {name:>6}  ", Ink.TITLE), Span(about)))
    rows.append(())
    rows.append(row(" Arrows and space scroll this, any other key goes back.", Ink.DIM))
    return rows


def _how(rules: Rules) -> list[str]:
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
    lines.append(f"An empty column takes {space}.")
    passes = {None: "as often as you like", 1: "once"}.get(rules.passes, f"{rules.passes} times")
    lines.append(f"The stock is turned by {rules.draw} and gone through {passes}.")
    back = "may come back" if rules.takes_back else "stays there"
    lines.append(f"A card that is home {back}.")
    if rules.plays_home:
        lines.append("Cards that nothing can be built on any more go home by themselves.")
    return lines
