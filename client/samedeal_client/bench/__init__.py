"""`samedeal bench`: load on a fresh server, beside a bare echo server in the same run."""
