"""``jax.extend.linear_util``: functions with transformations around them, as generators or functions write these.

>>> @transformation
... def doubled(*args):
...     results = yield args, {}
...     yield [2.0 * x for x in results]
>>> doubled(wrap_init(lambda x: [x + 1.0])).call_wrapped(3.0)
[8.0]
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any

from lawful.core import LawfulError

Function = Callable[..., Any]


class StoreException(LawfulError, RuntimeError):
    """A second output is asked for before the function is called.

    >>> issubclass(StoreException, RuntimeError)
    True
    """


class WrappedFun:
    """A function, with the transformations around it; equal to those of the same function.

    >>> wrap_init(abs).call_wrapped(-3.0)
    3.0
    """

    def __init__(self, f: Function, debug_info: Any = None) -> None:
        self.f = f
        self.debug_info = debug_info

    def call_wrapped(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the transformed function."""
        return self.f(*args, **kwargs)

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)


def wrap_init(f: Function, params: dict[str, Any] | None = None, *, debug_info: Any = None) -> WrappedFun:
    """Returns a function to be transformed; ``params`` are keyword arguments of it, if any.

    >>> wrap_init(int, {"base": 2}).call_wrapped("101")
    5
    """
    return WrappedFun(functools.partial(f, **params) if params else f, debug_info)


def transformation2(function: Function) -> Callable[..., WrappedFun]:
    """Makes a transformation of a function that gets the function to be called, static arguments, and arguments.

    >>> doubled = transformation2(lambda f, factor, x: factor * f(x))
    >>> doubled(wrap_init(abs), 2.0).call_wrapped(-3.0)
    6.0
    """

    def transform(fun: WrappedFun, *static: Any) -> WrappedFun:
        return WrappedFun(functools.partial(function, fun.call_wrapped, *static), fun.debug_info)

    return transform


def transformation_with_aux2(function: Function) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Makes a transformation, as `transformation2` does, of a function that also gets a store for a second output.

    The transformation returns the transformed function, and a function that returns the second output. The function
    gives it by ``store.store(x)``.

    >>> @transformation_with_aux2
    ... def counted(f, store, *args):
    ...     store.store(len(args))
    ...     return f(*args)
    >>> function, count = counted(wrap_init(max))
    >>> function.call_wrapped(3.0, 4.0), count()
    (4.0, 2)
    """

    def transform(fun: WrappedFun, *static: Any, **_: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = _Store()
        called = functools.partial(function, fun.call_wrapped, store, *static)
        return WrappedFun(called, fun.debug_info), store.value

    return transform


class _Store:
    """A place for a second output."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def store(self, x: Any) -> None:
        self._values = [x]

    def value(self) -> Any:
        if not self._values:
            raise StoreException("linear_util: expected a call before its second output is read, got none; call first")
        return self._values[0]


def transformation(generator: Callable[..., Generator[Any, Any, None]]) -> Callable[..., WrappedFun]:
    """Makes a transformation of a generator, which gets static arguments and arguments.

    It yields ``(args, kwargs)`` for the function, gets its results, and yields the transformed results.

    >>> @transformation
    ... def doubled(*args):
    ...     result = yield args, {}
    ...     yield 2.0 * result
    >>> doubled(wrap_init(abs)).call_wrapped(-3.0)
    6.0
    """

    def call(f: Function, *args: Any, **kwargs: Any) -> Any:
        steps = generator(*args, **kwargs)
        return _results(steps, f)

    return transformation2(call)


def transformation_with_aux(
    generator: Callable[..., Generator[Any, Any, None]],
) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """Makes a transformation of a generator, which yields the transformed results with a second output.

    >>> @transformation_with_aux
    ... def counted(*args):
    ...     results = yield args, {}
    ...     yield results, len(results)
    >>> function, length = counted(wrap_init(lambda x: [x, x]))
    >>> function.call_wrapped(3.0), length()
    ([3.0, 3.0], 2)
    """

    def call(f: Function, store: _Store, *args: Any, **kwargs: Any) -> Any:
        results, second = _results(generator(*args, **kwargs), f)
        store.store(second)
        return results

    return transformation_with_aux2(call)


def _results(steps: Generator[Any, Any, None], f: Function) -> Any:
    args, kwargs = next(steps)
    results = steps.send(f(*args, **kwargs))
    steps.close()
    return results
