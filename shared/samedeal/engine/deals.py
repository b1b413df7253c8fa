"""Seeds, commitments and the shuffle: which cards lie where is settled by 32 bytes."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from samedeal.engine.errors import Unreadable
from samedeal.engine.layout import STOCK, layout
from samedeal.engine.rules import Base, Rules

__all__ = ["Seed", "commitment", "laid_out", "parse_seed", "shuffled"]

MAX_SEED_TEXT: Final = 200
_HEX: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Seed:
    """32 bytes, and whether they came from a text that someone chose: practice, never ranked."""

    value: bytes
    is_practice: bool


def parse_seed(text: str) -> Seed:
    """Read a seed: 64 lowercase hex digits, or any other text, which is hashed.

    Raise Unreadable if it is empty, too long, or cannot be written as UTF-8.
    """
    if not text or len(text) > MAX_SEED_TEXT:
        raise Unreadable(text[:20], f"a seed has 1 to {MAX_SEED_TEXT} characters")
    if _HEX.fullmatch(text):
        return Seed(bytes.fromhex(text), is_practice=False)
    try:
        return Seed(hashlib.sha256(text.encode()).digest(), is_practice=True)
    except UnicodeEncodeError:
        raise Unreadable(
            text[:20].encode(errors="replace").decode(), "a seed is text in UTF-8"
        ) from None


def commitment(rules: Rules, seed: bytes) -> str:
    """Return what can be shown before the race and proves the deal after it, 64 hex digits."""
    return hashlib.sha256(_labelled("commit", rules, seed)).hexdigest()


def shuffled(rules: Rules, seed: bytes) -> list[int]:
    """Return the deck, next card first, without the cards that are dealt home before the shuffle.

    Section 3 of the rules, version 1: Fisher-Yates over a SHA-256 key stream, without bias.
    """
    deck = [card for _ in range(rules.packs) for card in range(52)]
    for card in rules.dealt_home:
        deck.remove(card)
    words = _words(_labelled("deal", rules, seed))
    for last in range(len(deck) - 1, 0, -1):
        bound = 2**32 - 2**32 % (last + 1)
        word = next(words)
        while word >= bound:
            word = next(words)
        at = word % (last + 1)
        deck[last], deck[at] = deck[at], deck[last]
    return deck


def laid_out(rules: Rules, seed: bytes) -> tuple[list[list[int]], int | None]:
    """Return the cards of every pile, in the game's order and bottom first, and the base rank.

    Section 3 of the rules; automatic moves have not been made yet.
    """
    deck = shuffled(rules, seed)
    plan = layout(rules)
    piles: list[list[int]] = [[] for _ in rules.piles]
    base = deck[0] % 13 if rules.has_base else None
    home = list(rules.dealt_home)
    if rules.base is Base.FIRST_CARD:
        home = [deck.pop(0)]
    elif rules.base is Base.WHOLE_RANK:
        home = sorted(card for card in deck if card % 13 == base)
        deck = [card for card in deck if card % 13 != base]
    for at, card in zip(plan.foundations, home, strict=False):
        piles[at].append(card)
    cards = iter(deck)
    for _ in range(rules.reserve_size):
        for at in plan.reserves:
            piles[at].append(next(cards))
    for row in range(max(rules.columns)):
        for at, size in zip(plan.columns, rules.columns, strict=True):
            if size > row:
                piles[at].append(next(cards))
    piles[STOCK] = list(cards)[::-1]
    return piles, base


def _labelled(use: str, rules: Rules, seed: bytes) -> bytes:
    if len(seed) != 32:
        raise ValueError("a seed has 32 bytes")
    return f"samedeal/{use}/1\0{rules.id}\0".encode() + seed


def _words(start: bytes) -> Iterator[int]:
    block = 0
    while True:
        yield from struct.unpack(">8I", hashlib.sha256(start + struct.pack(">Q", block)).digest())
        block += 1
