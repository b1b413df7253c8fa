"""What operators can do, from a shell, on the store itself."""
