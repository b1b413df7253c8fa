"""The player's side: connection, model, bot, command line."""
