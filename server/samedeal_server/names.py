"""Which names there may be, which of them read alike, and what is like one that is taken."""

import random
import unicodedata
from collections.abc import Iterator

import disarm
from precis_i18n import get_profile

from samedeal.protocol.errors import ErrorCode
from samedeal.protocol.limits import MAX_NAME, MIN_NAME
from samedeal_server.errors import Refusal

__all__ = ["checked", "like", "skeleton"]

_RULE = f"a name is one word of {MIN_NAME} to {MAX_NAME} letters, digits, _ . and -"
_PROFILE = get_profile("UsernameCasePreserved")
_NO_DOT = {"i\u0307": "i", "j\u0307": "j"}
"""What a Turkish capital becomes in small letters: it reads as the plain one."""


def checked(text: str) -> str:
    """Return a name as it is kept and shown. Raise Refusal that says what is wrong with it."""
    name = unicodedata.normalize("NFKC", text)
    if not MIN_NAME <= len(name) <= MAX_NAME:
        raise _bad(f"{_RULE}; this one has {len(name)}")
    try:
        # It knows of controls, invisible characters, and letters that run both ways.
        _PROFILE.enforce(name)
    except UnicodeEncodeError as error:
        raise _bad(f"{_RULE}; {_shown(name[error.start])} cannot be in this one") from None
    for letter in name:
        if unicodedata.category(letter)[0] not in "LMN" and letter not in "_.-":
            raise _bad(f"{_RULE}; {_shown(letter)} cannot be in this one")
    if unicodedata.category(name[0])[0] == "M" or disarm.is_zalgo(name):
        raise _bad(f"{_RULE}; this one has marks that belong to no letter")
    if not any(letter.isalnum() for letter in name):
        raise _bad(f"{_RULE}; this one has no letter and no digit")
    return name


def skeleton(name: str) -> str:
    """Return a text that is the same for all names that read alike, in whatever case."""
    small = name.casefold()
    for dotted, plain in _NO_DOT.items():
        small = small.replace(dotted, plain)
    key = disarm.skeleton_key(small, digit_policy="tr39", on_empty=small)
    # The library keeps these apart: i is a capital's l, and Unicode has m look like rn.
    return key.replace("i", "l").replace("rn", "m")


def like(name: str, rng: random.Random) -> Iterator[str]:
    """Name others that start as this one does: ever longer ones, of which some must be free."""
    for most in (9, 9, 99, 999, 9_999, 999_999, 999_999_999):
        end = f"-{rng.randint(2, most)}"
        yield name[: MAX_NAME - len(end)] + end


def _bad(sentence: str) -> Refusal:
    return Refusal(ErrorCode.BAD_NAME, sentence)


def _shown(letter: str) -> str:
    """A character in words: itself may be one that cannot be seen."""
    if letter.isprintable() and not unicodedata.category(letter).startswith("M"):
        return repr(letter)
    return unicodedata.name(letter, f"U+{ord(letter):04X}").lower()
