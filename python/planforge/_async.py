"""Calls on a thread: as coroutines, whose cancellation cancels the work, and as iterators over what the work reports."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Callable, Coroutine, Generator, Generic, Iterator, Optional, ParamSpec, Tuple, TypeVar

from . import _native

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

Current = Tuple[_native.NativeCancellation, Optional["AbstractEventLoop"]]
"""The cancellation of the work on a thread, and the loop of the coroutine that waits for it, if one does."""

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


class Progress(Iterator[T], Generic[T, R]):
    """What a call reports while it works on a thread, each item once. The work starts with the first item.

    After the last item, or at once, `result` has what the call returns. `close`, the end of a `with` block or an interrupt ends the work.
    """

    def __init__(self, work: Callable[[Callable[[T], None]], R]):
        from concurrent.futures import Future

        self._ended: Future[R] = Future()
        self._items = _items(work, self._ended)

    def __next__(self) -> T:
        return next(self._items)

    @property
    def result(self) -> R:
        """The result of the call. Waits for its end and drops the items that were not read."""
        for _ in self:
            pass
        return self._ended.result()

    def close(self) -> None:
        """Ends the work, which completes its record. The result of a search is then the best plan so far."""
        self._items.close()
        # Work that did not start has no result.
        self._ended.cancel()

    def __enter__(self) -> "Progress[T, R]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _items(work: Callable[[Callable[[T], None]], R], ended: "Future[R]") -> Generator[T, None, None]:
    from queue import SimpleQueue
    from threading import Thread

    queue: "SimpleQueue[Optional[Tuple[T]]]" = SimpleQueue()
    cancellation = _native.NativeCancellation()

    def run() -> None:
        _current.set((cancellation, None))
        try:
            ended.set_result(work(lambda item: queue.put((item,))))
        except BaseException as error:
            ended.set_exception(error)
        queue.put(None)

    # The interpreter does not wait for it at its end.
    thread = Thread(target=run, name="planforge", daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            yield item[0]
        ended.result()
    finally:
        cancellation.cancel()
        thread.join()


def current() -> Optional[Current]:
    """The cancellation of the work on this thread."""
    return _current.get()


def resolve(returned: Any, current: Optional[Current]) -> Any:
    """The result of a function of the caller: a coroutine is run in the loop, if there is one."""
    cancellation, loop = current or (None, None)
    if cancellation is None or loop is None or not hasattr(returned, "__await__"):
        return returned
    import asyncio
    from concurrent.futures import wait

    async def run() -> Any:
        return await returned

    future = asyncio.run_coroutine_threadsafe(run(), loop)
    while not wait([future], timeout=0.05).done:
        if cancellation.is_cancelled():
            future.cancel()
    return future.result()
