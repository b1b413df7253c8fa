"""The wire: messages, codec, limits and error codes that server and clients share."""
