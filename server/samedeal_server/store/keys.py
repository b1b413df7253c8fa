"""What is stored under which key. All keys of a race share a hash tag: one script may use them."""

from samedeal.protocol.limits import MAX_SEATS
from samedeal_server.rows import Board

__all__ = [
    "account",
    "announcements",
    "audit",
    "bans",
    "bell",
    "board",
    "board_names",
    "check",
    "code",
    "days",
    "days_due",
    "days_played",
    "due",
    "erasures",
    "flagged",
    "flags_of",
    "friends",
    "hidden",
    "leases",
    "link",
    "links",
    "live",
    "lobby",
    "lobby_bell",
    "log",
    "match",
    "name",
    "news",
    "opened",
    "race",
    "race_keys",
    "race_of",
    "ratings",
    "runs",
    "seat",
    "seated",
    "streaks_at_risk",
    "tries",
    "watched",
    "watched_deal",
]


def race(race_id: str) -> str:
    """Hash: options, phase, times, seed, and who sits where."""
    return f"{{r:{race_id}}}"


def race_of(key: str) -> str:
    """Return the id of the race whose hash this is."""
    return key[3:-1]


def seat(race_id: str, number: int) -> str:
    """Hash: one player's session record: epoch, seq, status, numbers of the run."""
    return f"{{r:{race_id}}}:s:{number}"


def log(race_id: str, number: int) -> str:
    """Stream: the accepted actions of a seat, entry `<seq>-0`."""
    return f"{{r:{race_id}}}:l:{number}"


def bell(node: str) -> str:
    """Channel: rings with `race ver word` when another node changed a race with players here."""
    return f"bell:{node}"


def leases() -> list[str]:
    """Until when each node lives unless it renews its lease, and when nobody could play.

    A sorted set, in milliseconds, and a hash: the last beat of any node, and outages by number.
    """
    return ["{nodes}", "{nodes}:outages"]


def race_keys(race_id: str) -> list[str]:
    """The race and its eight seats, the keys of every race script."""
    return [race(race_id), *(seat(race_id, number) for number in range(1, MAX_SEATS + 1))]


def watched(race_id: str) -> str:
    """Set: the players that have watched the race while its deal was open."""
    return f"{{r:{race_id}}}:w"


def watched_deal(commitment: str, player: str) -> str:
    """Set: the races of a deal of somebody's choosing that a player has watched while open."""
    return f"watched:{commitment}:{player}"


def live() -> str:
    """Sorted set: the races that run and may be watched, each with its GO in milliseconds."""
    return "races:live"


def code(text: str) -> str:
    """String: the id of the race that a join code leads to."""
    return f"code:{text}"


def friends(player: str) -> str:
    """Set: the accounts that an account named as friends."""
    return f"account:{player}:friends"


def opened(player: str) -> str:
    """Sorted set: the open races a player has made, each with the time it is over at the latest."""
    return f"account:{player}:open"


def account(player: str) -> str:
    """Hash: name, its skeleton, hash of the token, devices by theirs, bot, when made, ban."""
    return f"account:{player}"


def name(skeleton: str) -> str:
    """String: the account that has the name, or one that reads like it."""
    return f"name:{skeleton}"


def links(player: str) -> str:
    """Sorted set: the link codes an account was given lately, each with the time."""
    return f"account:{player}:links"


def link(code: str) -> str:
    """Hash: the account a link code leads to, and who has used it."""
    return f"link:{code}"


def seated(player: str) -> str:
    """Sorted set: the races an account sat in, each with the time."""
    return f"account:{player}:races"


def bans() -> str:
    """Sorted set: banned accounts, each with the time until which it is."""
    return "bans"


def flagged() -> str:
    """Sorted set: runs that a person can hardly have played, each with player, game, why, time."""
    return "flagged"


def flags_of(player: str) -> str:
    """Sorted set: those of an account."""
    return f"account:{player}:flags"


def erasures() -> str:
    """Sorted set: accounts that are being deleted, each with the time since when."""
    return "erasures"


def news() -> str:
    """Stream: what every node has to do about its connections."""
    return "news"


def announcements() -> str:
    """Hash: what operators have to say, each with the time until which."""
    return "announcements"


def audit() -> str:
    """Stream: what operators did, to whom or what, and why; for good."""
    return "audit"


def due() -> str:
    """Sorted set: when each open race has to be looked at next, in milliseconds."""
    return "races:due"


def ratings(game: str) -> list[str]:
    """Hash of the rated races of a game, hash of the skills, set of what is left out; for good."""
    return [f"{{rated:{game}}}:races", f"{{rated:{game}}}:skills", f"{{rated:{game}}}:void"]


def days() -> list[str]:
    """Hash of the deals of all days, set of digests of their seeds, set of what is void."""
    return ["{days}:deals", "{days}:seeds", "{days}:void"]


def tries(player: str, day: int, game: str) -> str:
    """Hash: a player's runs at the deal of a day: the first, which ranks, and the last practice."""
    return f"account:{player}:day:{day}:{game}"


def days_played(player: str, game: str) -> str:
    """Set: the numbers of the days on which a player has played a game's deal."""
    return f"account:{player}:days:{game}"


def streaks_at_risk(game: str) -> str:
    """Sorted set: players, each with the day that costs the streak if it closes unplayed."""
    return f"{{days}}:risk:{game}"


def board(which: Board) -> list[str]:
    """Sorted set of a board's rows, and hash of the row of each player; a slot for each game."""
    bots = ":bots" if which.bots else ""
    key = f"{{b:{which.game}}}:{which.kind}:{which.period}{bots}"
    return [key, f"{key}:of"]


def runs(game: str, player: str) -> str:
    """Sorted set: the results of a player in a game, kept for good."""
    return f"{{b:{game}}}:runs:{player}"


def board_names(game: str) -> str:
    """Hash: how each player is called on the boards of a game."""
    return f"{{b:{game}}}:names"


def hidden(game: str) -> str:
    """Set: players who are kept off the boards of a game."""
    return f"{{b:{game}}}:hidden"


def check(day: str) -> str:
    """String: the report of the boards' check for a day, as JSON; empty while it goes on."""
    return f"boards:check:{day}"


def days_due(game: str) -> str:
    """Sorted set: days whose season has to be worked out, each with the time from which on."""
    return f"{{b:{game}}}:days"


def match() -> list[str]:
    """Hash of those who wait in quick match, hash of the pairs that are to accept, and a mark.

    The mark lives while the queue was moved on just now.
    """
    return ["{match}:queue", "{match}:pairs", "{match}:moved"]


def lobby() -> list[str]:
    """Hash of the rooms that are open to anybody, and how often they have changed."""
    return ["{lobby}:rooms", "{lobby}:changes"]


def lobby_bell() -> str:
    """Channel: rings at every node when the open rooms have changed."""
    return "lobby"
