"""``stop_gradient``: a value as a constant of differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import tree
from lawful.ops import elementwise


def _identity(x: Any) -> Any:
    return x


_stop_gradient = elementwise(
    "stop_gradient",
    "Returns its argument, whose derivative is zero.",
    _identity,
    lambda ctx, x: x,
    kinds="fiubc",
    pure_rules=True,
)
stop_gradient_p = _stop_gradient.primitive


@stop_gradient_p.def_impl
def _copied(x: Any) -> Any:
    """Returns a copy of an array: the user gets it as it is, and a linear part may hold the argument."""
    return x.copy() if type(x) is np.ndarray else x


def stop_gradient(x: Any) -> Any:
    """Returns a pytree of arrays as it is, and as a constant to every derivative.

    Raises:
      NonArrayError: a leaf is not an array.

    Source: ``jax.lax.stop_gradient``.

    >>> from lawful.autodiff import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    return tree.map(_stop_gradient.operator, x)
