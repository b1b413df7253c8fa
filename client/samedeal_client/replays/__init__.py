"""Replay files without a server: read, verify, play, compare."""

from samedeal_client.replays.model import Alignment, ReplayModel
from samedeal_client.replays.replay import BadReplay, Moment, Replay
from samedeal_client.replays.track import Frame, Track

__all__ = ["Alignment", "BadReplay", "Frame", "Moment", "Replay", "ReplayModel", "Track"]
