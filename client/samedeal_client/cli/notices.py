"""What happens in a race, as notices for who plays by lines."""

from samedeal.protocol import server_messages as say
from samedeal.protocol.fields import Phase
from samedeal_client.cli.output import Voice
from samedeal_client.cli.phrases import spoken
from samedeal_client.connection import Dropped, Event, Link, Race, Rewound, Store

__all__ = ["tell"]


def tell(voice: Voice, race: Race, event: Event) -> None:
    """Say what an event is to the player of this seat, if anything."""
    view = race.view
    match event:
        case say.Room():
            names = ", ".join(
                f"{p.name}{' (bot)' if p.bot else ''}{' ready' if p.ready else ''}"
                for p in view.players
            )
            if view.phase is Phase.COUNTDOWN:
                voice.say("countdown", f"* GO in {view.options.countdown_s} s")
            elif view.phase is Phase.LOBBY:
                voice.say("lobby", f"* in the room: {names}")
        case say.Go():
            table = race.table
            voice.say("go", f"* GO: {table}", position=str(table))
        case say.Progress() if voice.as_json:
            players = [player.model_dump(mode="json") for player in event.players]
            voice.say("progress", "", players=players)
        case say.Notice():
            voice.say("notice", f"* {event.sentence}", about=event.kind)
        case say.Said(seat=seat, phrase=phrase) if seat != race.model.seat:
            name = next((p.name for p in view.players if p.seat == seat), f"seat {seat}")
            voice.say("said", f"* {name}: {spoken(phrase)}", seat=seat, phrase=phrase)
        case say.Announcement(sentence=sentence) | say.Dismissed(sentence=sentence):
            voice.say("server", f"* the server: {sentence}", sentence=sentence)
        case say.TakenOver():
            voice.say("taken_over", f"* {event.sentence}")
        case say.Moved():
            voice.say("moved", "* the room goes on with a new deal; next joins it")
        case Link():
            words = "the connection is back" if event.is_up else "the connection is lost"
            voice.say("link", f"* {words}", up=event.is_up)
        case Store(is_up=True):
            voice.say("store", "* the store is back", up=True)
        case Store():
            kept = "your move is kept here" if race.model.outbox else "waiting for it"
            voice.say("store", f"* store unavailable, {kept}", up=False)
        case Rewound():
            voice.say(
                "rewound",
                f"* the server lost {event.actions} of your moves; they are sent again",
                actions=event.actions,
            )
        case Dropped():
            lost = " ".join(event.actions)
            voice.say("dropped", f"* not kept: {lost}: {event.sentence}", actions=event.actions)
        case _:
            pass
