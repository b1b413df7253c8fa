"""Which key does what, by default and by a player's file; and that no screen knows any other."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import samedeal_client
from samedeal_client.errors import BadSettings
from samedeal_client.model.help import help_rows
from samedeal_client.model.ink import text_of
from samedeal_client.model.keys import Keys
from samedeal_client.model.keytable import DEFAULT_KEYS, Action, Section

RACE = Section.RACE
PACKAGE = Path(samedeal_client.__file__).parent
SOURCES = [*PACKAGE.glob("terminal/**/*.py"), *PACKAGE.glob("model/*.py")]


def defaults() -> list[tuple[Section, str]]:
    """Every default key with its screen."""
    return [
        (section, key)
        for section, table in DEFAULT_KEYS.items()
        for keys in table.values()
        for key in keys
    ]


def test_no_key_has_two_meanings_on_one_screen() -> None:
    assert [each for each, count in Counter(defaults()).items() if count > 1] == []
    assert set(DEFAULT_KEYS) == set(Section)
    assert {action for table in DEFAULT_KEYS.values() for action in table} == set(Action)


def test_no_default_needs_alt_a_function_key_or_a_mouse() -> None:
    keys = [key for _, key in defaults()]
    assert not [key for key in keys if key.startswith("alt") or re.fullmatch(r"f\d+", key)]


def test_the_unshifted_row_of_a_french_keyboard_names_columns_and_items() -> None:
    race, menu = Keys().on(RACE), Keys().on(Section.LIST)
    row = "&é\"'(-è_ç"
    # The sixth is `fewer`, too: which of both is meant shows in the play.
    assert [race.action(key) or key for key in row] == [
        Action.FEWER if number == 6 else Action(f"pile-{number}") for number in range(1, 10)
    ]
    assert [menu.action(key) for key in row] == [Action(f"item-{n}") for n in range(1, 10)]


def test_what_is_printed_is_read_back_the_same() -> None:
    keys = Keys.parse('[race]\nundo = ["z"]\ndraw = "d"\n[home]\nexit = ["ctrl+q", "\\""]')
    assert Keys.parse(keys.toml()).toml() == keys.toml()
    race = keys.on(RACE)
    assert race.action("z") is Action.UNDO
    assert race.action("d") is Action.DRAW
    assert race.action("u") is None
    assert keys.on(Section.HOME).action('"') is Action.EXIT


def test_a_file_of_the_time_when_only_races_had_keys_still_opens() -> None:
    keys = Keys.parse('[keys]\nundo = ["z"]\nbank = "b"\nright = ["right", "e"]\n')
    assert keys.on(RACE).action("z") is Action.UNDO
    assert keys.on(RACE).action("b") is Action.BANK
    assert keys.on(Section.OPTIONS).action("e") is keys.on(RACE).action("e") is Action.RIGHT


def test_what_a_screen_says_itself_counts_before_what_is_said_of_all() -> None:
    keys = Keys.parse('[options]\nback = ["b"]\n[keys]\nback = ["z"]\n[prompt]\nback = ["tab"]')
    backs = {section: keys.on(section).name(Action.BACK) for section in Section}
    assert backs[Section.OPTIONS] == "b"
    assert backs[Section.PROMPT] == "TAB"
    assert backs[Section.DAILY] == backs[Section.GAMES] == "z"


def test_keys_change_places() -> None:
    race = Keys.parse('[race]\nhint = ["u"]\nundo = ["H"]').on(RACE)
    assert (race.name(Action.HINT), race.name(Action.UNDO)) == ("u", "H")


def test_an_action_may_be_without_a_key() -> None:
    race = Keys.parse("[race]\nredo = []\n").on(RACE)
    assert race.action("U") is None
    assert race.foot(80, (Action.REDO, "redo"), (Action.UNDO, "undo")) == "u undo"


def test_a_foot_line_leaves_out_what_does_not_fit_but_not_the_way_out() -> None:
    keys = Keys().on(Section.DAILY)
    hints = ((Action.TAKE, "plays"), (Action.SHARE, "shares"), (Action.BACK, "back"))
    assert keys.foot(80, *hints) == "Enter plays  s shares  Q back"
    assert keys.foot(24, *hints) == "Enter plays  Q back"
    assert keys.foot(3, *hints) == "Q back"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("keys = [", "not TOML"),
        ("[keys]\nfly = ['a']", r"\[keys\] has no action 'fly'; samedeal play --print-keys"),
        ("[boards]\nundo = ['a']", r"\[boards\] has no action 'undo'"),
        ("[keys]\nundo = [1]", "undo needs a list of keys"),
        ("[race]\nundo = 5", "undo needs a list of keys"),
        ("[race]\nundo = ['a']\nhint = ['a']", r"\[race\] 'a' stands for undo and for hint"),
        ("[race]\nhint = ['u']", r"'u' is given to hint, but undo has it by default; give undo"),
        ("[room]\nleave = ['s']", r"\[room\] 's' is given to leave, but start has it by default"),
        ("[keys]\ndown = ['n']", r"\[home\] 'n' is given to down, but name has it"),
        ("[colours]\nx = 1", "no screen 'colours'; the tables are keys, home, games"),
        ("keys = 3", "keys is a table"),
        ("race = 'u'", "race is a table"),
        ("[race]\nundo = ['zz']", r"\[race\] undo: 'zz' is no key"),
        ("[race]\nundo = ['']", "'' is no key"),
        ("[race]\nundo = [' ']", "' ' is no key"),
        ("[race]\nundo = ['ctrl+c']", "'ctrl\\+c' cannot be given, it always ends the program"),
        ("[race]\nundo = ['ctrl+i']", "a terminal says tab"),
        ("[prompt]\nback = ['q']", r"\[prompt\] 'q' is typed there"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(BadSettings, match=sentence) as refused:
        Keys.parse(text, "keys.toml")
    assert str(refused.value).startswith("keys.toml")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "section", sorted(set(Section) - {Section.CONFIRM, Section.TAKE_BACK, Section.PROMPT})
)
def test_the_help_of_a_screen_says_what_each_of_its_keys_does(section: Section) -> None:
    plain = {section: dict.fromkeys(DEFAULT_KEYS[section], ()) for section in Section}
    marks = {action: (chr(0x100 + at),) for at, action in enumerate(DEFAULT_KEYS[section])}
    keys = Keys({**plain, section: marks})
    text = "\n".join(text_of(row) for row in help_rows(None, keys, section))
    untold = {action for action, (mark,) in marks.items() if mark not in text}
    # Numbers are told by the first, menus tell their items, the key for help is known, and what
    # only some games have is told in those.
    told_elsewhere = {Action.HELP} | {
        action for action in Action if re.match(r"pile-|item-|reserve-|up-pile|down-pile", action)
    }
    if section is Section.HOME:
        told_elsewhere |= marks.keys() - {Action.UP, Action.DOWN, Action.TAKE, Action.REDRAW}
    if section is Section.RACE:
        told_elsewhere |= {Action.NEXT, Action.REPLAY, Action.SHARE}
    assert untold - told_elsewhere == set()


def test_the_help_of_a_race_names_the_keys_of_its_questions() -> None:
    keys = Keys.parse("[confirm]\nyes = ['j']\n[take-back]\nspades = ['p']")
    text = "\n".join(text_of(row) for row in help_rows(None, keys, RACE))
    assert "twice, or j after it: leave" in text
    assert "name its suit: c d h p" in text


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_no_module_of_the_screens_asks_for_a_key_by_itself(path: Path) -> None:
    """Only the table names keys: nothing else compares one, binds one or has a handler for one."""
    if path.stem in ("keytable", "keys"):
        return
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(_is_key(side) for side in sides):
                    found += [text for side in sides for text in _texts(side)]
            case ast.Match(subject=subject, cases=cases) if any(map(_is_key, ast.walk(subject))):
                found += [text for case in cases for text in _texts(case.pattern)]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found += [name] if re.match(r"_?key_(?!name$|bar$)", name) else []
            case ast.Name(id="BINDINGS" | "Binding"):
                found.append("BINDINGS")
    # Ctrl-C ends the program whatever the table says.
    assert [text for text in found if text != "ctrl+c"] == []


def _is_key(node: ast.AST) -> bool:
    names = ("key", "character", "char", "letter")
    return (isinstance(node, ast.Name) and node.id in names) or (
        isinstance(node, ast.Attribute) and node.attr in names
    )


def _texts(node: ast.AST) -> list[str]:
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
