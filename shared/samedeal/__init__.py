"""samedeal: everyone gets the identical deal."""

__version__ = "0.1.0"
