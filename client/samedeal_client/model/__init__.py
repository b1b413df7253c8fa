"""What a player sees and does, without I/O: the race itself, and how a terminal shows it."""

from samedeal_client.model.race import Outgoing, OutOfStep, RaceModel, Resumed

__all__ = ["OutOfStep", "Outgoing", "RaceModel", "Resumed"]
