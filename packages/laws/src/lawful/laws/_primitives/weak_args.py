"""Python numbers for the arguments of a primitive, which have weak types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lawful.core import IntegerOverflowError, Primitive, get_aval, kind
from lawful.laws._programs.choose import Chooser

_PYTHON_TYPES: Final[dict[str, Callable[[Any], Any]]] = {"b": bool, "i": int, "u": int, "f": float, "c": complex}


def draw_weak_args(
    choose: Chooser, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any], *, always: bool = False
) -> tuple[Any, ...]:
    """Returns the arguments of a call, in some of the calls with Python numbers: for all scalars, or for one of them.

    All operands of a pointwise primitive become scalars. Those of another primitive stay as they are, but for scalars.
    Where the type rule refuses Python numbers, the arguments are returned unchanged.

    Args:
      choose: draws; 0 leaves the arguments unchanged.
      primitive: it has a declaration.
      args: arrays within its domain.
      params: its parameters.
      always: whether every call that can have Python numbers gets some.
    """
    declaration = primitive.declaration
    assert declaration is not None, f"{primitive!r} has no declaration"
    scalars = [i for i, x in enumerate(args) if _is_number(x, of_arrays=declaration.pointwise)]
    if not scalars or (declaration.pointwise and len(scalars) < len(args)):
        return args
    rarity = 3 if declaration.pointwise else 1  # few calls of the others have scalars
    if not always and choose.integer(0, rarity) < rarity:
        return args
    chosen = choose.integer(0, len(scalars))
    weak = scalars if chosen == 0 else [scalars[chosen - 1]]
    out = list(args)
    for i in scalars:
        number = _PYTHON_TYPES[kind(get_aval(args[i]).dtype)](np.asarray(args[i]).reshape(-1)[0])
        if i in weak:
            out[i] = number
        elif declaration.pointwise:
            out[i] = np.asarray(number)
    return tuple(out) if _accepts(primitive, out, params) and _fit(primitive, out, params) else args


def _is_number(x: Any, *, of_arrays: bool) -> bool:
    """Whether an argument is a scalar, or an array with elements, of a dtype whose values fit a Python number's."""
    aval = get_aval(x)
    has_element = bool(np.size(x)) if of_arrays else aval.shape == ()
    return has_element and kind(aval.dtype) in _PYTHON_TYPES and aval.dtype != np.uint64


def _accepts(primitive: Primitive, args: list[Any], params: dict[str, Any]) -> bool:
    try:
        primitive.rule("abstract_eval")(*map(get_aval, args), **params)
    except (TypeError, ValueError):
        return False
    return True


def _fit(primitive: Primitive, args: list[Any], params: dict[str, Any]) -> bool:
    """Whether Python integers fit the dtype that an implementation converts them to: it refuses others by value."""
    if int not in map(type, args):
        return True
    try:
        with np.errstate(all="ignore"):
            primitive.rule("impl")(*args, **params)
    except IntegerOverflowError:
        return False
    except Exception:  # the laws find it
        return True
    return True
