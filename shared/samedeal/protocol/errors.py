"""Why the other side said no: error codes of the wire, and the codec's own error.

ProtocolError
└── BadFrame        bytes that are not exactly one message of this protocol
    └── UnknownMessage   a map whose `type` names no message that is known here
"""

from enum import StrEnum

__all__ = ["BadFrame", "ErrorCode", "ProtocolError", "UnknownMessage"]


class ErrorCode(StrEnum):
    """The closed set of reasons a request is refused for. Each travels with a sentence."""

    BAD_FRAME = "bad_frame"
    """The frame is not one message of this protocol; nothing was done."""
    TOO_LARGE = "too_large"
    """The frame is longer than a client may send; nothing was done."""
    HELLO_FIRST = "hello_first"
    """Something was asked before `hello`, or `hello` came twice."""
    BAD_TOKEN = "bad_token"  # noqa: S105 - the name of a refusal
    """The account token is not one this server gave out."""
    BAD_NAME = "bad_name"
    """No player can have such a name; the sentence says what is wrong with it."""
    NAME_TAKEN = "name_taken"
    """Somebody has that name, or one that reads like it; the sentence offers a free one."""
    BANNED = "banned"
    """An operator has banned this account; the sentence says until when, and why."""
    NOT_FOUND = "not_found"
    """No such race, code or game."""
    NOT_SEATED = "not_seated"
    """The asker holds no seat in that race."""
    RACE_FULL = "race_full"
    """Every seat is taken."""
    WRONG_PHASE = "wrong_phase"
    """The race is not in the phase this needs (lobby, running, closed)."""
    NOT_HOST = "not_host"
    """Only the host may do this."""
    NOT_READY = "not_ready"
    """The race cannot start yet; the sentence says who or what is missing."""
    BAD_OPTION = "bad_option"
    """An option, or two together, cannot be had."""
    ILLEGAL_MOVE = "illegal_move"
    """The rules forbid it now; the sentence says what is missing."""
    UNREADABLE_MOVE = "unreadable_move"
    """The text is not a move."""
    SEQ_GAP = "seq_gap"
    """The number is not the next one; `expected` says which is."""
    SEQ_CONFLICT = "seq_conflict"
    """That number was already used for another action."""
    HIDDEN = "hidden"
    """Results of others at a day's deal are hidden until the own run is over."""
    RUN_OVER = "run_over"
    """The run is won, banked or left, or the race is closed: nothing more counts."""
    NOT_SHOWN = "not_shown"
    """The asker may not watch this race now; the sentence says why."""
    HAS_WATCHED = "has_watched"
    """The asker has watched this deal while it was open, so cannot play it."""
    TAKEN_OVER = "taken_over"
    """Another connection of the same player took this seat over."""
    TOO_MANY = "too_many"
    """A limit of this server is reached (races of one socket, say)."""
    SLOW_DOWN = "slow_down"
    """Asked too fast: nothing was done, send it again after `retry_ms`."""
    STORE_UNAVAILABLE = "store_unavailable"
    """The store does not answer: nothing is lost, send it again after `retry_ms`."""
    INTERNAL = "internal"
    """A fault in the server; it is in its log. Nothing was done."""


class ProtocolError(Exception):
    """Root of what this package raises."""


class BadFrame(ProtocolError):
    """Bytes that are not exactly one message. `request_id` is set where it could still be read."""

    def __init__(self, sentence: str, *, request_id: int | None = None) -> None:
        self.sentence = sentence
        self.request_id = request_id
        super().__init__(sentence)


class UnknownMessage(BadFrame):
    """A map whose `type` names no message of that direction: one of a later version, say."""
