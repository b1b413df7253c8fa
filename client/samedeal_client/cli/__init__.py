"""The command line of samedeal."""
