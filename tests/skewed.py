"""Run the server on a machine whose clock is wrong: `skewed.py SECONDS serve ...`.

At SIGUSR1 that clock is stepped by SECONDS once more.
"""

import runpy
import signal
import sys
import time

skew_s = step_s = float(sys.argv.pop(1))
true_time, true_time_ns = time.time, time.time_ns


def step(_number: int, _frame: object) -> None:
    """Do what a correction of the clock does."""
    global skew_s
    skew_s += step_s


time.time = lambda: true_time() + skew_s
time.time_ns = lambda: true_time_ns() + int(skew_s * 1e9)
signal.signal(signal.SIGUSR1, step)
runpy.run_module("samedeal_server", run_name="__main__")
