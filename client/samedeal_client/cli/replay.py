"""`samedeal replay`: play recorded runs on a terminal, or list them, an action a line."""

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Callable

from samedeal.engine.counts import counted
from samedeal.engine.replay import Verified
from samedeal.printable import printable
from samedeal_client.cli.arguments import add_server, new_file, whole
from samedeal_client.cli.output import FINE, Parser, write
from samedeal_client.cli.player import TextPlayer, play_on_terminal
from samedeal_client.cli.sources import SOURCE_HELP, Source, chosen, load
from samedeal_client.errors import ClientError
from samedeal_client.replays import Frame, ReplayModel, Track
from samedeal_client.replays.compare import next_difference, parting
from samedeal_client.replays.lost import POSITIONS, Lost, LostAtDeal, Never, Undecided, where_lost
from samedeal_client.replays.model import SPEEDS
from samedeal_client.replays.text import (
    action_line,
    action_text,
    beside,
    board_rows,
    read_time,
    time_text,
)

__all__ = ["add_parser"]

WIDTH = 120
"""Columns for boards side by side where there is no terminal."""


def add_parser(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parser of this command."""
    replay = commands.add_parser(
        "replay",
        help="play a finished race again, or several side by side",
        description="Play a finished race, or several runs of one deal, again: on a terminal with "
        "fixed keys (? lists them), else one action a line. Everything shown was verified first. "
        "The terminal client plays it, too, by the keys of your file.",
    )
    replay.add_argument("sources", metavar="FILE|CODE|RUN", nargs="+", help=SOURCE_HELP)
    replay.add_argument(
        "--seat",
        type=whole(1, 8),
        action="append",
        default=[],
        metavar="N",
        help="only the player in seat N; may be repeated (all)",
    )
    replay.add_argument("--side", action="store_true", help="every board, side by side")
    replay.add_argument(
        "--speed", type=_speed, metavar="X", help=f"times real speed, {SPEEDS[0]} to {SPEEDS[-1]:g}"
    )
    replay.add_argument(
        "--at", type=_point, metavar="N|T", help="begin after action N, or at time T (1:05.3)"
    )
    replay.add_argument("--step", action="store_true", help="begin paused: each step is a key")
    replay.add_argument(
        "--lost",
        action="store_true",
        help="only say after which move no win was left, if that can be decided",
    )
    replay.add_argument(
        "--positions",
        type=whole(1, 10_000_000),
        default=POSITIONS,
        metavar="N",
        help="positions to look at for each verdict of --lost (%(default)s)",
    )
    replay.add_argument("--json", action="store_true", help="one JSON object a line")
    replay.add_argument("--save", type=new_file, metavar="FILE", help="write the replay file")
    add_server(replay)
    replay.set_defaults(run=_run)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not SPEEDS[0] <= speed <= SPEEDS[-1]:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is not a speed from {SPEEDS[0]} to {SPEEDS[-1]:g}"
        )
    return speed


def _point(text: str) -> Callable[[ReplayModel], object]:
    """Read an action's number or a time; return what goes there."""
    if re.fullmatch(r"[0-9]{1,6}", text):
        return lambda model: model.seek(int(text))
    t_ms = read_time(text)
    if t_ms is None:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is neither an action's number (12) nor a time (1:05.3)"
        )
    return lambda model: model.seek_time(t_ms)


def _run(args: argparse.Namespace) -> int:
    sources = asyncio.run(_loaded(args.sources, args.server))
    if args.save is not None:
        if len(sources) > 1:
            raise ClientError("--save writes one replay; name only one")
        write(args.save, sources[0].replay.text)
    if args.lost:
        for source in sources:
            _tell_lost(source, args)
        return FINE
    model = ReplayModel(chosen(sources, args.seat), speed=args.speed or 1.0)
    if args.at is not None:
        args.at(model)
    is_side = args.side or len(sources) > 1
    if sys.stdin.isatty() and sys.stdout.isatty() and not args.json:
        player = TextPlayer(model, is_side=is_side)
        if not args.step:
            model.play()
        play_on_terminal(player)
        return FINE
    listing = _JsonLines() if args.json else _TextLines()
    listing.begin(sources)
    if args.at is not None:
        listing.boards(model, is_side=is_side)
    _list(model, listing, is_paced=args.speed is not None)
    listing.end(model.tracks)
    return FINE


def _tell_lost(source: Source, args: argparse.Namespace) -> None:
    for track in chosen([source], args.seat):
        found = where_lost(source.replay.file, track.player.seat, nodes=args.positions)
        text = f"{track.name}: {lost_text(found, args.positions)}"
        if args.json:
            facts = {
                "seat": track.player.seat,
                "verdict": _VERDICTS[type(found)],
                "seq": found.seq if isinstance(found, Lost) else None,
                "exact": isinstance(found, Lost) and found.is_exact,
            }
            print(json.dumps({"type": "lost", "name": track.name, "text": text, **facts}))
        else:
            print(text, flush=True)


_VERDICTS = {Never: "never", LostAtDeal: "deal", Lost: "lost", Undecided: "undecided"}


def lost_text(found: Never | LostAtDeal | Lost | Undecided, positions: int) -> str:
    """Say where a win was lost."""
    match found:
        case Never(won=True):
            return "won"
        case Never():
            return "a win was still there at the end"
        case LostAtDeal():
            return "this deal cannot be won"
        case Undecided():
            return (
                "whether a win was left at the end could not be decided within "
                f"{counted(positions, 'position')}"
            )
        case Lost(seq=seq, move=move, is_exact=True):
            return f"action {seq}, {move}, lost the win: before it there was one, after it none"
        case Lost(seq=seq, move=move, could_win=None):
            return (
                f"no win was left after action {seq}, {move}; whether there was one before could "
                f"not be decided within {counted(positions, 'position')}"
            )
        case Lost(seq=seq, move=move, could_win=before):
            return (
                f"no win was left after action {seq}, {move}; there was one after action {before}, "
                f"and in between it could not be decided within {counted(positions, 'position')}"
            )


async def _loaded(names: list[str], server: str) -> list[Source]:
    return [await load(name, server) for name in names]


def _list(model: ReplayModel, listing: "_TextLines | _JsonLines", *, is_paced: bool) -> None:
    """Say every action from here on; at its time if paced."""
    shown_ms = model.t_ms
    while model.step():
        assert model.last is not None
        track, frame = model.last
        if is_paced:
            sys.stdout.flush()
            time.sleep(max(0.0, frame.t_ms - shown_ms) / 1000 / model.speed)
            shown_ms = frame.t_ms
        listing.action(track, frame)


class _TextLines:
    """A replay for people and `grep`."""

    def begin(self, sources: list[Source]) -> None:
        for source in sources:
            file = source.replay.file
            names = ", ".join(track.name for track in source.replay.tracks)
            print(
                f"{file.game}, race {printable(file.code or file.race)}, {names}: verified, "
                f"{counted(len(file.actions), 'action')}"
            )

    def boards(self, model: ReplayModel, *, is_side: bool) -> None:
        pairs = list(zip(model.tracks, model.frames, strict=True))
        boards = [
            [f"{track.name}, after action {frame.seq}", *board_rows(track, frame)]
            for track, frame in (pairs if is_side else [pairs[model.focus]])
        ]
        for row in beside(boards, WIDTH):
            print(row)

    def action(self, track: Track, frame: Frame) -> None:
        print(action_line(track, frame))

    def end(self, tracks: tuple[Track, ...]) -> None:
        for line in compared(tracks):
            print(line)
        for track in sorted(tracks, key=lambda track: track.standing.place):
            row = track.standing
            how = f"won at {time_text(row.t_ms)}" if row.won else f"best {row.best}"
            print(f"{row.place}. {track.name}: {how}, {counted(row.moves, 'move')}")


class _JsonLines:
    """A replay for programs."""

    def begin(self, sources: list[Source]) -> None:
        for source in sources:
            self._say("replay", **_facts(source.replay.file))

    def boards(self, model: ReplayModel, *, is_side: bool) -> None:
        for track, frame in zip(model.tracks, model.frames, strict=True):
            if is_side or track is model.focused:
                rows = board_rows(track, frame)
                self._say(
                    "board", name=track.name, seat=track.player.seat, seq=frame.seq, rows=rows
                )

    def action(self, track: Track, frame: Frame) -> None:
        self._say(
            "action",
            t_ms=frame.t_ms,
            name=track.name,
            seat=track.player.seat,
            seq=frame.seq,
            action=str(frame.action),
            text=action_text(frame),
            home=frame.home,
            best=frame.best,
            opened=frame.opened,
            hash=frame.hash,
        )

    def end(self, tracks: tuple[Track, ...]) -> None:
        if len(tracks) == 2:
            one, other = tracks
            apart = parting(one, other)
            self._say(
                "compared",
                first_difference=next_difference(one, other),
                parted_ms=None if apart is None else apart.t_ms,
                ahead=None if apart is None else apart.ahead.name,
            )
        for track in tracks:
            row = track.standing
            facts = {"place": row.place, "won": row.won, "best": row.best, "moves": row.moves}
            self._say("result", name=track.name, seat=row.seat, **facts)

    def _say(self, kind: str, **facts: object) -> None:
        print(json.dumps({"type": kind, **facts}))


def compared(tracks: tuple[Track, ...]) -> list[str]:
    """Say where two runs part; nothing about one run, or more than two."""
    if len(tracks) != 2:
        return []
    one, other = tracks
    seq = next_difference(one, other)
    if seq is None:
        lines = ["boards: the same after every action"]
    else:
        did = " and ".join(
            f"{track.name} plays {track.frames[seq].action}"
            if seq <= track.last
            else f"{track.name} has ended"
            for track in tracks
        )
        lines = [f"boards: first differ at action {seq}, {did}"]
    apart = parting(one, other)
    if apart is None:
        return [*lines, "cards home: equal at the end"]
    return [
        *lines,
        f"cards home: {apart.ahead.name} ahead for good from {time_text(apart.t_ms)}, "
        f"{apart.home_ahead} to {apart.home_behind}",
    ]


def _facts(file: Verified) -> dict[str, object]:
    return {
        "game": file.game,
        "race": file.race,
        "code": file.code,
        "seed": file.seed,
        "commitment": file.commitment,
        "started": file.started,
        "actions": len(file.actions),
        "players": [{"seat": p.seat, "name": p.name, "bot": p.is_bot} for p in file.players],
    }
