"""The phrases as people type and read them."""

from samedeal.protocol.fields import Phrase

__all__ = ["find_phrase", "phrase_list", "spoken"]


def spoken(phrase: Phrase) -> str:
    """Return a phrase as it is read."""
    return phrase.value.replace("_", " ")


def phrase_list() -> str:
    """List the phrases with the numbers they can be said by."""
    return ", ".join(f"{number} {spoken(phrase)}" for number, phrase in enumerate(Phrase, start=1))


def find_phrase(text: str) -> Phrase | None:
    """Return the phrase of a number or of its words; None if there is none."""
    words = text.strip().lower().replace("_", " ")
    for number, phrase in enumerate(Phrase, start=1):
        if words in (str(number), spoken(phrase)):
            return phrase
    return None
