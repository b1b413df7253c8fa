"""One player's table: piles, the moves that are legal now, and how to make and unmake them.

A table holds what its player sees; a card that lies hidden is HIDDEN in its pile. A full table, the
server's, knows beside that which cards these are. Legality, refusals and the hash read the
visible piles only, so a full table and its view cannot differ in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple, TypeAlias

from samedeal.engine import text
from samedeal.engine.cards import EMPTY, HIDDEN
from samedeal.engine.deals import laid_out
from samedeal.engine.errors import IllegalMove, Unreadable
from samedeal.engine.layout import STOCK, WASTE, layout
from samedeal.engine.legality import refusal
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.rules import Rules

__all__ = ["LegalMoves", "Step", "Table"]

_HASH_MASK: Final = 2**53 - 1

Transfer: TypeAlias = tuple[int, int, int, bool, int]
"""Source, cards, target, whether a card was turned up, and the source's old low or -1."""


class Step(NamedTuple):
    """What one action did."""

    move: Move
    cards: tuple[int, ...]
    """Cards that the player's move carried, bottom to top; none for a draw."""
    reveals: tuple[int, ...]
    """Cards that became visible, in order, automatic play included."""
    automatic: tuple[Move, ...]
    is_revealing: bool
    """Whether it turned up a face-down card, turned the stock, or turned the waste over."""


class Table:
    """Piles of one game, one player. Made by `deal`, `parse` or `from_piles`, never by hand."""

    __slots__ = (
        "_accepts", "_base", "_builds", "_down", "_hidden", "_layout", "_lows", "_passes", "_piles",
        "_steps", "_turned", "_undos", "best", "home", "is_won", "opened", "rules",
    )  # fmt: skip

    rules: Rules
    home: int
    """Cards on foundations now, less those that the deal put there."""
    best: int
    """Highest `home` on the way to this position."""
    opened: int
    """Over columns and reserves, dealt height less the lowest height on the way, summed."""
    is_won: bool
    """Whether every card is on a foundation."""

    def __init__(
        self,
        rules: Rules,
        piles: list[bytearray],
        *,
        hidden: dict[int, list[int]] | None,
        down: list[int],
        base: int | None,
        passes: int,
    ) -> None:
        self.rules = rules
        self._layout = layout(rules)
        self._piles = piles
        # What lies under HIDDEN, per stock and column, bottom first; None on a view.
        self._hidden = hidden
        self._down = down
        self._base = base
        self._passes = passes
        tables = rules.tables(base or 0)
        self._accepts = tables.accepts
        self._builds = tables.builds
        self.home = sum(len(piles[at]) for at in self._layout.foundations)
        self.home -= rules.dealt_to_foundations
        self.best = max(0, self.home)
        self.is_won = self.home == self._layout.most_home
        self._lows = [len(pile) for pile in piles]
        self.opened = 0
        for at, size in self._layout.dealt.items():
            self._lows[at] = min(size, self._lows[at])
            self.opened += size - self._lows[at]
        self._steps: list[Step] = []
        self._undos: list[tuple[int, int, int, list[Transfer]]] = []
        # The wastes that were turned over, last one last: a view could not read them off its stock.
        self._turned: list[bytes] = []

    # Making a table

    @classmethod
    def deal(cls, rules: Rules, seed: bytes) -> Table:
        """Deal the cards of a 32-byte seed, automatic moves included: section 3 of the rules."""
        full, base = laid_out(rules, seed)
        down = [0] * len(full)
        if not rules.open_columns:
            for at in layout(rules).columns:
                down[at] = len(full[at]) - 1
        table = cls._from_full(rules, full, down, base, (rules.passes or 1) - 1)
        if rules.plays_home:
            table._play_home([], [], iter(()))
            table.best = table.home
            table.is_won = table.home == table._layout.most_home
        return table

    @classmethod
    def _from_full(
        cls, rules: Rules, full: list[list[int]], down: list[int], base: int | None, passes: int
    ) -> Table:
        hidden = {at: full[at][: down[at]] for at in layout(rules).columns}
        hidden[STOCK] = full[STOCK]
        piles = [
            bytearray([HIDDEN] * count + pile[count:])
            for pile, count in zip(full, down, strict=True)
        ]
        piles[STOCK] = bytearray([HIDDEN]) * len(full[STOCK])
        return cls(rules, piles, hidden=hidden, down=down, base=base, passes=passes)

    @classmethod
    def parse(cls, rules: Rules, position: str) -> Table:
        """Read a position, whole or partial, full or a view. Raise Unreadable, naming the part.

        It stands as it is written: automatic moves only follow an action. A text that counts no
        card as hidden is that of a full table.
        """
        read = text.parse_position(rules, position)
        if read.is_view:
            piles = [bytearray(pile) for pile in read.piles]
            return cls(
                rules, piles, hidden=None, down=read.down, base=read.base, passes=read.passes
            )
        return cls._from_full(rules, read.piles, read.down, read.base, read.passes)

    @classmethod
    def from_piles(
        cls,
        rules: Rules,
        piles: Sequence[tuple[int, Sequence[int]]],
        *,
        base: int | None,
        passes: int | None,
        best: int = 0,
        lows: Sequence[int] | None = None,
    ) -> Table:
        """Make a view of what `piles` gives. Raise Unreadable if it cannot be of this game.

        `best` and `lows` are the records of a play that is under way; without them they start from
        the heights that the piles have now.
        """
        read = text.check_piles(rules, piles, base, passes)
        table = cls(
            rules,
            [bytearray(pile) for pile in read.piles],
            hidden=None,
            down=read.down,
            base=read.base,
            passes=read.passes,
        )
        table._resume(best, table.lows if lows is None else lows)
        return table

    def _resume(self, best: int, lows: Sequence[int]) -> None:
        """Take over records, which the present position cannot have beaten."""
        opening = self._layout.opening
        if len(lows) != len(opening):
            raise Unreadable("lows", f"lows are {len(opening)} heights, not {len(lows)}")
        if best > self._layout.most_home:
            raise Unreadable("best", f"best is at most {self._layout.most_home}")
        for at, low in zip(opening, lows, strict=True):
            if not 0 <= low <= self._lows[at]:
                name = self.rules.piles[at][0]
                raise Unreadable("lows", f"the lowest height of {name} is 0 to {self._lows[at]}")
            self.opened += self._lows[at] - low
            self._lows[at] = low
        self.best = max(self.best, best)

    def view(self) -> Table:
        """Return what the player sees, as a table of its own without history."""
        table = Table(
            self.rules,
            [bytearray(pile) for pile in self._piles],
            hidden=None,
            down=list(self._down),
            base=self._base,
            passes=self._passes,
        )
        table.best, table.opened, table._lows = self.best, self.opened, list(self._lows)
        return table

    # What there is to see

    def __str__(self) -> str:
        piles: list[Sequence[int]] = [
            pile if self._hidden is None else [*self._hidden.get(at, ()), *pile[self._dark(at) :]]
            for at, pile in enumerate(self._piles)
        ]
        return text.write_position(
            self.rules, piles, self._down, self._base, self._passes, is_view=self.is_view
        )

    def _dark(self, at: int) -> int:
        """Hidden cards at the bottom of a pile."""
        return len(self._piles[STOCK]) if at == STOCK else self._down[at]

    def piles(self) -> list[tuple[int, tuple[int, ...]]]:
        """Every pile in the game's order: hidden cards below, then visible ones bottom to top."""
        return [(dark := self._dark(at), tuple(pile[dark:])) for at, pile in enumerate(self._piles)]

    def pile(self, name: str) -> Sequence[int]:
        """The cards of one pile, bottom to top, as its player sees them."""
        return self._piles[self._layout.index[name]]

    def face_down(self, name: str) -> int:
        """How many cards at the bottom of a pile are hidden."""
        return self._dark(self._layout.index[name])

    @property
    def is_view(self) -> bool:
        """Whether hidden cards are only counted."""
        return self._hidden is None

    @property
    def base(self) -> int | None:
        """Base rank, 0 to 12; None in games without."""
        return self._base

    @property
    def passes(self) -> int | None:
        """Passes still to come; None where there is no limit."""
        return None if self.rules.passes is None else self._passes

    @property
    def lows(self) -> tuple[int, ...]:
        """Lowest height on the way here, per column, then per reserve."""
        # Columns and reserves are the last piles.
        return tuple(self._lows[self._layout.opening[0] :])

    @property
    def history(self) -> Sequence[Step]:
        """The steps since the table was made."""
        return self._steps

    @property
    def hash(self) -> int:
        """53 bits that stand for the visible state; the same on every machine."""
        whole = b"\xff".join([*self._piles, bytes((self._passes, (self._base or 0)))])
        return int.from_bytes(blake2b(whole, digest_size=8).digest(), "big") & _HASH_MASK

    # Legality

    @property
    def legal_moves(self) -> LegalMoves:
        """Every legal move now: supports `in`, iteration, truth and len."""
        return LegalMoves(self)

    def is_legal(self, move: Move) -> bool:
        """Whether the rules allow `move` now."""
        if move.count == 0:
            return bool(self._piles[STOCK]) or self._may_turn_over()
        index = self._layout.index
        source, target = index.get(move.source), index.get(move.target)
        if source is None or target is None:
            return False
        return self._fits(source, move.count, target)

    def refusal(self, move: Move) -> str | None:
        """Say what is missing for `move`, from visible cards only; None if it is legal."""
        return None if self.is_legal(move) else refusal(self, move)

    def _may_turn_over(self) -> bool:
        return bool(self._piles[WASTE]) and (self.rules.passes is None or self._passes > 0)

    def _fits(self, source: int, count: int, target: int) -> bool:
        pile = self._piles[source]
        if count > len(pile) - self._down[source] or source == target:
            return False
        goal = self._piles[target]
        if not self._accepts[target][(goal[-1] if goal else EMPTY) * 54 + pile[-count]]:
            return False
        if count > 1:
            plan = self._layout
            return (
                plan.moves_runs
                and source in plan.columns
                and target in plan.columns
                and self._run(source) >= count
            )
        return self._layout.may_leave[source]

    def _run(self, at: int) -> int:
        """Length of the ordered face-up run on top of a column."""
        pile, builds = self._piles[at], self._builds
        longest = len(pile) - self._down[at]
        length = 1
        while length < longest and builds[pile[-length - 1] * 54 + pile[-length]]:
            length += 1
        return min(length, longest)

    def _legal(self) -> Iterator[Move]:
        """Every legal move, the draw last."""
        plan, piles, accepts = self._layout, self._piles, self._accepts
        moves, targets = plan.moves, plan.targets
        tops = [(at, (pile[-1] if (pile := piles[at]) else EMPTY) * 54) for at in targets]
        column_tops = tops[plan.first_column_target :]
        for source in plan.sources:
            pile = piles[source]
            if not pile:
                continue
            card = pile[-1]
            for target, top in tops:
                if accepts[target][top + card] and target != source:
                    yield moves[source, 1, target]
            if plan.moves_runs and source in plan.columns:
                for count in range(2, self._run(source) + 1):
                    card = pile[-count]
                    for target, top in column_tops:
                        if accepts[target][top + card] and target != source:
                            yield moves[source, count, target]
        if piles[STOCK] or self._may_turn_over():
            yield DRAW

    # Making and unmaking moves

    def push(self, move: Move, reveals: Sequence[int] = ()) -> Step:
        """Make `move` and what follows from it by itself. Raise IllegalMove and change nothing.

        On a view, `reveals` are the cards that get turned up, in order, as the full table's step
        has them; a card that is not given stays unknown, and nothing can be done with it.
        """
        home, best, opened = self.home, self.best, self.opened
        transfers: list[Transfer] = []
        shown: list[int] = []
        known = iter(reveals)
        cards: tuple[int, ...] = ()
        automatic: tuple[Move, ...] = ()
        if move.count == 0:
            self._draw(transfers, shown, known)
            revealing = True
        else:
            index = self._layout.index
            source, target = index.get(move.source, -1), index.get(move.target, -1)
            if source < 0 or target < 0 or not self._fits(source, move.count, target):
                raise IllegalMove(refusal(self, move))
            cards = tuple(self._piles[source][-move.count :])
            self._transfer(source, move.count, target, transfers, shown, known)
            revealing = False
        if self.rules.plays_home:
            automatic = self._play_home(transfers, shown, known)
        if self.home != home:
            self.best = max(best, self.home)
            self.is_won = self.home == self._layout.most_home
        step = Step(move, cards, tuple(shown), automatic, revealing or bool(shown))
        self._steps.append(step)
        self._undos.append((home, best, opened, transfers))
        return step

    def pop(self) -> Step:
        """Unmake the last step exactly and return it. Raise IndexError if there is none."""
        step = self._steps.pop()
        self.home, self.best, self.opened, transfers = self._undos.pop()
        self.is_won = self.home == self._layout.most_home
        for transfer in reversed(transfers):
            self._transfer_back(*transfer)
        return step

    def _draw(
        self,
        transfers: list[Transfer],
        shown: list[int],
        known: Iterator[int],
    ) -> None:
        stock, waste = self._piles[STOCK], self._piles[WASTE]
        if stock:
            count = min(self.rules.draw, len(stock))
            del stock[-count:]
            for _ in range(count):
                card = next(known, HIDDEN) if self._hidden is None else self._hidden[STOCK].pop()
                waste.append(card)
                shown.append(card)
            transfers.append((STOCK, count, WASTE, False, -1))
        elif self._may_turn_over():
            if self._hidden is not None:
                self._hidden[STOCK] = list(reversed(waste))
            stock += bytes([HIDDEN]) * len(waste)
            transfers.append((WASTE, len(waste), STOCK, False, -1))
            self._turned.append(bytes(waste))
            waste.clear()
            if self.rules.passes is not None:
                self._passes -= 1
        else:
            raise IllegalMove(refusal(self, DRAW))

    def _transfer(
        self,
        source: int,
        count: int,
        target: int,
        transfers: list[Transfer],
        shown: list[int],
        known: Iterator[int],
    ) -> None:
        """Carry the top cards over, turn up the card below, keep the records."""
        plan = self._layout
        pile = self._piles[source]
        if count == 1:
            self._piles[target].append(pile.pop())
        else:
            self._piles[target] += pile[-count:]
            del pile[-count:]
        left = len(pile)
        self.home += plan.is_home[target] - plan.is_home[source]
        low = -1
        if plan.is_opening[source] and left < self._lows[source]:
            low = self._lows[source]
            self.opened += low - left
            self._lows[source] = left
        turned = left > 0 and left == self._down[source]
        if turned:
            self._down[source] -= 1
            card = next(known, HIDDEN) if self._hidden is None else self._hidden[source].pop()
            pile[-1] = card
            shown.append(card)
        transfers.append((source, count, target, turned, low))

    def _transfer_back(self, source: int, count: int, target: int, turned: bool, low: int) -> None:
        piles = self._piles
        if target == STOCK:
            piles[STOCK].clear()
            piles[WASTE] += self._turned.pop()
            if self._hidden is not None:
                self._hidden[STOCK] = []
            if self.rules.passes is not None:
                self._passes += 1
            return
        goal, pile = piles[target], piles[source]
        if source == STOCK:
            for _ in range(count):
                card = goal.pop()
                if self._hidden is not None:
                    self._hidden[STOCK].append(card)
                pile.append(HIDDEN)
            return
        if turned:
            if self._hidden is not None:
                self._hidden[source].append(pile[-1])
            pile[-1] = HIDDEN
            self._down[source] += 1
        pile += goal[-count:]
        del goal[-count:]
        if low >= 0:
            self._lows[source] = low

    def _play_home(
        self,
        transfers: list[Transfer],
        shown: list[int],
        known: Iterator[int],
    ) -> tuple[Move, ...]:
        """Send up what nothing can be built on any more, to a fixed point: section 5."""
        made: list[Move] = []
        while (found := self._next_home()) is not None:
            source, target = found
            self._transfer(source, 1, target, transfers, shown, known)
            made.append(self._layout.moves[source, 1, target])
        return tuple(made)

    def _next_home(self) -> tuple[int, int] | None:
        """Find the first card, columns before the waste, that goes up by itself, and where to."""
        plan, piles, accepts = self._layout, self._piles, self._accepts
        tops = [
            (at, accepts[at], (pile[-1] if (pile := piles[at]) else EMPTY) * 54)
            for at in plan.foundations
        ]
        for source in plan.feeders:
            pile = piles[source]
            if pile:
                card = pile[-1]
                for target, takes, top in tops:
                    if takes[top + card] and self._is_spent(card):
                        return source, target
        return None

    def _is_spent(self, card: int) -> bool:
        """Whether both cards that could be built on `card` are home."""
        value = card % 13
        if value == 0:
            return True
        others = (0, 39) if card // 13 in (1, 2) else (13, 26)
        homes = [self._piles[at] for at in self._layout.foundations]
        return all(any(suit + value - 1 in home for home in homes) for suit in others)

    # How it stands

    @property
    def is_stuck(self) -> bool:
        """Whether draws alone lead to no position with a move that is progress: section 6.

        A card that a draw sends home by itself is progress, too. Exact on a full table; it looks
        into the hidden stock, so it is not for the player. On a view an unknown card may always be
        progress: it is never stuck before the last of them was seen.
        """
        if self.is_won:
            return False
        waste = self._piles[WASTE]
        draws = 0
        try:
            for _ in range(self._draws_to_look_at() + 1):
                if self._has_progress():
                    return False
                if not self.is_legal(DRAW):
                    return True
                step = self.push(DRAW)
                draws += 1
                if step.automatic or (waste and waste[-1] == HIDDEN):
                    return False
            return True
        finally:
            for _ in range(draws):
                self.pop()

    @property
    def is_stuck_visibly(self) -> bool:
        """Whether that is plain to see: no draw is left, and no move but null moves."""
        return not self.is_won and not self.is_legal(DRAW) and not self._has_progress()

    @property
    def pass_length(self) -> int | None:
        """Draws in a row after which every card of stock and waste was seen; None if passes end."""
        if self.rules.passes is not None:
            return None
        return self._draws(len(self._piles[STOCK]) + len(self._piles[WASTE])) + 1

    def _draws(self, cards: int) -> int:
        return -(-cards // self.rules.draw)

    def _draws_to_look_at(self) -> int:
        """The rest of this pass and, where passes are left, whole further ones with turn-overs."""
        rest, waste = len(self._piles[STOCK]), len(self._piles[WASTE])
        further = 1 if self.rules.passes is None else self._passes
        return self._draws(rest) + further * (self._draws(rest + waste) + 1)

    def _has_progress(self) -> bool:
        """Whether a legal move is neither a draw nor null."""
        return any(move.count and not self._is_null(move) for move in self._legal())

    def _is_null(self, move: Move) -> bool:
        """Whether a legal move changes nothing but which pile is which."""
        plan = self._layout
        source, target = plan.index[move.source], plan.index[move.target]
        pile = self._piles[source]
        if source in plan.columns and target in plan.columns:
            return len(pile) == move.count and not self._piles[target]
        ways = plan.ways
        return source in ways and ways[source] == ways.get(target)


class LegalMoves:
    """The legal moves of a table as it stands when they are asked for."""

    __slots__ = ("_table",)

    def __init__(self, table: Table) -> None:
        self._table = table

    def __contains__(self, move: object) -> bool:
        return isinstance(move, Move) and self._table.is_legal(move)

    def __iter__(self) -> Iterator[Move]:
        return self._table._legal()

    def __bool__(self) -> bool:
        return next(iter(self), None) is not None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<LegalMoves {', '.join(map(str, self))}>"
