"""``checkpoint_name``: a name for a value, by which a policy of ``checkpoint`` finds it."""

from __future__ import annotations

from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError, NonArrayError, is_array, shorten
from lawful.ops import elementwise


def _identity(x: Any, *, name: str) -> Any:
    return x


name_p = elementwise(
    "name",
    "Returns its argument.",
    _identity,
    lambda ctx, x, *, name: x,
    derivatives=(lambda tangent, ans, x, *, name: tangent,),  # a tangent has no name
    linear=((0,),),
    kinds="fiubc",
    params=lambda choose: {"name": choose.one_of(("h", "g"))},
    pure_rules=True,
).primitive
name_p.def_impl(_identity, any_array=True)


def checkpoint_name[T](x: T, name: str) -> T:
    """Returns a pytree of arrays as it is, with a name that policies of :func:`checkpoint` know it by.

    Args:
      x: a pytree of arrays.
      name: a name; several values may have the same one.

    Raises:
      NonArrayError: a leaf is not an array.
      ArgumentTypeError: the name is not a string.

    Law: the identity, under every transformation. Source: ``jax.ad_checkpoint.checkpoint_name``.

    >>> from lawful.autodiff import checkpoint, checkpoint_policies, print_saved_residuals
    >>> from lawful.ops import sin
    >>> policy = checkpoint_policies.save_only_these_names("h")
    >>> print_saved_residuals(checkpoint(lambda x: sin(checkpoint_name(sin(x), "h")), policy=policy), 1.0)
    ~f64[]: the argument x
    f64[]: named 'h' at ...
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(
            f"checkpoint_name: expected a string as name, got {shorten(name)} of type {type(name).__name__}; "
            "write checkpoint_name(x, 'h')"
        )
    result: T = tree.map(lambda leaf: _named(leaf, name), x)
    return result


def _named(x: Any, name: str) -> Any:
    if not is_array(x):
        raise NonArrayError(
            f"checkpoint_name: expected arrays or numbers to name '{name}', got {shorten(x)} of type "
            f"{type(x).__name__}; name its arrays"
        )
    return name_p.bind(x, name=name)
