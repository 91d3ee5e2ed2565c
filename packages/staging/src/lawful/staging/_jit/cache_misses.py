"""Cache misses of ``jit``: each trace and each compilation, with its reason. ``explain_cache_misses`` shows them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from time import perf_counter
from types import CodeType
from typing import Any, Final, Never, NoReturn

from lawful.core import (
    ArgumentTypeError,
    ClosedJaxpr,
    SourceLine,
    as_bool,
    environment_switch,
    record,
    shorten,
    user_source,
)
from lawful.staging._jit.explain import (
    closed_over,
    codes_of,
    describe_closures,
    describe_difference,
    describe_programs,
)


@record
class CacheMiss:
    """A function of ``jit`` that was traced, or a program that was compiled. ``str(miss)`` is a line of text.

    Attributes:
      event: ``"traced"`` or ``"compiled"``.
      name: the name of the function.
      defined: ``file:line`` of the function; ``""`` if it is unknown.
      source: the user's line that called it.
      reasons: why it was not in the cache; empty the first time.
      seconds: how long it took.

    >>> print(CacheMiss("traced", "f", "model.py:3", None, (), seconds=0.002))
    jit of f (model.py:3) traced for the first time, 2 ms
    """

    event: str
    name: str
    defined: str
    source: SourceLine | None
    reasons: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        defined = f" ({self.defined})" if self.defined else ""
        at = "" if self.source is None else f" at {self.source}"
        again = " again" if self.reasons else " for the first time" if self.event == "traced" else ""
        reasons = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"jit of {self.name}{defined} {self.event}{again}{at}, {1e3 * self.seconds:.0f} ms{reasons}"


class _Observer:
    """Who is told of misses, and what was traced since somebody is."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[CacheMiss], None]] = []
        self.lock = threading.RLock()
        #: By code objects, the last function that was traced, and what it closed over then.
        self.functions: dict[tuple[CodeType, ...], tuple[Any, list[tuple[str, Any]]]] = {}
        #: By id of the cache, which stays alive, the keys that were traced.
        self.keys: dict[int, tuple[Any, set[Any]]] = {}
        #: The jaxprs of traces: the trace, which comes before, has the reason of their compilation.
        self.traced: dict[int, ClosedJaxpr] = {}
        #: By name and source lines, the last program that a transformation derived from a trace.
        self.derived: dict[tuple[str, frozenset[str]], ClosedJaxpr] = {}

    def add(self, listener: Callable[[CacheMiss], None]) -> None:
        with self.lock:
            self.listeners.append(listener)

    def remove(self, listener: Callable[[CacheMiss], None]) -> None:
        with self.lock:
            self.listeners.remove(listener)
            if not self.listeners:
                self.functions.clear()
                self.keys.clear()
                self.traced.clear()
                self.derived.clear()

    def tell(self, miss: CacheMiss) -> None:
        for listener in [*self.listeners]:
            listener(miss)

    def reasons(self, function: Any, cache: Any, signature: Any, entry: Any) -> tuple[str, ...]:
        """Returns why a function is traced, and notes that it is."""
        with self.lock:
            _, keys = self.keys.setdefault(id(cache), (cache, set()))
            key, known = signature.key, [each.signature for each in cache.values()]
            was_traced = key in keys
            keys.add(key)
            codes = codes_of(function)
            last = self.functions.get(codes)
            self.functions[codes] = function, closed_over(function)
        if entry is not None:
            return ("it closes over a value of a transformation that has ended",)
        if was_traced:
            return ("its trace was removed from the cache, by clear_caches or because the cache was full",)
        if known:
            return describe_difference(function, signature, known)
        if last is None or not codes:  # callables without code, such as builtins, cannot be compared
            return ()
        if last[0] is function:
            return ("jit has other options than before: static or donated arguments, backend, passes",)
        changes = describe_closures(closed_over(function), last[1])
        text = f"; {', '.join(changes)}: pass it as an argument" if changes else ""
        return (f"it is a new function object each time, so call jit once, outside of the loop{text}",)

    def program_reasons(self, closed: ClosedJaxpr, name: str) -> tuple[str, ...]:
        """Returns why a program is compiled that is not that of a trace, and notes that it is."""
        if id(closed) in self.traced:
            return ()
        key = name, frozenset([str(eqn.source) for eqn in closed.eqns])
        with self.lock:
            before = self.derived.get(key)
            self.derived[key] = closed
        return () if before is None else describe_programs(closed, before)


_observer: Final = _Observer()


class tracing:
    """Notes that a function is traced, within a ``with`` block.

    Args:
      function: the function.
      name: its name.
      cache: where its traces are.
      signature: what it is traced for.
      entry: a trace in the cache that is no longer valid; None if there is none.
    """

    __slots__ = ("_miss", "_start")

    def __init__(self, function: Any, name: str, cache: Any, signature: Any, entry: Any) -> None:
        self._miss: tuple[str, str, SourceLine | None, tuple[str, ...]] | None = None
        if _observer.listeners:
            reasons = _observer.reasons(function, cache, signature, entry)
            self._miss = name, defined_at(function), user_source(), reasons
            self._start = perf_counter()
        _log(function, name, cache, signature)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, *error: object) -> None:
        if self._miss is not None and kind is None:
            name, defined, source, reasons = self._miss
            _observer.tell(CacheMiss("traced", name, defined, source, reasons, perf_counter() - self._start))


def note_trace(closed: ClosedJaxpr) -> None:
    """Notes the jaxpr of a trace."""
    if _observer.listeners:
        _observer.traced[id(closed)] = closed


def reasons_to_compile(closed: ClosedJaxpr, name: str) -> tuple[str, ...]:
    """Returns why a program is compiled again; nothing for that of a trace, and while nobody listens."""
    return _observer.program_reasons(closed, name) if _observer.listeners else ()


def note_compilation(name: str, reasons: Sequence[str], seconds: float) -> None:
    """Notes that a program was compiled."""
    if _observer.listeners:
        _observer.tell(CacheMiss("compiled", name, "", user_source(), tuple(reasons), seconds))


def _log(function: Any, name: str, cache: Any, signature: Any) -> None:
    """Tells the logger ``lawful.jit`` of a trace that is not the first."""
    # Without an import of logging there is no handler, and the import is slow.
    logging = sys.modules.get("logging")
    if logging is None or not (logger := logging.getLogger("lawful.jit")).isEnabledFor(logging.DEBUG):
        return
    known = [each.signature for each in cache.values()]
    if known:
        reasons = describe_difference(function, signature, known) or ("a value that it closed over is no longer valid",)
        logger.debug("jit of %s is traced again: %s", name, "; ".join(reasons))


def defined_at(function: Any) -> str:
    """Returns ``file:line`` of a function, of the innermost one that it wraps; ``""`` if it is unknown."""
    codes = codes_of(function)
    return f"{codes[-1].co_filename}:{codes[-1].co_firstlineno}" if codes else ""


def _show(miss: CacheMiss) -> None:
    sys.stderr.write(f"{miss}\n")


def set_explain_cache_misses(enable: bool) -> None:
    """Sets whether cache misses are shown on standard error, in every thread.

    `explain_cache_misses` does it for a block.

    Raises:
      ArgumentTypeError: the value is neither True nor False.

    >>> set_explain_cache_misses(False)
    """
    enable = as_bool("set_explain_cache_misses", "enable", enable)
    if enable != (_show in _observer.listeners):
        (_observer.add if enable else _observer.remove)(_show)


class explain_cache_misses(ContextDecorator):
    """Explains each trace and each compilation of ``jit``, within a ``with`` block or a function that it decorates.

    Args:
      show: whether each is shown on standard error when it has ended. The block gets the list of all in any case.

    A function is traced when its signature is new. The reason names the argument and says what is another one: its
    shape, its dtype, that it is a Python number, the tree of the arguments, a static argument, a mesh. Or the function
    is a new object, because its ``def`` or ``lambda`` ran again; then the reason says what else it closes over. A
    program that equals one before is traced and not compiled. A transformation of a traced function, such as
    ``vmap(jit(f))``, is compiled and not traced; the reason names the input of the program that has another type.

    It holds in every thread. ``LAWFUL_EXPLAIN_CACHE_MISSES=1`` in the environment shows all misses of a process. The
    logger ``lawful.jit`` has a message at the level DEBUG for each trace after the first.

    Raises:
      ArgumentTypeError: it gets a positional argument, such as the function that it should decorate, or ``show`` is
        neither True nor False.

    Law: no result changes. Source: ``jax.explain_cache_misses``.

    >>> import numpy as np
    >>> from lawful.ops import mul
    >>> from lawful.staging import jit
    >>> double = jit(lambda x: mul(x, 2.0))
    >>> with explain_cache_misses(show=False) as misses:
    ...     for x in (np.ones(2), np.ones(2), np.ones(3)):
    ...         _ = double(x)
    >>> [(miss.event, miss.reasons) for miss in misses if miss.event == "traced"]
    [('traced', ()), ('traced', ('x is f64[3], was f64[2]: another shape',))]
    """

    def __init__(self, *given: Never, show: bool = True) -> None:
        if given:
            raise ArgumentTypeError(
                f"explain_cache_misses: expected no positional argument, got {shorten(given[0])}; write "
                "@explain_cache_misses(), with parentheses, or show=True"
            )
        if not isinstance(show, bool):
            raise ArgumentTypeError(
                f"explain_cache_misses: expected show=True or show=False, got show={shorten(show)}; pass one of them"
            )
        self._show = show
        self._entered: list[list[Callable[[CacheMiss], None]]] = []

    def __enter__(self) -> list[CacheMiss]:
        misses: list[CacheMiss] = []
        listeners: list[Callable[[CacheMiss], None]] = [misses.append, *[lambda miss: _show(miss)] * self._show]
        self._entered.append(listeners)
        for listener in listeners:
            _observer.add(listener)
        return misses

    def __exit__(self, *error: object) -> None:
        for listener in self._entered.pop():
            _observer.remove(listener)


if environment_switch("LAWFUL_EXPLAIN_CACHE_MISSES") is not None:
    set_explain_cache_misses(True)


def refuse_attribute(function: Any, name: str) -> NoReturn:
    """Raises AttributeError for an attribute that a function of ``jit`` does not have."""
    message = f"{type(function).__name__!r} object has no attribute {name!r}"
    if name == "_cache_size":
        message = (
            f"{function!r}: expected a public name, got {name}, which is private in JAX; list the traces with "
            "lawful.staging.explain_cache_misses(), or count the entries of caches with cache_report()"
        )
    raise AttributeError(message, name=name, obj=function)
