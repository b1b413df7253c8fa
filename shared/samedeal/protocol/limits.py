"""The numbers both sides agree on: sizes, rates and ranges of the wire."""

SUBPROTOCOL = "samedeal.1"
"""WebSocket subprotocol: the name and the major version of everything in this package."""

MAX_CLIENT_FRAME = 4 * 1024
"""Bytes of one frame from a client; a longer one is answered `too_large`."""

MAX_SERVER_FRAME = 4 * 1024 * 1024
"""Bytes of one frame from the server; only a replay comes near it."""

MAX_DEPTH = 6
"""Containers inside containers in a frame."""

MAX_INT = 2**53 - 1
"""Largest whole number on the wire: what every language reads exactly."""

MAX_SEATS = 8
MIN_SEATS = 1
MIN_NAME, MAX_NAME = 2, 20
"""Characters of a name, counted in its composed form (NFKC)."""
MAX_NAME_SHOWN = 24
"""Names of past races may be older than the rules of today."""
LINK_LETTERS = 10
"""Letters of a code that lets a second device into an account: 49 random bits."""
DELETED_PLAYER = "deleted player"
"""Stands where the name of an account was that is gone; the space keeps it nobody's name."""
MAX_TEXT = 200
CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Letters of a join code: none that reads like another (0 O, 1 I)."""

MAX_MOVE = 16
"""Characters of a move as text; `T9:13>T8` has 8."""

MAX_RUN_ACTIONS = 50_000
"""Actions of one run: its log still fits into the one frame that answers who comes back."""

PROGRESS_PER_S = 4
"""Progress updates a race sends to each of its sockets in a second, at most."""

HELLO_WITHIN_S = 5.0
"""A socket that has not said hello by then is closed."""

MAX_BAD_FRAMES = 8
"""Unreadable frames one socket may send before it is closed."""
