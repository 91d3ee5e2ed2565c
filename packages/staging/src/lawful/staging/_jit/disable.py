"""``disable_jit``: compiled functions, conditionals and loops run as the Python that they mean, for a debugger."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from lawful.core import ConcretizationTypeError, as_bool
from lawful.staging._jit.jit import JitFunction, call_hook


def _call_python(self: JitFunction, *args: Any, **kwargs: Any) -> Any:
    return self._function(*args, **kwargs)


def is_jit_disabled() -> bool:
    """Whether functions run without compilation, as within `disable_jit`.

    >>> with disable_jit():
    ...     is_jit_disabled()
    True
    """
    return call_hook.is_overridden_by(_call_python)


def set_jit_disabled(disabled: bool) -> None:
    """Sets whether functions run without compilation, in every thread; `disable_jit` does it for a block.

    Raises:
      ArgumentTypeError: the value is neither True nor False.

    >>> set_jit_disabled(True)
    >>> is_jit_disabled()
    True
    >>> set_jit_disabled(False)
    """
    disabled = as_bool("set_jit_disabled", "disabled", disabled)
    if disabled != is_jit_disabled():
        (call_hook.override if disabled else call_hook.restore)(_call_python)


def disable_jit(disable: bool = True) -> contextlib.AbstractContextManager[None]:
    """Runs functions without compilation, within a ``with`` block, in every thread.

    A function of ``jit`` is called as Python. ``cond``, ``switch``, ``scan``, ``map``, ``fori_loop`` and ``while_loop``
    call their functions once for each branch taken and each iteration, where the predicate or index is known. So
    ``print``, ``breakpoint`` and a debugger see values.

    Args:
      disable: False to compile within a block that disables it.

    Raises:
      ArgumentTypeError: it is neither True nor False, such as a function that it should decorate.

    Law: no result changes. Source: ``jax.disable_jit``.

    >>> from lawful.ops import mul
    >>> from lawful.staging import jit
    >>> @jit
    ... def double(x):
    ...     print(type(x).__name__)
    ...     return mul(x, 2.0)
    >>> with disable_jit():
    ...     print(double(1.5))
    float
    3.0
    """
    return _disabled(as_bool("disable_jit", "disable", disable))


@contextlib.contextmanager
def _disabled(disable: bool) -> Iterator[None]:
    before = is_jit_disabled()
    set_jit_disabled(disable)
    try:
        yield
    finally:
        set_jit_disabled(before)


def known_value[T](convert: Callable[[Any], T], x: Any) -> T | None:
    """Returns a predicate or an index as ``bool`` or ``int``; None if its value is unknown.

    >>> from lawful.staging import make_jaxpr
    >>> known_value(int, 3), make_jaxpr(lambda x: print(known_value(int, x)) or x)(3).out_avals
    None
    (3, [ShapedArray(~i64[])])
    """
    try:
        return convert(x)
    except ConcretizationTypeError:
        return None
