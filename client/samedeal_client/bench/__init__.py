"""`samedeal bench`: load on a server of its own, beside a bare echo server in the same run."""
