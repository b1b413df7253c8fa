"""A menu: arrows, keys of items, clicks."""

from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Action, Keys, Section
from samedeal_client.model.menu import Item, Menu

ITEMS = (
    Item(Action.QUICK, "quick", "at once"),
    Item(Action.JOIN, "join", "by code"),
    Item(Action.EXIT, "exit"),
)
KEYS = Keys().on(Section.HOME)


def test_a_key_takes_its_item_also_where_it_is_an_arrow_elsewhere() -> None:
    assert Menu("M", ITEMS, KEYS).press(KEYS.action("j")) == ITEMS[1]


def test_arrows_go_round_and_enter_takes() -> None:
    menu = Menu("M", ITEMS, KEYS)
    assert menu.press(Action.UP) is None
    assert menu.press(Action.TAKE) == ITEMS[2]
    assert menu.press(KEYS.action("k")) is None
    assert menu.press(Action.TAKE) == ITEMS[1]


def test_a_menu_without_items_yet_takes_nothing() -> None:
    menu = Menu("M", (), KEYS)
    assert [menu.press(one) for one in (Action.TAKE, Action.UP, Action.QUICK)] == [None] * 3
    assert "why not" in "".join(text_of(row) for row in menu.rows(60, 20, "why not"))


def test_a_click_finds_the_item_of_its_row() -> None:
    menu = Menu("M", ITEMS, KEYS, ["a note"])
    rows = [text_of(row) for row in menu.rows(60, 20)]
    at = next(at for at, text in enumerate(rows) if "join" in text)
    assert menu.item_at(at) == ITEMS[1]
    assert menu.item_at(0) is None


def test_what_items_are_about_stands_beside_them_or_below_and_once() -> None:
    wide = [text_of(row) for row in Menu("M", ITEMS, KEYS).rows(60, 20)]
    narrow = [text_of(row) for row in Menu("M", ITEMS, KEYS).rows(16, 20)]
    assert [text.split() for text in wide if "at once" in text] == [
        [">", "q", "quick", "at", "once"]
    ]
    assert [text.strip() for text in narrow if "at once" in text] == ["at once"]
    assert not any("by code" in text for text in narrow)


def test_only_a_menu_with_something_below_it_says_how_to_go_back() -> None:
    below = text_of(Menu("M", ITEMS, Keys().on(Section.LIST)).rows(80, 20)[-1])
    base = text_of(Menu("M", ITEMS, KEYS).rows(80, 20)[-1])
    assert ("ESC" in below, "ESC" in base) == (True, False)


def test_a_long_sentence_is_whole() -> None:
    rows = [text_of(row) for row in Menu("M", ITEMS, KEYS).rows(40, 20, "word " * 20)]
    assert " ".join(rows).count("word") == 20


def test_in_the_lowest_window_every_item_can_be_seen_and_clicked() -> None:
    letters = [Action.QUICK, Action.FIND, Action.JOIN] * 6
    items = [Item(action, f"item {at}") for at, action in enumerate(letters)]
    menu = Menu("M", items, KEYS, ["a note"])
    for _ in items:
        rows = [text_of(row).rstrip() for row in menu.rows(60, 20, "a sentence")]
        assert (rows[-2].strip(), "choose" in rows[-1]) == ("a sentence", True)
        at = next(at for at, text in enumerate(rows) if text.startswith(" >"))
        assert rows[at].endswith(f"item {menu.at}")
        assert menu.item_at(at) is items[menu.at]
        menu.press(Action.DOWN)
