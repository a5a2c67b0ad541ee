"""Calls as coroutines: the work is done on a thread, and a cancelled task cancels it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Optional, ParamSpec, Tuple, TypeVar

from . import _native

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

P = ParamSpec("P")
T = TypeVar("T")

Current = Tuple[_native.NativeCancellation, "AbstractEventLoop"]
"""The cancellation of the work that a coroutine waits for, and its loop."""

_current: ContextVar[Optional[Current]] = ContextVar("planforge", default=None)


def awaitable(function: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """The variant of a function that a coroutine awaits."""

    async def variant(*args: P.args, **kwargs: P.kwargs) -> T:
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        loop = asyncio.get_running_loop()
        cancellation = _native.NativeCancellation()

        def work() -> T:
            _current.set((cancellation, loop))
            return function(*args, **kwargs)

        # A thread for each call: the loop's own threads are few.
        executor = ThreadPoolExecutor(1, "planforge")
        future = loop.run_in_executor(executor, work)
        executor.shutdown(wait=False)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            # Its record is complete when it has ended. A second cancellation does not wait. Its result or exception is not needed.
            future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            await asyncio.wait([future])
            raise

    variant.__name__ = variant.__qualname__ = f"a{function.__name__}"
    variant.__doc__ = f"""`{function.__name__}` as a coroutine.

    The work is done on a thread of its own, which also calls the functions of the caller; `model` and `ask` may be coroutine functions, which run in the
    loop. If the task is cancelled, the work ends and its record is complete, as after an interrupt.
    """
    return variant


def current() -> Optional[Current]:
    """The coroutine that this thread works for."""
    return _current.get()


def resolve(returned: Any, current: Optional[Current]) -> Any:
    """The result of a function of the caller: a coroutine is run in the loop, if there is one."""
    if current is None or not hasattr(returned, "__await__"):
        return returned
    import asyncio
    from concurrent.futures import wait

    async def run() -> Any:
        return await returned

    cancellation, loop = current
    future = asyncio.run_coroutine_threadsafe(run(), loop)
    while not wait([future], timeout=0.05).done:
        if cancellation.is_cancelled():
            future.cancel()
    return future.result()
