"""Commands that need no server: games, deal, moves, check, apply, verify."""

import argparse
import json
import re
import secrets
import sys

from samedeal.engine.counts import counted
from samedeal.engine.deals import commitment, parse_seed
from samedeal.engine.errors import IllegalMove, Unreadable
from samedeal.engine.games import GAMES, game
from samedeal.engine.moves import Move
from samedeal.engine.replay import MAX_LINE_BYTES, NoReplay, ReplayError, verify
from samedeal.engine.table import Table
from samedeal.printable import printable
from samedeal_client.cli.output import FINE, NO, Parser, complain

__all__ = ["add_parsers"]


def add_parsers(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the parsers of these commands."""
    games = commands.add_parser("games", help="list the games")
    games.set_defaults(run=_games)

    deal = commands.add_parser(
        "deal", help="deal a game", description="Print the position after the deal of a seed."
    )
    deal.add_argument("game", metavar="GAME", help="a game's id (samedeal games lists them)")
    deal.add_argument(
        "--seed",
        metavar="HEX|TEXT",
        help="64 hex digits, or any text: practice; else random",
    )
    deal.add_argument("--json", action="store_true", help="print seed, commitment and position")
    deal.set_defaults(run=_deal)

    moves = commands.add_parser("moves", help="list the legal moves of a position")
    check = commands.add_parser("check", help="say whether a move is legal, and what is missing")
    apply = commands.add_parser("apply", help="print the position after some moves")
    for parser in (moves, check, apply):
        parser.add_argument("game", metavar="GAME", help="a game's id")
        parser.add_argument("position", metavar="POSITION", help="as `samedeal deal` prints it")
    check.add_argument("move", metavar="MOVE", help="draw, W>T1, T2:3>T1 (three cards)")
    apply.add_argument("moves", metavar="MOVE", nargs="+", help="moves to make, in order")
    moves.set_defaults(run=_moves)
    check.set_defaults(run=_check)
    apply.set_defaults(run=_apply)

    verify_ = commands.add_parser(
        "verify",
        help="re-play a replay file and check it",
        description="Re-play a replay file against its seed and commitment; needs no server.",
    )
    verify_.add_argument("file", metavar="FILE", help="the replay file, - for standard input")
    verify_.add_argument(
        "--seed",
        type=_seed_hex,
        metavar="HEX",
        help="the seed that has become public of a deal whose file is sealed",
    )
    verify_.set_defaults(run=_verify)


def _seed_hex(text: str) -> str:
    """Read a seed of 64 hex digits."""
    if re.fullmatch("[0-9a-f]{64}", text) is None:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no seed of 64 lowercase hex digits")
    return text


def _games(_args: argparse.Namespace) -> int:
    width = max(map(len, GAMES))
    for rules in GAMES.values():
        print(f"{rules.id:{width}}  {rules.summary}")
    return FINE


def _deal(args: argparse.Namespace) -> int:
    rules = game(args.game)
    seed = parse_seed(secrets.token_hex(32) if args.seed is None else args.seed)
    position = str(Table.deal(rules, seed.value))
    if args.json:
        facts = {
            "game": rules.id,
            "seed": seed.value.hex(),
            "commitment": commitment(rules, seed.value),
            "position": position,
            "practice": seed.is_practice,
        }
        print(json.dumps(facts))
    else:
        print(position)
    return FINE


def _moves(args: argparse.Namespace) -> int:
    table = Table.parse(game(args.game), args.position)
    for text in sorted(str(move) for move in table.legal_moves):
        print(text)
    return FINE


def _check(args: argparse.Namespace) -> int:
    table = Table.parse(game(args.game), args.position)
    refusal = table.refusal(_move_of(table, args.move))
    print("legal" if refusal is None else f"illegal: {refusal}")
    return FINE if refusal is None else NO


def _move_of(table: Table, text: str) -> Move:
    """Read a move. Raise Unreadable, too, if this game has not the piles it names."""
    move = Move.parse(text)
    names = [name for name, _ in table.rules.piles]
    for name in (move.source, move.target):
        if name not in names:
            raise Unreadable(name, f"{table.rules.title} has no pile {name!r}")
    return move


def _apply(args: argparse.Namespace) -> int:
    table = Table.parse(game(args.game), args.position)
    for move in [_move_of(table, text) for text in args.moves]:
        try:
            table.push(move)
        except IllegalMove as error:
            return complain(f"{move} is illegal: {error}", code=NO)
    print(table)
    return FINE


def _verify(args: argparse.Namespace) -> int:
    try:
        with sys.stdin.buffer if args.file == "-" else open(args.file, "rb") as file:
            lines = iter(lambda: file.readline(MAX_LINE_BYTES + 1), b"")
            checked = verify(lines, seed=args.seed)
    except OSError as error:
        return complain(f"{args.file}: {error.strerror}")
    except NoReplay as error:
        return complain(f"{args.file}: {error.sentence}")
    except ReplayError as error:
        return complain(f"{args.file} does not verify: {error}", code=NO)
    names = {player.seat: printable(player.name) for player in checked.players}
    print(
        f"{'not altered' if checked.is_sealed else 'verified'}: {checked.game}, "
        f"race {printable(checked.code)}, {counted(len(checked.players), 'player')}, "
        f"{counted(len(checked.actions), 'action')}"
    )
    if checked.is_sealed:
        print(
            "sealed: the seed of this deal is public when its day is closed. Each line is whole, "
            "in its place and in time; whether the play is legal and the order right can be "
            "checked then, with --seed:"
        )
    else:
        print("the seed fits the commitment, every action is legal, the order is right:")
    for row in checked.order:
        print(f"{row.place}. {names[row.seat]}: best {row.best}, {counted(row.moves, 'move')}")
    return FINE
