"""What a race waits for, in words."""

from samedeal.protocol.fields import RaceView, Status
from samedeal_client.model.waiting import only_bots, waiting
from scenes import playing


def room(*players: tuple[str, Status, bool, bool], left_s: int = 90) -> RaceView:
    """A race seen from seat 1 as it stands: name, status, bot, present."""
    view = playing("lanes", 2).race.view
    changed = [
        view.players[0].model_copy(
            update={"seat": at, "name": name, "status": status, "bot": bot, "present": here}
        )
        for at, (name, status, bot, here) in enumerate(players, start=1)
    ]
    return view.model_copy(update={"players": tuple(changed), "deadline_ms": left_s * 1000})


ADA = ("ada", Status.BANKED, False, True)


def test_those_who_play_on_are_named_with_what_they_are() -> None:
    view = room(
        ADA,
        ("ivo", Status.PLAYING, False, False),
        ("bot-b", Status.PLAYING, True, True),
        ("eva", Status.LEFT, False, True),
    )
    assert waiting(view, 1, 30_000) == (
        "waiting for ivo (link lost), bot-b (bot): 01:00 to the time limit"
    )
    assert not only_bots(view, 1)


def test_after_a_win_the_last_call_is_what_ends_it() -> None:
    view = room(("ada", Status.WON, False, True), ("bot-b", Status.PLAYING, True, True))
    assert waiting(view, 1, 75_500) == "you won; waiting for bot-b (bot): 00:14 to the last call"
    assert only_bots(view, 1)


def test_of_many_three_are_named() -> None:
    others = [(name, Status.PLAYING, False, True) for name in ("b", "c", "d", "e", "f")]
    assert waiting(room(ADA, *others), 1, 0).startswith("waiting for b, c, d, 2 more:")


def test_where_nobody_plays_nobody_is_waited_for() -> None:
    view = room(ADA, ("bot-b", Status.BANKED, True, True))
    assert waiting(view, 1, 0) == "all runs are over, the race closes"
    assert not only_bots(view, 1)
