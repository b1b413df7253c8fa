"""What is read from the leaderboards, and by whom."""

import time
from collections.abc import Callable
from typing import Any

from samedeal.engine.errors import EngineError
from samedeal.engine.games import game
from samedeal.engine.scoring import TIME_STEP_MS
from samedeal.protocol import board_messages as wire
from samedeal.protocol.board_messages import BoardKind
from samedeal.protocol.errors import ErrorCode
from samedeal_server.daily import Days
from samedeal_server.errors import Refusal
from samedeal_server.rows import PERIODS, SEASON_UNIT, Board, Span, day_of, period_of
from samedeal_server.store.accounts import Account
from samedeal_server.store.boards import BoardStore, Page, Shown
from samedeal_server.store.friends import MAX_FRIENDS

__all__ = ["BoardDesk"]

FriendsAsked = wire.FriendAdd | wire.FriendRemove | wire.FriendsGet


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class BoardDesk:
    """Answers who asks for a board."""

    def __init__(self, store: BoardStore, days: Days, now_ms: Callable[[], int] = _wall_ms) -> None:
        self._store = store
        self._friends = store.friends
        self._days = days
        self._guess_ms = now_ms
        """The node's own clock: good enough to guess today by, which the store then confirms."""
        self._ahead_ms = 0

    async def page(self, account: Account, message: wire.BoardGet) -> wire.Board:
        """Read a board. Raise Refusal for one that there is not, or that the asker may not see."""
        board, page = await self._read(account, message, self._guess_ms() + self._ahead_ms)
        self._ahead_ms = page.now_ms - self._guess_ms()
        if board != self._board(message, page.now_ms):
            # Midnight, or a node whose clock is far off.
            board, page = await self._read(account, message, page.now_ms)
        if board.kind is BoardKind.DAILY:
            await self._days.check_board(account, board)
        return _answer(message, board, page)

    async def friends(self, account: Account, message: FriendsAsked) -> wire.Friends:
        """Name a friend, forget one, list them. Raise Refusal."""
        store, me = self._friends, account.player
        if not isinstance(message, wire.FriendsGet):
            friend = await store.who(message.name)
            if friend is None or friend == me:
                who = "yourself" if friend else f"{message.name}; nobody here has that name"
                raise Refusal(ErrorCode.NOT_FOUND, f"you cannot befriend {who}")
            if isinstance(message, wire.FriendRemove):
                await store.remove(me, friend)
            elif not await store.add(me, friend):
                raise Refusal(ErrorCode.TOO_MANY, f"{MAX_FRIENDS} friends are enough for a list")
        listed = tuple(wire.Friend(player=who, name=name) for who, name in await store.of(me))
        return wire.Friends(id=message.id, friends=listed)

    def _board(self, message: wire.BoardGet, now_ms: int) -> Board:
        return _board(message, self._days.here_ms(now_ms))

    async def _read(
        self, account: Account, message: wire.BoardGet, now_ms: int
    ) -> tuple[Board, Page]:
        board, me, limit = self._board(message, now_ms), account.player, message.limit
        if message.friends:
            friends = [friend for friend, _ in await self._friends.of(me)]
            return board, await self._store.of(board, [*friends, me], me=me)
        if message.page is not None:
            turn = self._store.after if message.page[0] == _AFTER else self._store.before
            return board, await turn(board, message.page[1:], limit, me=me)
        if message.around:
            return board, await self._store.around(board, limit, me=me)
        return board, await self._store.top(board, limit, me=me)


_AFTER, _BEFORE = "a", "b"


def _board(message: wire.BoardGet, now_ms: int) -> Board:
    """Which board is meant. Raise Refusal if there is no such."""
    try:
        game(message.game)
    except EngineError as error:
        raise Refusal(ErrorCode.NOT_FOUND, str(error)) from None
    at_ms = now_ms
    if message.day is not None:
        try:
            span = Span.of(message.day)
        except (ValueError, OverflowError):
            raise Refusal(
                ErrorCode.BAD_OPTION, f"{message.day} is no day of the calendar"
            ) from None
        assert span is not None
        at_ms = span.start_ms
    kind = message.board
    if kind is BoardKind.DAILY:
        if message.period is not None:
            raise Refusal(ErrorCode.BAD_OPTION, "the daily board is of a day, not of a period")
        return Board(message.game, kind, day_of(at_ms), message.bots)
    period = message.period or PERIODS[kind][0]
    if period not in PERIODS[kind]:
        there_are = " and ".join(one.value for one in PERIODS[kind])
        sentence = f"there is no {kind.value} board of that period, but: {there_are}"
        raise Refusal(ErrorCode.BAD_OPTION, sentence)
    return Board(message.game, kind, period_of(period, at_ms), message.bots)


def _answer(message: wire.BoardGet, board: Board, page: Page) -> wire.Board:
    first, last = page.before, page.before + len(page.rows)
    there_are_pages = bool(page.rows) and not message.friends
    return wire.Board(
        id=message.id,
        game=board.game,
        board=board.kind,
        period=board.period,
        bots=board.bots,
        total=page.total,
        rows=tuple(_row(board, shown) for shown in page.rows),
        me=None if page.me is None else _row(board, page.me),
        beaten=_beaten(page),
        previous=_BEFORE + page.rows[0].row.text if there_are_pages and first > 0 else None,
        next=_AFTER + page.rows[-1].row.text if there_are_pages and last < page.total else None,
    )


def _row(board: Board, shown: Shown) -> wire.BoardRow:
    row = shown.row
    return wire.BoardRow(
        place=shown.place,
        player=row.player,
        name=shown.label.name,
        run=row.run or None,
        at_ms=row.at_ms,
        **_values(board.kind, board.order.decode(row.order)),
    )


def _values(kind: BoardKind, values: dict[str, int]) -> dict[str, Any]:
    """The numbers of a row as the wire has them."""
    match kind:
        case BoardKind.FASTEST:
            return {"t_ms": values["t_10ms"] * TIME_STEP_MS, "moves": values["moves"]}
        case BoardKind.DAILY:
            t_ms = values.pop("t_100ms") * 100
            return values | {"won": values["won"] == 1, "t_ms": t_ms}
        case BoardKind.SEASON:
            return {"percent": values["points"] // SEASON_UNIT}
        case _:
            return dict(values)


def _beaten(page: Page) -> int | None:
    """The share of the others behind the own row, ties half, in hundredths of a percent."""
    if page.me is None or page.total < 2:
        return None
    behind = page.total - (page.me.place - 1) - page.equal
    return (2 * behind + page.equal - 1) * 10_000 // (2 * (page.total - 1))
