"""``jax.experimental.checkify``: failed checks of a program as a value that it returns, of `lawful.checkify`."""

import typing as _typing
from typing import Any as _Any
from typing import Self as _Self

from lawful import checkify as _checkify
from lawful.jax._support.namespaces.namespace import namespace as _namespace
from lawful.jax._support.namespaces.wrapping import transforms as _transforms
from lawful.jax._support.user_functions import given as _given


class _ArrayMessage(str):
    """A format string that formats arrays as `Array`s, also those in pytrees."""

    __slots__ = ()

    def format(self, *args: _Any, **kwargs: _Any) -> str:
        return super().format(*map(_given, args), **_given(kwargs))

    def __add__(self, more: str) -> _Self:
        return type(self)(super().__add__(more))


def check(pred: _Any, msg: str, *fmt_args: _Any, debug: bool = False, **fmt_kwargs: _Any) -> None:
    """States a condition of a program; see `lawful.checkify.check`.

    Args:
      pred: a boolean of shape ``()``.
      msg: a format string.
      fmt_args: pytrees of arrays of any shape and dtype, which ``msg`` formats as `Array`s.
      debug: whether it is ignored without `checkify`.
      fmt_kwargs: the same, by name.

    Raises:
      JaxRuntimeError: the condition fails where no `checkify` returns the error, also in a compiled program.
      ArgumentTypeError: ``pred`` is not a boolean of shape ``()``, or a value is no array.
      KeyError: ``msg`` formats a value by a name that is not given.
      IndexError: ``msg`` formats a value by a position that is not given.

    >>> import lawful.jax.numpy as jnp
    >>> from lawful.jax.experimental.checkify import checkify
    >>> error, _ = checkify(lambda: check(False, "got {}", [jnp.ones(2)]))()
    >>> error.get()
    'got [Array([1., 1.], dtype=float64)] (`check` failed)'

    Source: ``jax.experimental.checkify.check``.
    """
    _checkify.check(pred, _ArrayMessage(msg), *fmt_args, debug=debug, **fmt_kwargs)


def debug_check(pred: _Any, msg: str, *fmt_args: _Any, **fmt_kwargs: _Any) -> None:
    """States a condition that counts under `checkify` only; see `check` for the arguments and errors.

    >>> debug_check(False, "never seen")

    Source: ``jax.experimental.checkify.debug_check``.
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


if _typing.TYPE_CHECKING:
    from lawful.jax._typed.experimental_checkify import *  # noqa: F403
else:
    __getattr__, __dir__ = _namespace(__name__, _checkify, renamed={"JaxRuntimeError": "CheckError"}, wrap=_transforms)
