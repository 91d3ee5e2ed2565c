"""Composites: functions of arrays that are compositions of primitives.

The primitives that a composite applies depend only on the types of its arrays and on its other arguments. So an
accelerator may trace it and replay the program. The plain interpreters call the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

from lawful.core import ArgumentTypeError, Hook, register_dispatch_module, shorten

register_dispatch_module(__name__)

F = TypeVar("F", bound=Callable[..., Any])


class Composite:
    """A function of arrays that is a composition of primitives.

    Args:
      function: the function.
      arrays: how many of its first arguments are arrays.
      sequence: whether the first one is a sequence of arrays.
      looks: whether the values of arrays that are not traced may decide what it applies.

    >>> import numpy as np
    >>> Composite(lambda x, y: x * y + 1, 2)(np.array([1, 2]), 3)
    array([4, 7])
    """

    __slots__ = ("arrays", "function", "key", "looks", "sequence")

    def __init__(
        self, function: Callable[..., Any], arrays: int = 1, *, sequence: bool = False, looks: bool = False
    ) -> None:
        self.function = function
        #: The key in caches: the function itself may be the user's, which a cache must not keep alive.
        self.key: Final = object()
        self.arrays = arrays
        self.sequence = sequence
        self.looks = looks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the function gives."""
        return composite_hook.use(self, args, kwargs, False)

    def of_integers(self, operands: Sequence[Any], *rest: Any) -> Any:
        """Returns what the function gives where arrays are traced.

        Args:
          operands: the arrays, in a sequence, of which one at least is traced.
          rest: integers, tuples of them, and None; what is a bool in one call is one in each.
        """
        return composite_hook.use(self, (operands, *rest), {}, True)


def _call(composite: Composite, args: tuple[Any, ...], kwargs: dict[str, Any], of_integers: bool) -> Any:
    return composite.function(*args, **kwargs)


#: Calls a composite: ``use(composite, args, kwargs, of_integers)``, with the last argument for `Composite.of_integers`.
composite_hook: Final[Hook[Callable[[Composite, tuple[Any, ...], dict[str, Any], bool], Any]]] = Hook(
    "composites", _call
)


def composite(arrays: int = 1, *, sequence: bool = False) -> Callable[[F], F]:
    """Returns the decorator that makes a function a `Composite`, with the same arguments.

    Args:
      arrays: how many of its first arguments are arrays.
      sequence: whether the first one is a sequence of arrays.

    What the function applies must follow from the types of these arrays and from its other arguments: a function that
    looks at the value of an array that is not traced is a `Composite` with ``looks``.

    Raises:
      ArgumentTypeError: ``arrays`` is no number.

    Law: it gives what the function gives.

    >>> import numpy as np
    >>> @composite()
    ... def mean_square(x, axis=None):
    ...     return (x * x).mean(axis)
    >>> mean_square(np.array([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([ 5., 10.])
    """
    if not isinstance(arrays, int):
        raise ArgumentTypeError(
            f"composite: expected the number of arrays among the first arguments, got {shorten(arrays)}; write "
            "@composite() above the function"
        )

    def decorate(function: F) -> F:
        composed = Composite(function, arrays, sequence=sequence)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return composite_hook.use(composed, args, kwargs, False)

        return cast(F, wrapper)

    return decorate


# A wrapper of it has no frame of this module: see `register_dispatch_module`.
composite.__module__ = "lawful.ops"
