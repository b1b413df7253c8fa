"""A menu: arrows, letters, clicks."""

from samedeal_client.model.ink import text_of
from samedeal_client.model.menu import Item, Menu

ITEMS = (Item("q", "quick", "at once"), Item("j", "join", "by code"), Item("x", "exit"))


def test_a_letter_takes_its_item_also_where_it_is_an_arrow_elsewhere() -> None:
    assert Menu("M", ITEMS).press("j") == ITEMS[1]


def test_arrows_go_round_and_enter_takes() -> None:
    menu = Menu("M", ITEMS)
    assert menu.press("up") is None
    assert menu.press("enter") == ITEMS[2]
    assert menu.press("k") is None
    assert menu.press("enter") == ITEMS[1]


def test_a_click_finds_the_item_of_its_row() -> None:
    menu = Menu("M", ITEMS, ["a note"])
    rows = [text_of(row) for row in menu.rows(60, 20)]
    at = next(at for at, text in enumerate(rows) if "join" in text)
    assert menu.item_at(at) == ITEMS[1]
    assert menu.item_at(0) is None


def test_what_items_are_about_stands_beside_them_or_below_and_once() -> None:
    wide = [text_of(row) for row in Menu("M", ITEMS).rows(60, 20)]
    narrow = [text_of(row) for row in Menu("M", ITEMS).rows(16, 20)]
    assert [text.split() for text in wide if "at once" in text] == [
        [">", "q", "quick", "at", "once"]
    ]
    assert [text.strip() for text in narrow if "at once" in text] == ["at once"]
    assert not any("by code" in text for text in narrow)


def test_only_a_menu_with_something_below_it_says_how_to_go_back() -> None:
    below = text_of(Menu("M", ITEMS).rows(80, 20)[-1])
    base = text_of(Menu("M", ITEMS, is_base=True).rows(80, 20)[-1])
    assert ("ESC" in below, "ESC" in base) == (True, False)


def test_a_long_sentence_is_whole() -> None:
    rows = [text_of(row) for row in Menu("M", ITEMS).rows(40, 20, "word " * 20)]
    assert " ".join(rows).count("word") == 20
