"""Turn what redis-py raises into StoreUnavailable, at the edge of this package."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

from redis.exceptions import RedisClusterException, RedisError

from samedeal_server.errors import StoreUnavailable

__all__ = ["is_fault", "translates_faults"]

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type)


def is_fault(error: Exception) -> bool:
    """Whether an error says that the store is away, in whatever words it does."""
    # uvloop says this of a write on a connection that has just ended; redis-py lets it through.
    was_closed = isinstance(error, RuntimeError) and "the handler is closed" in str(error)
    # Errors about clusters have a root of their own.
    return was_closed or isinstance(error, RedisError | RedisClusterException | OSError)


def translates_faults(cls: _Class) -> _Class:
    """Have every public coroutine method of a class raise StoreUnavailable for a store's fault."""
    for name, method in vars(cls).copy().items():
        if not name.startswith("_") and inspect.iscoroutinefunction(method):
            setattr(cls, name, _translated(method))
    return cls


def _translated(
    method: Callable[_Params, Awaitable[_Result]],
) -> Callable[_Params, Awaitable[_Result]]:
    @functools.wraps(method)
    async def call(*args: _Params.args, **kwargs: _Params.kwargs) -> _Result:
        try:
            return await method(*args, **kwargs)
        except Exception as error:
            if not is_fault(error):
                raise
            raise StoreUnavailable(f"the store does not answer: {error}") from error

    return call
