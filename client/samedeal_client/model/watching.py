"""Watching on a screen: the races that run, and one of them as far as it is shown."""

from collections.abc import Sequence
from textwrap import wrap

from samedeal.engine.counts import counted
from samedeal.engine.games import game
from samedeal.protocol.fields import Phase, PlayerView
from samedeal.protocol.lobby_messages import LobbyRoom
from samedeal.protocol.watch_messages import LiveRace, WatchedBoard
from samedeal_client.model.board import draw
from samedeal_client.model.clock import clock
from samedeal_client.model.faces import Faces
from samedeal_client.model.ink import Canvas, Ink, Row, clipped
from samedeal_client.model.keys import Action, ScreenKeys
from samedeal_client.model.keytable import ITEMS
from samedeal_client.model.menu import Item
from samedeal_client.model.result import put_seed, why
from samedeal_client.model.tracks import bar_of, in_order, name_room, standing
from samedeal_client.sight import Sight

__all__ = ["live_items", "room_items", "watch_rows"]


def live_items(races: Sequence[LiveRace]) -> list[Item]:
    """Races that run as items of a menu."""
    return [
        Item(
            action,
            f"{race.code} {game(race.game).title}: {', '.join(race.players)}",
            f"{clock(race.clock_ms)}, shows {race.shows}, {race.crowd} watching",
        )
        for action, race in zip(ITEMS, races, strict=False)
    ]


def room_items(rooms: Sequence[LobbyRoom]) -> list[Item]:
    """Open rooms as items of a menu."""
    return [
        Item(
            action,
            f"{room.code} {game(room.game).title}: {room.host}",
            f"{room.taken} of {room.options.seats} seats, "
            f"{'ranked' if room.options.ranked else 'unranked'}, undo {room.options.undo}",
        )
        for action, room in zip(ITEMS, rooms, strict=False)
    ]


def watch_rows(
    sight: Sight,
    focus: int,
    clock_ms: int,
    faces: Faces,
    keys: ScreenKeys,
    width: int,
    height: int,
) -> list[Row]:
    """Draw it: boards where they are shown, else heights, else only where everyone stands."""
    canvas = Canvas(width, height)
    race = sight.race
    rules = game(race.game)
    canvas.put(0, 1, f"WATCHING {rules.title.upper()}", Ink.TITLE)
    state = {Phase.LOBBY: "not begun", Phase.COUNTDOWN: "about to begin", Phase.CLOSED: "over"}
    time = state.get(race.phase, f"{clock(clock_ms)} of {clock(race.deadline_ms)}")
    canvas.put(0, 13 + len(rules.title), f"race {race.code}   {time}   shows {sight.shows}")
    players = in_order(race.players)
    seats = [player.seat for player in players if player.seat in sight.boards]
    lost = "connection lost, trying again; this is how it stood"
    told = wrap((sight.reason or "") if sight.is_up else lost, width - 2) or [""]
    at = height - 1 - len(told) - len(players)
    if race.phase is Phase.CLOSED:
        lines = why(race)[: max(0, at - 6)]
        for offset, line in enumerate(lines):
            canvas.put(2 + offset, 2, line)
        put_seed(canvas, 3 + len(lines), race)
    elif seats:
        order = seats[focus % len(seats) :] + seats[: focus % len(seats)]
        _boards(canvas, sight, order, faces, at - 1)
    for offset, player in enumerate(players):
        _row(canvas, at + offset, sight, player, offset + 1)
    ink = Ink.PLAIN if sight.is_up else Ink.BAD
    for offset, line in enumerate(told):
        canvas.put(height - 1 - len(told) + offset, 1, line, ink)
    foot = keys.foot(
        width - 2,
        *(
            [(Action.REPLAY, "replay")]
            if race.phase is Phase.CLOSED
            else [(Action.NEXT_BOARD, "next board"), (Action.REPLAY, "replay when it is over")]
        ),
        (Action.BACK, "back"),
    )
    canvas.put(height - 1, 1, foot, Ink.DIM)
    return canvas.rows()


def _boards(canvas: Canvas, sight: Sight, seats: list[int], faces: Faces, bottom: int) -> None:
    rules = game(sight.race.game)
    least = 39 if rules.in_suit and len(rules.columns) < 8 else 48
    fitting = max(1, min(len(seats), (canvas.width + 1) // (least + 1)))
    size = (canvas.width + 1) // fitting - 1
    names = {player.seat: player.name for player in sight.race.players}
    for place, seat in enumerate(seats[:fitting]):
        left = place * (size + 1)
        board = sight.boards[seat]
        marks = f"   {' '.join(board.marks[-3:])}" if board.marks else ""
        canvas.put(1, left + 1, clipped(f"{names[seat]}{marks}", size - 1), Ink.TITLE)
        table = sight.table(seat)
        if table is not None:
            picture = draw(table, min(size, 68), bottom - 2, faces)
            for offset, line in enumerate(picture.rows):
                canvas.put_row(2 + offset, left, line)
        else:
            _heights(canvas, board, sight.race.game, left, bottom)
        if place:
            for at in range(1, bottom):
                canvas.put(at, left - 1, "|" if faces.is_ascii else "│", Ink.DIM)


def _heights(canvas: Canvas, board: WatchedBoard, game_id: str, left: int, bottom: int) -> None:
    """The shape of a board: how many cards each pile has, without rank or suit."""
    named = dict(zip((name for name, _ in game(game_id).piles), board.heights, strict=False))
    sizes = {name: sum(height) for name, height in named.items()}
    canvas.put(2, left + 1, f"stock {sizes.get('S', 0)}  waste {sizes.get('W', 0)}")
    homes = " ".join(str(size) for name, size in sizes.items() if name.startswith("F"))
    canvas.put(3, left + 1, f"home  {homes}")
    columns = [(name, height) for name, height in named.items() if name[0] in "TR"]
    for number, (name, (hidden, shown)) in enumerate(columns):
        cell = left + 1 + 4 * number
        canvas.put(5, cell, name[1:] if name[0] == "T" else name.lower(), Ink.DIM)
        for card in range(hidden + shown):
            if 6 + card < bottom:
                canvas.put(6 + card, cell, "#" if card < hidden else "=")


def _row(canvas: Canvas, at: int, sight: Sight, player: PlayerView, place: int) -> None:
    rules = game(sight.race.game)
    most = rules.total - rules.dealt_to_foundations
    name_cells = name_room(canvas.width)
    bar, _ = bar_of(player.home, most, max(10, canvas.width - 38 - name_cells))
    name = clipped(player.name + (" B" if player.bot else ""), name_cells)
    text = f"{place}. {name} [{bar}] {player.home:>3} home, "
    ink = Ink.OWN if player.seat in sight.moved else Ink.PLAIN
    left = canvas.put(at, 1, f"{text}best {player.best}, {counted(player.moves, 'move')}", ink)
    canvas.put(at, left + 1, standing(player), Ink.GOOD)
