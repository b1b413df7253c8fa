"""Replays as text: times, actions a line each, boards."""

import re
from itertools import zip_longest
from typing import Final

from samedeal.engine.cards import HIDDEN, card_text
from samedeal.engine.games import game
from samedeal.engine.moves import DRAW
from samedeal.engine.rules import Kind
from samedeal_client.replays.track import Frame, Track

__all__ = ["action_line", "action_text", "beside", "board_rows", "read_time", "time_text"]

BETWEEN: Final = 3
"""Blanks between boards that stand side by side."""
_TIME: Final = re.compile(r"(?:([0-9]{1,5}):)?([0-9]{1,6})(?:\.([0-9]{1,3}))?")
_SHOWN: Final = 9
"""Cards of the waste and of a reserve that are shown, the top one last."""


def time_text(t_ms: float) -> str:
    """Write a time from GO: `1:05.30`."""
    hundredths = int(t_ms) // 10
    return f"{hundredths // 6000}:{hundredths // 100 % 60:02}.{hundredths % 100:02}"


def read_time(text: str) -> int | None:
    """Read a time from GO, `1:05.3` or `65.3`, in milliseconds; None if it is no time."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    minutes, seconds, fraction = match.groups()
    if minutes and int(seconds) >= 60:
        return None
    return (int(minutes or 0) * 60 + int(seconds)) * 1000 + int((fraction or "").ljust(3, "0"))


def action_text(frame: Frame) -> str:
    """Say what was done and what it turned up: `T2>T1 shows 5H`."""
    if frame.action is None:
        return "the deal"
    words = [str(frame.action)]
    if frame.reveals:
        words += ["shows", *map(card_text, frame.reveals)]
    elif frame.action == DRAW:
        words.append("turns the waste over")
    if frame.automatic:
        words += ["and by itself", *map(str, frame.automatic)]
    return " ".join(words)


def action_line(track: Track, frame: Frame) -> str:
    """One line for one action."""
    return (
        f"{time_text(frame.t_ms)} {track.name} {frame.seq}: {action_text(frame)}. "
        f"home {frame.home}, best {frame.best}"
    )


def board_rows(track: Track, frame: Frame) -> list[str]:
    """Draw a board in rows; cards that lay face down are counted: `#4`."""
    rules = game(*track.deal[:2])
    kinds: dict[Kind, list[tuple[str, bytes]]] = {kind: [] for kind in Kind}
    for (name, kind), pile in zip(rules.piles, frame.piles, strict=True):
        kinds[kind].append((name, pile))
    ((_, stock),) = kinds[Kind.STOCK]
    ((_, waste),) = kinds[Kind.WASTE]
    passes = "" if frame.passes is None else f", passes left {frame.passes}"
    homes = " ".join(card_text(pile[-1]) if pile else "--" for _, pile in kinds[Kind.FOUNDATION])
    rows = [
        f"stock {len(stock)}{passes}  waste {len(waste)}: {_top_cards(waste) or '--'}",
        f"home {frame.home}  {homes}",
        *(f"{name} {len(pile)}: {_top_cards(pile) or '--'}" for name, pile in kinds[Kind.RESERVE]),
        "",
        " ".join(f"{name:>3}" for name, _ in kinds[Kind.COLUMN]),
    ]
    stacks = [_stack(pile) for _, pile in kinds[Kind.COLUMN]]
    for cards in zip_longest(*stacks, fillvalue=""):
        rows.append(" ".join(f"{card:>3}" for card in cards).rstrip())
    return rows


def beside(boards: list[list[str]], width: int) -> list[str]:
    """Put boards side by side, as many as fit in `width`, the others below."""
    rows: list[str] = []
    while boards:
        fitting, used = 0, -BETWEEN
        for board in boards:
            used += BETWEEN + max(map(len, board))
            if used > width and fitting:
                break
            fitting += 1
        now, boards = boards[:fitting], boards[fitting:]
        widths = [max(map(len, board)) + BETWEEN for board in now]
        for cells in zip_longest(*now, fillvalue=""):
            row = "".join(f"{cell:{size}}" for cell, size in zip(cells, widths, strict=True))
            rows.append(row.rstrip())
        if boards:
            rows.append("")
    return rows


def _top_cards(pile: bytes) -> str:
    """The visible cards on top of a pile, the top one in brackets."""
    cards = [card_text(card) for card in pile[-_SHOWN:] if card != HIDDEN]
    if cards:
        cards[-1] = f"[{cards[-1]}]"
    return " ".join(["...", *cards] if len(pile) > _SHOWN else cards)


def _stack(pile: bytes) -> list[str]:
    """A column from the bottom up: hidden cards as one count."""
    if not pile:
        return ["--"]
    hidden = pile.count(HIDDEN)
    cards = [card_text(card) for card in pile[hidden:]]
    return [f"#{hidden}", *cards] if hidden else cards
