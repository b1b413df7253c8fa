"""Pictures of a race: the chart says all in shapes and words too, the card gives no card away."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from samedeal.engine.cards import card_text
from samedeal.engine.replay import Header, Player, compose, standings
from samedeal_client.replays import Replay
from samedeal_client.replays.card import MAX_LINES, card_lines
from samedeal_client.replays.chart import PLOT_HEIGHT, TOP, chart
from samedeal_client.replays.track import fresh_run
from support import run_cli

FILES = Path(__file__).parent / "files"
ALL = sorted(path.stem for path in FILES.glob("*.jsonl"))
SVG = "{http://www.w3.org/2000/svg}"


def replay_of(name: str) -> Replay:
    return Replay.load(FILES / f"{name}.jsonl")


def named(name: str) -> Replay:
    """The race of lanes, as if its first player had this name."""
    file = replay_of("lanes").file
    players = (Player(1, name, False), file.players[1])
    fields = {key: getattr(file, key) for key in Header.__dataclass_fields__}
    header = Header(**{**fields, "players": players})
    return Replay.verify(compose(header, file.actions, file.order))


def drawn(replay: Replay) -> ElementTree.Element:
    return ElementTree.fromstring(chart(replay))


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("name", ALL)
def test_a_chart_is_one_document_that_never_changes(name: str) -> None:
    assert chart(replay_of(name)) == chart(replay_of(name))
    assert drawn(replay_of(name)).tag == f"{SVG}svg"


@pytest.mark.parametrize("name", ALL)
def test_every_line_differs_from_the_others_without_colour(name: str) -> None:
    root, tracks = drawn(replay_of(name)), replay_of(name).tracks
    curves = [line for line in root.iter(f"{SVG}polyline") if line.get("stroke-width") == "2"]
    assert len({line.get("stroke-dasharray") for line in curves}) == len(tracks)
    labels = [text for text in texts(root) if re.match(r"\d\. ", text)]
    assert len(labels) == len(tracks)
    for track in tracks:
        assert any(f"{track.standing.place}. {track.name}: " in label for label in labels)


def test_labels_do_not_lie_on_each_other_nor_leave_the_picture() -> None:
    root = drawn(replay_of("eight-seats"))
    heights = sorted(
        float(e.get("y", "")) for e in root.iter(f"{SVG}text") if re.match(r"\d\. ", e.text or "")
    )
    assert len(heights) == 8
    assert min(b - a for a, b in pairwise(heights)) >= 13
    assert heights[0] >= TOP
    assert heights[-1] <= TOP + PLOT_HEIGHT + 10


@pytest.mark.parametrize("place", [0, 7], ids=["at the top", "at the bottom"])
def test_labels_of_lines_that_end_together_stay_beside_the_plot(place: int) -> None:
    replay = replay_of("eight-seats")
    root = ElementTree.fromstring(chart(replay, [replay.tracks[place], *replay.tracks[:1]] * 4))
    heights = sorted(
        float(e.get("y", "")) for e in root.iter(f"{SVG}text") if re.match(r"\d\. ", e.text or "")
    )
    assert min(b - a for a, b in pairwise(heights)) >= 13
    assert TOP <= heights[0] <= heights[-1] <= TOP + PLOT_HEIGHT + 10


def test_the_curve_ends_at_the_cards_that_were_home() -> None:
    replay = replay_of("klondike")
    line = next(e for e in drawn(replay).iter(f"{SVG}polyline") if e.get("stroke-width") == "2")
    numbers = [float(number) for number in (line.get("points") or "").replace(",", " ").split()]
    # The winner had all cards home, the most that were: the top of the plot.
    assert numbers[1] == TOP + PLOT_HEIGHT
    assert numbers[-1] == TOP


def test_every_action_has_its_mark() -> None:
    replay = replay_of("lanes")
    root = drawn(replay)
    rows = [path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "1"]
    for track, path in zip(replay.tracks, rows, strict=True):
        undos = sum(str(frame.action) == "undo" for frame in track.frames)
        assert (path.get("d") or "").count("M") == track.last + undos


def test_title_and_description_say_it_in_words() -> None:
    root = drawn(replay_of("single-left-won"))
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert title.text == "Single Left, race SYHA5: cards home over time"
    assert "Place 1, ada, won at 0:00.72, with 62 moves" in (desc.text or "")
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    assert root.get("role") == "img"


@pytest.mark.parametrize("name", ["<script>&\"'", "\x1b[31m\x00\x07", "Ł" * 200])
def test_a_name_from_a_strange_file_stays_a_name(name: str) -> None:
    replay = named(name)
    root = drawn(replay)
    assert root.find(f".//{SVG}script") is None
    shown = [text for text in texts(root) if name[:1].isprintable() and name[:10] in text]
    assert shown or not name.isprintable()
    assert all(line.isprintable() for line in card_lines(replay))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seat", [None, 1, 2])
def test_a_card_has_at_most_six_lines_and_no_card_of_the_deal(name: str, seat: int | None) -> None:
    replay = replay_of(name)
    lines = card_lines(replay, seat=seat)
    assert len(lines) <= MAX_LINES
    cards = {card_text(card) for card in range(52)}
    assert not cards & set(re.findall(r"[A-Z0-9]+", "\n".join(lines)))
    assert replay.file.seed not in "\n".join(lines)
    if seat is not None:
        own = next(track for track in replay.tracks if track.player.seat == seat)
        assert any(f". {own.name}" in line for line in lines)


def test_a_card_reads_so() -> None:
    assert card_lines(replay_of("klondike")) == [
        "samedeal Klondike 3SWWS, 2026-11-30",
        "1. bot-7 (bot) [##########] won in 0:01.55, 134 moves",
        "2. ada         [##........] 14 of 52 home, 120 moves",
        "3. eva         [..........] 3 of 52 home, 60 moves",
    ]


def test_a_race_that_nobody_played_can_be_drawn() -> None:
    file = replay_of("lanes").file
    fields = {key: getattr(file, key) for key in Header.__dataclass_fields__}
    order = standings({1: fresh_run(file), 2: fresh_run(file)})
    replay = Replay.verify(compose(Header(**fields), [], order))
    assert drawn(replay).tag == f"{SVG}svg"
    assert len(card_lines(replay)) == 3


def test_the_command_line_writes_the_chart_and_prints_the_card(tmp_path: Path) -> None:
    file, picture = str(FILES / "lanes.jsonl"), tmp_path / "race.svg"
    assert run_cli("chart", file, "-o", str(picture)) == (0, "", "")
    assert picture.read_text("utf-8") == chart(replay_of("lanes"))
    assert run_cli("chart", file)[1] == picture.read_text("utf-8")
    code, out, err = run_cli("card", file, "--seat", "2")
    assert (code, out.splitlines(), err) == (0, card_lines(replay_of("lanes"), seat=2), "")
    for command in ("chart", "card"):
        code, out, err = run_cli(command, file, "--seat", "8")
        assert (code, out, err) == (2, "", f"samedeal: {file}: nobody sits at seat 8\n")
    code, out, err = run_cli("chart", file, "-o", str(tmp_path))
    assert (code, out) == (2, "")
    assert "cannot write" in err
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(json.dumps({"format": "other"}), "utf-8")
    for command in ("chart", "card", "replay"):
        code, _, err = run_cli(command, str(damaged))
        assert (code, err) == (
            2,
            f"samedeal: {damaged}: line 1: this is not a samedeal replay file\n",
        )
