"""A table as rows of text, and which pile lies where on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from samedeal.engine.cards import HIDDEN, rank, suit
from samedeal.engine.counts import counted
from samedeal.engine.moves import DRAW
from samedeal.engine.rules import UP, Kind, Rules, start_rank
from samedeal.engine.table import Table
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import Canvas, Ink, Row

__all__ = ["CARD_ROWS", "Marks", "Picture", "Spot", "draw"]

CARD_ROWS: Final = 3
"""Height of a card that is drawn as a box."""
_BOX_WIDTH: Final = 6
_SUIT_ORDER: Final = (3, 2, 1, 0)
_PILES_OF_A_ROW: Final = 10
_ROOMY: Final = 48
_BOXES: Final = {False: tuple("╭─╮│╰╯"), True: tuple("+-+|++")}


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked on a board."""

    picked: str | None = None
    """The pile that was picked as a source."""
    count: int = 0
    """How many of its cards."""
    targets: frozenset[str] = frozenset()
    """Piles that take them."""
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A place on the picture that belongs to a pile."""

    row: int
    left: int
    right: int
    """The cell after it."""
    pile: str
    cards: int = 1
    """How many lie from here to the top of the pile."""


@dataclass(slots=True)
class Picture:
    """A drawn board."""

    rows: list[Row]
    spots: list[Spot] = field(default_factory=list)
    hidden_rows: int = 0
    """Rows of the longest column that do not fit: how far one can scroll."""

    def at(self, row: int, cell: int) -> Spot | None:
        """What lies there; the one drawn last wins."""
        for spot in reversed(self.spots):
            if spot.row == row and spot.left <= cell < spot.right:
                return spot
        return None

    def place(self, pile: str) -> tuple[int, int] | None:
        """Row and cell where a pile begins."""
        return next(((spot.row, spot.left) for spot in self.spots if spot.pile == pile), None)


def draw(
    table: Table,
    width: int,
    height: int,
    faces: Faces,
    marks: Marks = Marks(),
    *,
    boxes: bool = False,
    scroll: int = 0,
    reserves: tuple[str, str] = ("r", "t"),
) -> Picture:
    """Draw a table into so many cells. `scroll` is how many rows the columns are pulled down,
    `reserves` what the reserves are called."""
    drawing = _Drawing(table, Canvas(width, height), faces, marks, boxes, scroll, reserves)
    if table.rules.in_suit:
        drawing.by_suits()
    else:
        drawing.by_directions()
    return drawing.picture()


class _Drawing:
    """A picture in the making."""

    def __init__(
        self,
        table: Table,
        canvas: Canvas,
        faces: Faces,
        marks: Marks,
        boxes: bool,
        scroll: int,
        reserves: tuple[str, str],
    ) -> None:
        self.table = table
        self.rules: Rules = table.rules
        self.canvas = canvas
        self.faces = faces
        self.marks = marks
        self.boxes = boxes
        self.scroll = scroll
        self.reserve_names = reserves
        self.spots: list[Spot] = []
        self.hidden_rows = 0
        kinds: Mapping[str, Kind] = dict(self.rules.piles)
        self.columns = [name for name, kind in kinds.items() if kind is Kind.COLUMN]
        self.reserves = [name for name, kind in kinds.items() if kind is Kind.RESERVE]
        self.homes = [name for name, kind in kinds.items() if kind is Kind.FOUNDATION]

    def picture(self) -> Picture:
        return Picture(self.canvas.rows(), self.spots, self.hidden_rows)

    # The two arrangements

    def by_suits(self) -> None:
        """Stock, foundations by suit, columns: all games whose foundations hold one suit each."""
        self._stock(0)
        self._homes_by_suit(1)
        gap = 1 if self.canvas.height > 18 and self.rules.packs == 1 else 0
        self._tableau(3 + gap, 0, self.canvas.width)

    def by_directions(self) -> None:
        """Foundations up and down, reserves, spaces, stock: foundations of any suit."""
        roomy = self.canvas.height >= 19
        self._homes_by_direction(0)
        at = 6 if roomy else 4
        for name, key in zip(self.reserves, self.reserve_names, strict=False):
            at = self._reserve(at, name, key) + int(roomy)
        self.canvas.put(at + 1, 1, "spaces", Ink.DIM)
        deep = CARD_ROWS if self.boxes else 1
        self._tableau(at, 8, min(self.canvas.width, 40), deep)
        at += 1 + deep + int(roomy)
        self._stock(at)
        if roomy and self.rules.passes == 1:
            turns = f"one pass: a turn brings {counted(self.rules.draw, 'card')} and stands"
            self.canvas.put(at + 1, 1, turns, Ink.DIM)

    # Their parts

    def _label(self, at: int, left: int, pile: str, text: str, *others: str) -> int:
        """Name a pile; brackets say that it is picked, arrows that it takes the pick, braces that
        the cursor is on it."""
        marks, piles = self.marks, (pile, *others)
        ink, before, after = Ink.DIM, " ", " "
        if marks.picked in piles:
            ink, before, after = Ink.PICK, "[", "]"
        elif marks.targets.intersection(piles):
            ink, before, after = Ink.TARGET, ">", "<"
        if marks.cursor in piles:
            ink = Ink.CURSOR if ink is Ink.DIM else ink
            before, after = ("{", "}") if before == " " else ("{" + before, after + "}")
            left -= len(before) - 1
        end = self.canvas.put(at, left, f"{before}{text}{after}", ink)
        self.spots.append(Spot(at, left, end, pile))
        return end

    def _stock(self, at: int) -> None:
        table, rules = self.table, self.rules
        stock = table.pile("S")
        left = self._label(at, 0, "S", "stock")
        text = str(len(stock))
        if self.canvas.width >= _ROOMY:
            text += f" (by {rules.draw}, {self._pass()})"
        left = self.canvas.put(at, left, text)
        self.spots.append(Spot(at, 0, left, "S"))
        waste = table.pile("W")
        left = self._label(at, left + 1, "W", "waste")
        start = left - 7
        left = self.canvas.put(at, left, f"({len(waste)}) ")
        room = (self.canvas.width - left - 5) // (3 + int(self.faces.has_wide_tens))
        left = self._fan(at, left, waste[-max(1, min(3, 1 + room)) :])
        self.spots.append(Spot(at, start, left, "W"))

    def _pass(self) -> str:
        """Which time the stock is gone through, of how many."""
        table, most = self.table, self.rules.passes
        if most == 1:
            return "one pass"
        turned = sum(step.move == DRAW and not step.reveals for step in table.history)
        if most is None or table.passes is None:
            return f"pass {turned + 1}"
        return f"pass {most - table.passes}/{most}"

    def _fan(self, at: int, left: int, cards: Sequence[int]) -> int:
        """Cards side by side; the last one, which can be played, in brackets."""
        for card in cards[:-1]:
            left = self.canvas.put(at, left, self.faces.card(card), self.faces.ink(card)) + 1
        if not cards:
            return self.canvas.put(at, left, "--", Ink.DIM)
        left = self.canvas.put(at, left, "[")
        left = self.canvas.put(at, left, self.faces.card(cards[-1]), self.faces.ink(cards[-1]))
        return self.canvas.put(at, left, "]")

    def _homes_by_suit(self, at: int) -> None:
        table, faces, rules = self.table, self.faces, self.rules
        by_suit: dict[int, list[str]] = {number: [] for number in range(4)}
        empty: list[str] = []
        for name in self.homes:
            pile = table.pile(name)
            (by_suit[suit(pile[-1])] if pile else empty).append(name)
        for piles in by_suit.values():
            piles.sort(key=lambda name: -len(table.pile(name)))
        slots = len(self.homes) // 4
        self._label(at, 0, self.homes[0], "home", *self.homes[1:])
        self.canvas.put(at + 1, 1, "next", Ink.DIM)
        left = 7
        room = 3 + int(faces.has_wide_tens)
        for number in _SUIT_ORDER:
            ink, sign = faces.suit_ink(number), faces.suit(number)
            self.canvas.put(at, left, sign, ink)
            self.canvas.put(at + 1, left, sign, ink)
            cell = left + 1
            for slot in range(slots):
                named = by_suit[number]
                home = named[slot] if slot < len(named) else (empty[0] if empty else None)
                cell = self._home(at, cell, home, slot < len(named), room)
            left = cell + 1
        self.canvas.put(at, left, f"{table.home}/{rules.total - rules.dealt_to_foundations}")
        if rules.has_base:
            self.canvas.put(at + 1, left, f"base {faces.rank(table.base or 0)}")

    def _home(self, at: int, left: int, pile: str | None, is_of_suit: bool, room: int) -> int:
        """One foundation of a suit, or the place where it will be, and what it needs next."""
        cards = self.table.pile(pile) if pile and is_of_suit else ()
        text = self.faces.rank(rank(cards[-1])) if cards else "-"
        is_picked = pile is not None and self.marks.picked == pile and is_of_suit
        # The target of a card is the foundation of its suit, or the first place of a new one.
        is_target = pile in self.marks.targets and (bool(cards) or self._starts(left))
        before, after, ink = " ", " ", Ink.PLAIN
        if is_picked:
            before, after, ink = "[", "]", Ink.PICK
        elif is_target:
            before, after, ink = ">", "<", Ink.TARGET
        self.canvas.put(at, left, f"{before}{text}{after}", ink)
        following = self._next(pile, cards) if pile else "*"
        self.canvas.put(at + 1, left + 1, following)
        if pile is not None:
            self.spots.append(Spot(at, left, left + room, pile))
            self.spots.append(Spot(at + 1, left, left + room, pile))
        return left + room

    def _starts(self, left: int) -> bool:
        """Whether the picked card starts a foundation of the suit drawn at this cell."""
        marks = self.marks
        pile = self.table.pile(marks.picked) if marks.picked else ()
        if not pile or pile[-1] == HIDDEN:
            return False
        span = 2 + (3 + int(self.faces.has_wide_tens)) * (len(self.homes) // 4)
        return _SUIT_ORDER[(left - 7) // span] == suit(pile[-1])

    def _next(self, pile: str, cards: Sequence[int]) -> str:
        """The rank a foundation needs next; a star where it is full."""
        rules = self.rules
        way = rules.foundations[int(pile[1:]) - 1]
        start = start_rank(rules, self.table.base or 0, way)
        if not cards:
            return self.faces.rank(start)
        following = (rank(cards[-1]) + way) % 13
        return "*" if following == start else self.faces.rank(following)

    def _homes_by_direction(self, at: int) -> None:
        marks, gap = self.marks, int(self.canvas.height >= 19)
        for way, sign in ((UP, "["), (-UP, "]")):
            piles = [
                name
                for name, towards in zip(self.homes, self.rules.foundations, strict=True)
                if towards == way
            ]
            self._label(at, 0, piles[0], f"{'up' if way == UP else 'down':<4} {sign}", *piles[1:])
            self.canvas.put(at + 1, 1, "next", Ink.DIM)
            left = 11
            for name in piles:
                cards = self.table.pile(name)
                before, after, ink = " ", " ", Ink.PLAIN
                if marks.picked == name:
                    before, after, ink = "[", "]", Ink.PICK
                elif name in marks.targets:
                    before, after, ink = ">", "<", Ink.TARGET
                end = self.canvas.put(at, left, before, ink)
                card = self.faces.card(cards[-1]) if cards else "--"
                own = self.faces.ink(cards[-1]) if cards else Ink.DIM
                end = self.canvas.put(at, end, card, own)
                self.canvas.put(at, end, after, ink)
                self.canvas.put(at + 1, left + 1, self._next(name, cards))
                self.spots.append(Spot(at, left, left + 5, name))
                self.spots.append(Spot(at + 1, left, left + 5, name))
                left += 7
            if left + 8 <= self.canvas.width:
                self.canvas.put(at + 1, left, "any suit", Ink.DIM)
            at += 2 + gap
        text = f"{self.table.home}/{self.rules.total - self.rules.dealt_to_foundations}"
        self.canvas.put(0, self.canvas.width - len(text) - 1, text)

    def _reserve(self, at: int, name: str, key: str) -> int:
        """A reserve over two rows; only its last card can be played."""
        cards = self.table.pile(name)
        left = self._label(at, 0, name, f"reserve {key}")
        left = self.canvas.put(at, left, f"({len(cards)})")
        first = 17
        rows = [cards[:_PILES_OF_A_ROW], cards[_PILES_OF_A_ROW:]]
        for offset, part in enumerate(rows):
            if not part and (offset or cards):
                continue
            is_last = offset == 1 or len(cards) <= _PILES_OF_A_ROW
            if is_last:
                end = self._fan(at + offset, first, part)
            else:
                end = first
                for card in part:
                    end = self.canvas.put(
                        at + offset, end, self.faces.card(card), self.faces.ink(card)
                    )
                    end += 1
            self.spots.append(Spot(at + offset, 0 if not offset else first, end, name))
        return at + 2

    # Columns

    def _tableau(self, at: int, left: int, right: int, deep: int | None = None) -> None:
        """Heads with the numbers of the columns, and the columns below them."""
        width = min((right - left) // len(self.columns), _BOX_WIDTH + 2 if self.boxes else 7)
        height = deep or self.canvas.height - at - 1
        scroll = self._scrolled(height)
        middle = 3 if not self.boxes else 2
        for number, name in enumerate(self.columns):
            cell = left + number * width
            self._label(at, cell + middle - 1, name, str(number + 1))
            if self.boxes:
                self._boxed(at + 1, cell, width, height, name, scroll)
            else:
                self._column(at + 1, cell, width, height, name, scroll)

    def _scrolled(self, height: int) -> int:
        """How far the columns are pulled down, at most so that the longest shows its first row."""
        extra = CARD_ROWS - 1 if self.boxes else 0
        longest = max(self._rows_of(name) for name in self.columns) + extra
        self.hidden_rows = max(0, longest - height)
        return min(self.scroll, self.hidden_rows)

    def _rows_of(self, name: str) -> int:
        """Rows of a column: one a card, and one for all that lie face down."""
        hidden = self.table.face_down(name)
        return len(self.table.pile(name)) - hidden + (hidden > 0)

    def _items(self, name: str) -> list[tuple[str, Ink, int]]:
        """What a column shows, a row each: text, kind, and cards from there to the top."""
        cards, hidden = self.table.pile(name), self.table.face_down(name)
        items: list[tuple[str, Ink, int]] = []
        if hidden:
            items.append((f"#{hidden}", Ink.DIM, len(cards)))
        for at, card in enumerate(cards[hidden:], start=hidden):
            items.append((self.faces.card(card), self.faces.ink(card), len(cards) - at))
        return items

    def _window(
        self, items: list[tuple[str, Ink, int]], height: int, scroll: int
    ) -> tuple[int, list[tuple[str, Ink, int]], int]:
        """The rows that fit: how many are cut off above, the rest, and how many below.

        Unscrolled the top card of the pile, the one that plays, is the last to be cut.
        """
        over = len(items) - height
        if over <= 0:
            return 0, items, 0
        above = max(0, over - scroll)
        kept = items[above : above + height]
        return above, kept, len(items) - above - len(kept)

    def _column(self, at: int, left: int, width: int, height: int, name: str, scroll: int) -> None:
        items = self._items(name)
        if not items:
            self.canvas.put(at, left + 2, "--", Ink.DIM)
            self.spots.append(Spot(at, left, left + width, name))
        above, kept, below = self._window(items, height, scroll)
        for offset, (text, ink, count) in enumerate(kept):
            line = at + offset
            if above and offset == 0:
                self.canvas.put(line, left + 1, f"^{above + 1}", Ink.TITLE)
            elif below and offset == len(kept) - 1:
                self.canvas.put(line, left + 1, f"v{below + 1}", Ink.TITLE)
            else:
                self._face(line, left + 2, text, ink, self._is_picked(name, count))
            self.spots.append(Spot(line, left, left + width, name, count))

    def _is_picked(self, name: str, count: int) -> bool:
        return self.marks.picked == name and count <= self.marks.count

    def _face(self, at: int, left: int, text: str, ink: Ink, is_picked: bool) -> None:
        if is_picked:
            self.canvas.put(at, left - 1, "[", Ink.PICK)
        end = self.canvas.put(at, left, text, ink)
        if is_picked:
            self.canvas.put(at, end, "]", Ink.PICK)

    def _boxed(self, at: int, left: int, width: int, height: int, name: str, scroll: int) -> None:
        """Cards as boxes, one row for each that is covered and three for the top one."""
        corner, flat, far, side, low, low_far = _BOXES[self.faces.is_ascii]
        items = self._items(name)
        if not items:
            self.canvas.put(at + 1, left + 2, "--", Ink.DIM)
            for offset in range(CARD_ROWS):
                self.spots.append(Spot(at + offset, left, left + width, name))
            return
        above, kept, below = self._window(items, height - (CARD_ROWS - 1), scroll)
        line = at
        for offset, (text, ink, count) in enumerate(kept):
            frame = Ink.PICK if self._is_picked(name, count) else Ink.DIM
            if above and offset == 0:
                text, ink = f"^{above + 1}", Ink.TITLE
            elif below and offset == len(kept) - 1:
                text, ink = f"v{below + 1}", Ink.TITLE
            start, end = ("[", "]") if frame is Ink.PICK else (corner, far)
            self.canvas.put(line, left, start, frame)
            cell = self.canvas.put(line, left + 1, text, ink)
            self.canvas.put(line, cell, flat * (left + _BOX_WIDTH - 1 - cell) + end, frame)
            self.spots.append(Spot(line, left, left + width, name, count))
            line += 1
        frame = Ink.PICK if self._is_picked(name, 1) else Ink.DIM
        self.canvas.put(line, left, f"{side}{' ' * (_BOX_WIDTH - 2)}{side}", frame)
        self.canvas.put(line + 1, left, f"{low}{flat * (_BOX_WIDTH - 2)}{low_far}", frame)
        for offset in (line, line + 1):
            self.spots.append(Spot(offset, left, left + width, name))
