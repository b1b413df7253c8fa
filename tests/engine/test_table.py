"""A table after the deal, after a move, and as its player sees it."""

from __future__ import annotations

import pytest

from samedeal.engine.cards import HIDDEN, card_text, parse_card
from samedeal.engine.errors import IllegalMove
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import DRAW, Move
from samedeal.engine.table import Step, Table

SEEDS = [bytes([number]) * 32 for number in range(12)]
BELOW_FIVE = "F1=AH,2H,3H,4H; F2=AC,2C,3C,4C; F3=AS,2S,3S,4S"


def read(game_id: str, position: str) -> Table:
    return Table.parse(game(game_id), position)


def play(table: Table, *moves: str) -> Step:
    """Play moves and return what the last one did."""
    return [table.push(Move.parse(move)) for move in moves][-1]


def cards(texts: str) -> tuple[int, ...]:
    return tuple(parse_card(text) for text in texts.split(","))


def pile(table: Table, name: str) -> str:
    return ",".join("?" if card == HIDDEN else card_text(card) for card in table.pile(name))


def dealt(part: str) -> list[str]:
    """The cards of one pile of a written position, whether face up or down."""
    return [word[:2] for word in part.partition("=")[2].split(",")]


def sizes(table: Table, kind: str) -> list[int]:
    return [len(table.pile(name)) for name, _ in table.rules.piles if name[0] == kind]


# The deal


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.hex()[:4])
def test_sally_with_kings_deals_all_eight_base_cards_home(seed: bytes) -> None:
    table = Table.deal(game("sally-kings"), seed)
    home = [card_text(table.pile(f"F{number}")[0]) for number in range(1, 9)]
    assert sizes(table, "F") == [1] * 8
    assert [card[1] for card in home] == list("CCDDHHSS")
    (base,) = {card[0] for card in home}
    columns_and_stock = str(table).split("; ")[9:]
    assert not [card for pile in columns_and_stock for card in dealt(pile) if card[0] == base]
    assert sum(table.face_down(f"T{number}") for number in range(1, 10)) == 36
    assert sizes(table, "T") == list(range(1, 10))
    assert (len(table.pile("S")), table.home) == (51, 0)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.hex()[:4])
def test_sally_deals_one_card_home_and_its_rank_is_the_base(seed: bytes) -> None:
    table = Table.deal(game("sally"), seed)
    assert sizes(table, "F") == [1] + [0] * 7
    assert table.pile("F1")[0] % 13 == table.base
    assert (len(table.pile("S")), table.home) == (58, 0)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.hex()[:4])
def test_lanes_deals_the_aces_home_and_everything_else_open(seed: bytes) -> None:
    table = Table.deal(game("lanes"), seed)
    assert [pile(table, f"F{number}") for number in (1, 2, 3, 4)] == ["AC", "AD", "AH", "AS"]
    assert sizes(table, "T") == [3] * 6
    assert all(table.face_down(f"T{number}") == 0 for number in range(1, 7))
    assert (len(table.pile("S")), len(table.pile("W")), table.home) == (30, 0, 0)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.hex()[:4])
def test_acey_and_kingsley_deals_aces_and_kings_home_and_two_reserves(seed: bytes) -> None:
    table = Table.deal(game("acey-and-kingsley"), seed)
    home = [pile(table, f"F{number}") for number in range(1, 9)]
    assert home == ["AC", "AD", "AH", "AS", "KC", "KD", "KH", "KS"]
    assert (sizes(table, "T"), sizes(table, "R")) == ([1] * 4, [13, 13])
    assert (len(table.pile("S")), table.home) == (66, 0)


def test_aces_that_single_left_deals_on_top_are_home_before_the_first_move() -> None:
    number = next(
        number
        for number in range(200)
        if Table.deal(game("single-left"), number.to_bytes(32, "big")).home
    )
    table = Table.deal(game("single-left"), number.to_bytes(32, "big"))
    assert table.history == []
    assert table.home == table.best == sum(sizes(table, "F"))
    assert table.opened == 28 - sum(sizes(table, "T"))
    assert all(
        len(table.pile(f"T{column}")) - table.face_down(f"T{column}") == 1
        for column in range(1, 8)
        if table.pile(f"T{column}")
    )
    view = Table.from_piles(table.rules, table.piles(), base=None, passes=0)
    assert (view.home, view.best, view.opened, view.lows) == (
        table.home,
        table.best,
        table.opened,
        table.lows,
    )


# Drawing


def test_the_last_turn_takes_what_is_left() -> None:
    table = read("sally-kings", "base=7; S=5D,4D; W=9C")
    step = play(table, "draw")
    assert str(table) == "base=7; W=9C,4D,5D"
    assert (step.cards, step.reveals, step.is_revealing) == ((), cards("4D,5D"), True)


def test_a_turn_over_deals_nothing_and_keeps_the_order() -> None:
    table = read("sally-kings", "base=7; W=5D,4D")
    step = play(table, "draw")
    assert str(table) == "base=7; S=4D,5D"
    assert (step.reveals, step.is_revealing) == ((), True)
    play(table, "draw")
    assert str(table) == "base=7; W=5D,4D"


def test_after_a_turn_over_the_same_cards_come_by_threes_again() -> None:
    table = Table.deal(game("sally"), SEEDS[3])
    first = [play(table, "draw").reveals for _ in range(20)]
    assert [len(turn) for turn in first] == [3] * 19 + [1]
    assert len(table.pile("W")) == 58
    play(table, "draw")
    assert [play(table, "draw").reveals for _ in range(20)] == first


def test_a_game_of_two_passes_turns_over_once() -> None:
    table = read("gargantua", "passes=1; W=5D,4D")
    play(table, "draw")
    assert (str(table), table.passes) == ("S=4D,5D", 0)
    play(table, "draw", "draw")
    assert DRAW not in table.legal_moves
    for _ in range(3):
        table.pop()
    assert (str(table), table.passes) == ("passes=1; W=5D,4D", 1)


# Moves


def test_a_column_never_fills_itself() -> None:
    up_to_seven = "F1=AC,2D,3H,4S,5C,6D,7H"
    table = read("acey-and-kingsley", f"{up_to_seven}; T1=8S; S=9C,9D; W=2C")
    play(table, "T1>F1")
    assert str(table) == f"{up_to_seven},8S; S=9C,9D; W=2C"


def test_an_exposed_card_is_turned_up() -> None:
    table = read("sally", "base=A; T1=KC-,QC-,9S; T2=TD")
    step = play(table, "T1>T2")
    assert str(table) == "base=A; T1=KC-,QC; T2=TD,9S"
    assert step == Step(Move("T1", "T2"), cards("9S"), cards("QC"), (), True)


def test_a_group_moves_in_its_order() -> None:
    table = read("sally-kings", "base=7; T1=9D; T2=TC-,KD,QS")
    step = play(table, "T2:2>T3")
    assert str(table) == "base=7; T1=9D; T2=TC; T3=KD,QS"
    assert (step.cards, step.reveals) == (cards("KD,QS"), cards("TC"))


def test_a_plain_move_reveals_nothing() -> None:
    step = play(read("lanes", "T1=5C,9S; T2=TD"), "T1>T2")
    assert step == Step(Move("T1", "T2"), cards("9S"), (), (), False)


def test_a_reserve_is_never_refilled_and_opens() -> None:
    table = read("acey-and-kingsley", "F1=AC; R1=5H,2S; T2=9C; T3=9D; T4=9H")
    opened = table.opened
    play(table, "R1>F1", "R1>T1")
    assert str(table) == "F1=AC,2S; T1=5H; T2=9C; T3=9D; T4=9H"
    assert table.opened == opened + 2


def test_a_column_that_grew_again_counts_by_its_lowest_height() -> None:
    table = read("lanes", "T1=2C,5H,9S; T2=9H,3D,TD; T3=JC,9C,4S; T4=KC,KS,8H")
    assert table.opened == 6
    play(table, "T1>T2", "T1>T5", "T4>T2")
    assert table.opened == 9
    assert table.lows == (1, 3, 3, 2, 0, 0)
    play(table, "T2>T6", "T6>T2")
    assert (table.opened, table.lows) == (9, (1, 3, 3, 2, 0, 0))


def test_a_column_higher_than_dealt_has_opened_nothing_yet() -> None:
    table = read("lanes", "T1=KC,QD,JC,TD,9C; T2=2C,3C,4C; T3=2D,3D,4D; T4=2H,3H,4H; T5=TH")
    assert table.opened == 5
    play(table, "T1>T5", "T1>T6")
    assert table.opened == 5


def test_a_card_taken_back_lowers_home_and_never_best() -> None:
    table = read("lanes", "F1=AC,2C; F2=AD; F3=AH; F4=AS; T1=3D")
    assert (table.home, table.best) == (1, 1)
    play(table, "F1>T1")
    assert (table.home, table.best) == (0, 1)
    play(table, "F2>T2")
    assert (table.home, table.best) == (-1, 1)


def test_the_last_card_home_wins() -> None:
    ranks = "A23456789TJQK"
    full = [",".join(rank + suit for rank in ranks) for suit in "CDH"]
    spades = ",".join(f"{rank}S" for rank in ranks[:-1])
    table = read("lanes", f"F1={full[0]}; F2={full[1]}; F3={full[2]}; F4={spades}; T1=KS")
    assert not table.is_won
    play(table, "T1>F4")
    assert table.is_won
    assert (table.home, table.is_stuck, table.is_stuck_visibly) == (48, False, False)


@pytest.mark.parametrize(
    ("game_id", "position", "move"),
    [
        ("lanes", "T1=9S,8S; T2=TD", "T1:2>T2"),
        ("lanes", "T1=9S", "T1>T9"),
        ("lanes", "W=9S", "draw"),
        ("sally", "base=A; T1=KC-,9S; T2=TD", "T2>T1"),
        ("single-left", "F1=AC; T1=2D", "F1>T1"),
    ],
)
def test_an_illegal_move_is_refused_and_changes_nothing(
    game_id: str, position: str, move: str
) -> None:
    table = read(game_id, position)
    with pytest.raises(IllegalMove) as error:
        play(table, move)
    assert error.value.sentence == table.refusal(Move.parse(move))
    assert (str(table), len(table.history)) == (position, 0)


# Automatic moves


def test_a_five_goes_up_when_both_fours_of_the_other_colour_are_home() -> None:
    table = read("single-left", f"{BELOW_FIVE}; T1=9C,5H; S=KD")
    step = play(table, "draw")
    assert step.automatic == (Move("T1", "F1"),)
    assert pile(table, "F1") == "AH,2H,3H,4H,5H"


def test_a_five_stays_while_one_four_of_the_other_colour_is_out() -> None:
    table = read("single-left", BELOW_FIVE.replace(",4S", "") + "; T1=9C,5H; S=KD")
    assert play(table, "draw").automatic == ()
    play(table, "T1>F1")
    assert pile(table, "F1") == "AH,2H,3H,4H,5H"


def test_a_drawn_ace_goes_up_by_itself_within_the_one_move() -> None:
    table = read("single-left", "S=AD; W=7C")
    step = play(table, "draw")
    assert str(table) == "F1=AD; W=7C"
    assert step == Step(DRAW, (), cards("AD"), (Move("W", "F1"),), True)
    assert (len(table.history), table.home) == (1, 1)


def test_exposed_cards_are_turned_up_between_automatic_moves() -> None:
    table = read("single-left", "F1=AC; F2=AD; T1=KS-,AH-,2H-,AS; T2=9C; S=7C")
    step = play(table, "draw")
    assert step.automatic == (Move("T1", "F3"),)
    assert step.reveals == cards("7C,2H")
    table = read("single-left", "F1=AC; F2=AD; T1=KS-,2H-,AH-,AS; T2=9C; S=7C")
    step = play(table, "draw")
    assert step.automatic == (Move("T1", "F3"), Move("T1", "F4"), Move("T1", "F4"))
    assert step.reveals == cards("7C,AH,2H,KS")
    table.pop()
    assert str(table) == "F1=AC; F2=AD; T1=KS-,2H-,AH-,AS; T2=9C; S=7C"


def test_a_position_that_is_read_stands_until_the_first_action() -> None:
    table = read("single-left", "W=AC")
    assert str(table) == "W=AC"
    assert Move.parse("W>F1") in table.legal_moves


# Views


def test_a_view_counts_what_is_hidden() -> None:
    table = read("single-left", "T1=KS; T4=2C-,3C-,9H-,5C; S=4D,8D; W=QH")
    assert str(table.view()) == "T1=KS; T4=3?,5C; S=2?; W=QH"
    assert table.piles()[0] == (2, ())
    assert table.piles()[9] == (3, cards("5C"))
    assert not table.is_view
    assert table.view().is_view


def test_after_a_turn_over_a_view_has_forgotten_the_stock() -> None:
    table = read("sally", "base=A; T1=2C-,9S; W=5D,4D")
    view = table.view()
    view.push(DRAW)
    table.push(DRAW)
    assert str(view) == str(table.view()) == "base=A; T1=1?,9S; S=2?"
    assert view.hash == table.hash
    view.pop()
    assert str(view) == "base=A; T1=1?,9S; W=5D,4D"


def test_a_card_that_was_not_told_stays_unknown_and_does_nothing() -> None:
    view = read("single-left", "T1=2?,9S; T2=TD; S=2?")
    view.push(Move.parse("T1>T2"))
    view.push(DRAW)
    assert str(view) == "T1=1?,?; T2=TD,9S; S=1?; W=?"
    assert set(view.legal_moves) == {DRAW}
    assert view.refusal(Move.parse("W>T3")) == "the top card of the waste is not known yet"
    assert str(read("single-left", str(view))) == str(view)


# The hash

HASHES = [
    ("sally", 7794007092336373, 5111585851491486),
    ("sally-kings", 5364386842907311, 6478506267222919),
    ("acey-and-kingsley", 8038991943607354, 1192484497388413),
    ("lanes", 8209468707603175, 510268637734061),
    ("single-left", 169429514819940, 1986978007032985),
]


@pytest.mark.parametrize(("game_id", "dealt", "drawn"), HASHES)
def test_the_hash_is_the_same_in_every_version(game_id: str, dealt: int, drawn: int) -> None:
    table = Table.deal(game(game_id), bytes(32))
    assert table.hash == dealt
    play(table, "draw", "draw", "draw")
    assert table.hash == drawn


@pytest.mark.parametrize("game_id", GAMES)
def test_every_position_on_the_way_has_another_hash_below_2_to_53(game_id: str) -> None:
    table = Table.deal(game(game_id), SEEDS[1])
    seen = {table.hash}
    for count in range(1, 9):
        play(table, "draw")
        seen.add(table.hash)
        assert len(seen) == count + 1
    assert max(seen) < 2**53


@pytest.mark.parametrize(
    ("game_id", "one", "other"),
    [
        ("lanes", "T1=9S", "T2=9S"),
        ("sally", "base=A; T1=9S", "base=2; T1=9S"),
        ("gargantua", "W=9S", "passes=1; W=9S"),
        ("sally", "base=A; T1=2C-,9S", "base=A; T1=9S"),
        ("sally", "base=A; S=9S", "base=A; S=9S,2C"),
    ],
)
def test_whatever_can_be_seen_counts_in_the_hash(game_id: str, one: str, other: str) -> None:
    assert read(game_id, one).hash != read(game_id, other).hash


# Stuck


@pytest.mark.parametrize(
    ("game_id", "position"),
    [
        ("single-left", "T1=KS; T3=QC"),
        ("lanes", "T1=9S; T2=4S"),
        ("acey-and-kingsley", "F1=AC; F2=AD,2D; T1=9S; T2=9C; T3=9D; T4=9H"),
        ("sally-kings", "base=6; F1=6C,7C; F2=6C; T1=9S"),
    ],
)
def test_null_moves_alone_are_no_progress(game_id: str, position: str) -> None:
    table = read(game_id, position)
    assert table.legal_moves
    assert table.is_stuck
    assert table.is_stuck_visibly


@pytest.mark.parametrize(
    ("game_id", "position"),
    [
        ("single-left", "T1=5D-,KS; T3=QC"),
        ("lanes", "T1=9S,5C"),
        ("acey-and-kingsley", "F1=AC,2C; F5=4C,3C; T1=9S; T2=9C; T3=9D; T4=9H"),
        ("sally", "base=A; T1=9S; T2=2D; S=8H,3C,4C"),
        ("sally", "base=A; T1=9S; T2=2D; W=3C,4C,8H,5C"),
        ("single-left", "T1=9S; S=AD"),
    ],
)
def test_progress_after_draws_alone_is_not_stuck(game_id: str, position: str) -> None:
    assert not read(game_id, position).is_stuck


def test_no_stuck_before_the_stock_is_gone_is_plain_to_see() -> None:
    table = read("lanes", "T1=9S; T2=4S; T3=9C; T4=4C; T5=KC; T6=KS; S=QS")
    assert table.is_stuck
    assert not table.is_stuck_visibly
    play(table, "draw")
    assert table.is_stuck_visibly


@pytest.mark.parametrize(
    ("game_id", "position", "draws"),
    [
        ("sally", "base=A; S=2C,3C,4C,5C", 3),
        ("sally", "base=A; W=2C,3C,4C", 2),
        ("klondike", "S=2C,3C; W=4C", 4),
        ("lanes", "S=2C,3C", None),
        ("gargantua", "passes=1; S=2C", None),
    ],
)
def test_a_whole_pass_is_every_turn_and_the_turn_over(
    game_id: str, position: str, draws: int | None
) -> None:
    assert read(game_id, position).pass_length == draws
