"""``make_jaxpr`` and ``eval_shape``: a Python function as a program, and the types of what it returns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ClosedJaxpr,
    Primitive,
    ShapedArray,
    Trace,
    as_bool,
    as_dtype,
    current,
    get_aval,
    new_trace,
    register_array_type,
    shorten,
)
from lawful.ops import check_sizes, static_integers
from lawful.staging._analyzed_call import declared_statics
from lawful.staging._recorder import trace_to_jaxpr
from lawful.staging._signature import (
    flatten_outputs,
    function_name,
    in_avals,
    merge,
    require_callable,
    statics_of,
)


class ShapeDtypeStruct:
    """The shape and dtype of an array that need not exist, to trace or lower a function with.

    Args:
      shape: the lengths of the dimensions.
      dtype: the dtype.
      weak_type: whether the value would stand for a Python scalar.
      sharding: how it would lie on several devices, for programs that are compiled ahead of time.

    Raises:
      ArgumentTypeError: the lengths are not integers, or the dtype is not one that lawful supports.
      ArgumentValueError: a length is negative, there are more than 64, or there is no dtype.

    >>> ShapeDtypeStruct((3,), "float32")
    ShapeDtypeStruct(shape=(3,), dtype=float32)

    Source: ``jax.ShapeDtypeStruct``.
    """

    __slots__ = ("aval", "sharding")

    def __init__(self, shape: tuple[int, ...], dtype: Any, *, weak_type: bool = False, sharding: Any = None) -> None:
        if dtype is None:
            raise ArgumentValueError("ShapeDtypeStruct: expected a dtype, got None; give it, such as 'float64'")
        sizes = static_integers("ShapeDtypeStruct", "shape", shape)
        check_sizes("ShapeDtypeStruct", sizes)
        self.aval = ShapedArray(sizes, as_dtype(dtype), weak_type)
        self.sharding = sharding

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """Returns the shape, dtype and weakness of an array, number or tracer, and the sharding that one was put to.

        >>> ShapeDtypeStruct.like(np.zeros(2))
        ShapeDtypeStruct(shape=(2,), dtype=float64)
        """
        aval = get_aval(x)
        sharding = x.sharding if getattr(x, "committed", False) else None
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=sharding)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """Returns it with some of ``shape``, ``dtype``, ``weak_type`` and ``sharding`` replaced.

        >>> ShapeDtypeStruct((3,), "float32").update(shape=(2, 3))
        ShapeDtypeStruct(shape=(2, 3), dtype=float32)
        """
        known = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type, "sharding": self.sharding}
        return ShapeDtypeStruct(**{**known, **changes})

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether the value would stand for a Python scalar."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError("len of a ShapeDtypeStruct: expected at least one dimension, got none; use size")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and (self.aval, self.sharding) == (other.aval, other.sharding)

    def __hash__(self) -> int:
        return hash((self.aval, self.sharding))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        sharding = "" if self.sharding is None else f", sharding={self.sharding}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype}{weak}{sharding})"


register_array_type(ShapeDtypeStruct, aval=attrgetter("aval"))
register_array_type(ShapedArray, aval=lambda x: x)


def struct_of(aval: ShapedArray) -> ShapeDtypeStruct:
    """Returns the public form of a type."""
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def trace_call(
    transformation: str,
    function: Callable[..., Any],
    statics: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[ClosedJaxpr, Any, Any]:
    """Traces a call; returns its jaxpr, and the trees of the arguments ``(args, kwargs)`` and of the result.

    >>> closed, in_tree, out_tree = trace_call("jit", lambda x: {"y": x * x}, statics_of(max, None, None), (3.0,), {})
    >>> closed, in_tree, out_tree
    ({ lambda ; a:~f64[]. let b:~f64[] = mul a a in (b,) }, PyTreeDef(((*,), {})), PyTreeDef({'y': *}))
    """
    name = function_name(function)
    dynamic, dynamic_kwargs, static = statics.split(transformation, args, kwargs)
    leaves, in_tree = tree.flatten((dynamic, dynamic_kwargs))
    avals = in_avals(f"{transformation} of {name}", (dynamic, dynamic_kwargs), leaves, values=False)
    closed, out_tree = trace_tree(transformation, function, in_tree, avals, static)
    return closed, in_tree, out_tree


def trace_tree(
    transformation: str,
    function: Callable[..., Any],
    in_tree: Any,
    avals: tuple[ShapedArray, ...],
    static: tuple[tuple[int | str, Any], ...] = (),
) -> tuple[ClosedJaxpr, Any]:
    """Traces a function of pytrees at types; returns its jaxpr and the tree of its result.

    Args:
      transformation: for messages.
      function: called once with tracers.
      in_tree: the tree of its dynamic ``(args, kwargs)``.
      avals: a type for each leaf.
      static: the static arguments with their argument numbers or names.

    >>> trace_tree("jit", lambda x: {"y": x * x}, tree.structure(((3.0,), {})), (get_aval(3.0),))
    ({ lambda ; a:~f64[]. let b:~f64[] = mul a a in (b,) }, PyTreeDef({'y': *}))
    """
    name = function_name(function)
    out_tree: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        args, kwargs = tree.unflatten(in_tree, leaves)
        if static:
            args, kwargs = merge(args, kwargs, static)
        outputs, out_tree = flatten_outputs(f"{transformation} of {name}", function(*args, **kwargs))
        return outputs

    closed = trace_to_jaxpr(flat, avals, transformation=transformation, name=name)
    return closed, out_tree


class NamedAxesTrace(Trace):
    """Binds names of axes, and passes every operation to its parent."""

    __slots__ = ()

    def __init__(self, parent: Trace, axes: Iterable[tuple[Hashable, int]]) -> None:
        super().__init__(parent, "make_jaxpr")
        self.axis_env = (*parent.axis_env, *axes)

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        return self.parent.process_primitive(primitive, args, params)


def _named_axes(axis_env: Any) -> tuple[tuple[Hashable, int], ...]:
    """Returns the pairs of names and sizes that ``make_jaxpr`` is given.

    Raises:
      ArgumentTypeError: it is no sequence of such pairs.
    """
    pairs = axis_env if isinstance(axis_env, list | tuple) else (axis_env,)
    for pair in pairs:
        if not (isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], Hashable)):
            raise ArgumentTypeError(
                f"make_jaxpr: expected axis_env of pairs of a name and a size, got {shorten(axis_env)}; "
                "write it as [('i', 4)]"
            )
    axes = tuple([(name, *static_integers("make_jaxpr", "size", (size,))) for name, size in pairs])
    if any(size < 1 for _, size in axes):
        raise ArgumentValueError(f"make_jaxpr: expected axis_env with sizes of at least 1, got {shorten(axis_env)}")
    return axes


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | tuple[int, ...] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Returns a function of the same arguments that gives the jaxpr of ``fun`` at their shapes and dtypes.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      static_argnums: positions of arguments that are given to ``fun`` as they are, besides those that are static in a
        `jit` of ``fun``.
      axis_env: names and sizes of axes that collectives in ``fun`` may use, as inside a ``vmap`` with ``axis_name``.
        The jaxpr can be evaluated inside such a ``vmap`` only.
      return_shape: whether to return also the tree of ``ShapeDtypeStruct`` of the result.

    The values of the arguments do not matter: any object with ``shape`` and ``dtype``, such as a ``ShapeDtypeStruct``,
    does as well. Every operation of ``fun`` is recorded, also those of constants only. Arrays that ``fun`` closes over
    become constants of the jaxpr, each once.

    Raises:
      ArgumentTypeError: ``axis_env`` is no sequence of pairs of a name and a size.
      NonArrayError: an argument, or a leaf of the result, is not an array.

    Law: ``eval_jaxpr(make_jaxpr(f)(x)) = f(x)``. Source: ``jax.make_jaxpr``.

    >>> from lawful.ops import mul, sin
    >>> make_jaxpr(lambda x: mul(sin(x), 2.0))(np.float64(1.0))
    { lambda ; a:f64[]. let
        b:f64[] = sin a
        c:f64[] = mul b 2.0:f64[]
      in (c,) }
    """
    require_callable("make_jaxpr", fun)
    statics = statics_of(fun, static_argnums, None).union(declared_statics(fun))
    axes = _named_axes(axis_env or ())
    return_shape = as_bool("make_jaxpr", "return_shape", return_shape)

    @functools.wraps(fun, updated=())
    def jaxpr_maker(*args: Any, **kwargs: Any) -> Any:
        with new_trace(NamedAxesTrace(current.trace, axes)) if axes else nullcontext():
            closed, _, out_tree = trace_call("make_jaxpr", fun, statics, args, kwargs)
        if return_shape:
            return closed, tree.unflatten(out_tree, [struct_of(aval) for aval in closed.out_avals])
        return closed

    return jaxpr_maker


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Returns the tree of ``ShapeDtypeStruct`` that ``fun(*args, **kwargs)`` would have, computing nothing.

    Args:
      fun: a function of pytrees of arrays.
      args: arrays, or ``ShapeDtypeStruct`` and other objects with ``shape`` and ``dtype`` in their place. Static
        arguments of a `jit` of ``fun`` are given as they are.
      kwargs: the same, by name.

    Raises:
      NonArrayError: an argument, or a leaf of the result, is not an array.

    >>> from lawful.ops import sin
    >>> eval_shape(sin, ShapeDtypeStruct((2, 3), "float32"))
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)

    Source: ``jax.eval_shape``.
    """
    require_callable("eval_shape", fun)
    closed, _, out_tree = trace_call("eval_shape", fun, declared_statics(fun), args, kwargs)
    return tree.unflatten(out_tree, [struct_of(aval) for aval in closed.out_avals])
