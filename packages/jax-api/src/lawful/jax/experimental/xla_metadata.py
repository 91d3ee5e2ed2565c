"""``jax.experimental.xla_metadata``: labels of operations for XLA, which have no effect here."""

from __future__ import annotations

import contextlib
from typing import Any


class _NoLabels(contextlib.AbstractContextManager[None]):
    """A context, and a decorator, that changes nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, function: Any) -> Any:
        return function


def set_xla_metadata(x: Any = None, **labels: Any) -> Any:
    """Returns ``x``; without it a context or decorator. The labels have no effect.

    >>> set_xla_metadata(3.0, label="x")
    3.0
    """
    return _NoLabels() if x is None else x


def xla_metadata_call(f: Any = None, /, **labels: Any) -> Any:
    """Returns ``f``; without it a decorator. The labels have no effect.

    >>> xla_metadata_call(abs, label="x")(-3.0)
    3.0
    """
    return _NoLabels() if f is None else f
