"""Primitives, jaxprs, types and traces, as JAX gives them to those who define primitives and transformations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Final

from lawful import core
from lawful.core import ClosedJaxpr, ShapedArray, Trace, array_types, current, eval_jaxpr, get_aval, primitives_by_name
from lawful.jax._support.user_functions import given
from lawful.staging import ShapeDtypeStruct

JaxprEqn = core.JaxprEqn
__all__ = [
    "Primitive",
    "Rules",
    "array_types",
    "call_p",
    "closed_call_p",
    "find_top_trace",
    "jaxpr_as_fun",
    "mapped_aval",
    "unmapped_aval",
]
#: Calls in jaxprs of JAX. In those of lawful all calls are ``jit``; tables of rules by primitive have these as keys.
call_p = core.Primitive("call", multiple_results=True)
closed_call_p = core.Primitive("closed_call", multiple_results=True)

# What libraries compare to find out whether a tracer is that of `find_top_trace`.
setattr(Trace, "main", property(lambda trace: trace))  # noqa: B010  # mypy knows no such attribute


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr, *args: Any) -> Callable[..., list[Any]]:
    """Returns the function of a closed jaxpr, which gives a list; ``args`` are its first arguments.

    >>> from lawful.staging import make_jaxpr
    >>> jaxpr_as_fun(make_jaxpr(lambda x: x * 2.0)(1.0))(3.0)
    [Array(6., dtype=float64, weak_type=True)]
    """

    def function(*rest: Any) -> list[Any]:
        found: list[Any] = given(eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args, *rest))
        return found

    return function


def mapped_aval(size: int, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """Returns the type of an element of a batch.

    Args:
      size: of the batch.
      axis: the position of its dimension; None if the elements are one value.
      aval: the type of the batch.

    >>> mapped_aval(3, 1, ShapedArray((2, 3), float))
    ShapedArray(f64[2])
    """
    if axis is None:
        return aval
    if aval.shape[axis] != size:
        raise core.ArgumentValueError(f"mapped_aval: expected a dimension {axis} of length {size}, got {aval}")
    return aval.update(shape=aval.shape[:axis] + aval.shape[axis + 1 :])


def unmapped_aval(size: int, axis: int | None, aval: ShapedArray, explicit_mesh_axis: Any = None) -> ShapedArray:
    """Returns the type of a batch.

    Args:
      size: of the batch.
      axis: the position of its dimension; None if the elements are one value.
      aval: the type of an element.
      explicit_mesh_axis: has no effect.

    >>> unmapped_aval(3, 1, ShapedArray((2,), float))
    ShapedArray(f64[2,3])
    """
    return aval if axis is None else aval.update(shape=(*aval.shape[:axis], size, *aval.shape[axis:]))


def find_top_trace(_: Any) -> Trace:
    """Returns the current trace.

    >>> find_top_trace([]).transformation
    'evaluation'
    """
    return current.trace


def valid_jaxtype(x: Any) -> bool:
    """Whether a value is an array, a number or a tracer, or has the type of one.

    >>> valid_jaxtype(1.0), valid_jaxtype("1.0"), valid_jaxtype([1.0])
    (True, False, False)
    """
    try:
        get_aval(x)
    except core.LawfulError:
        return isinstance(x, ShapeDtypeStruct)
    return True


class _PrimitiveType(type):
    """The type of `Primitive`: all primitives of lawful are instances of it."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, core.Primitive)


class Primitive(core.Primitive, metaclass=_PrimitiveType):
    """An operation with its rules, which get `Array`s, as does the caller of `bind`; see `lawful.core.Primitive`.

    >>> import lawful.jax.numpy as jnp
    >>> double_p = Primitive("double")
    >>> rule = double_p.def_impl(lambda x: x.at[0].multiply(2.0))
    >>> double_p.bind(jnp.ones(2))
    Array([2., 1.], dtype=float64)
    """

    __slots__ = ()

    def bind(self, *args: Any, **params: Any) -> Any:
        """Applies the primitive under the current transformation; see `lawful.core.Primitive.bind`."""
        return given(super().bind(*args, **params))

    @property
    def impl(self) -> Callable[..., Any]:
        """The rule of evaluation."""
        return self.rule("impl")

    def def_rule[F: Callable[..., Any]](self, slot: str, rule: F) -> F:
        """Puts a rule into a slot, and returns it."""
        super().def_rule(slot, _of_arrays(rule, slot) if slot in _OF_VALUES else rule)
        return rule


#: The slots of rules that take values.
_OF_VALUES: Final = ("impl", "jvp", "transpose", "batch")


def _of_arrays(rule: Callable[..., Any], slot: str) -> Callable[..., Any]:
    """Returns a rule that gets values as `Array`s, several of them as tuples; parameters and positions as they are."""

    @functools.wraps(rule, updated=())
    def call(*args: Any, **params: Any) -> Any:
        args = tuple(tuple(x) if type(x) is list and slot in ("jvp", "batch") else x for x in args)
        values, rest = (args[:1], args[1:]) if slot == "batch" else (args, ())
        return rule(*map(given, values), *rest, **params)

    return call


class Rules(MutableMapping[Any, Callable[..., Any]]):
    """The rules of all primitives in one slot, as JAX's table of a transformation: ``rules[primitive] = rule``."""

    def __init__(self, slot: str, define: str) -> None:
        self.slot = slot
        self.define = define

    def __getitem__(self, primitive: Any) -> Callable[..., Any]:
        rule: Callable[..., Any] = primitive.rules[self.slot]
        return rule

    def __setitem__(self, primitive: Any, rule: Callable[..., Any]) -> None:
        getattr(primitive, self.define)(rule)

    def __delitem__(self, primitive: Any) -> None:
        del primitive.rules[self.slot]

    def __iter__(self) -> Iterator[Any]:
        return (p for p in primitives_by_name.values() if self.slot in p.rules)

    def __len__(self) -> int:
        return sum(1 for _ in self)
