"""The engine: rules, deals, tables, runs, order and replays. Standard library only, no I/O."""
