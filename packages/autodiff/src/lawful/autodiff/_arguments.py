"""From pytrees to flat lists and back, with the checks of a user's primals, tangents and cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    InvalidArgumentError,
    ShapedArray,
    Tracer,
    TreeStructureError,
    Zero,
    avals_of,
    current,
    float0,
    get_aval,
    is_inexact,
)
from lawful.ops import convert_element_type
from lawful.staging import copy_aliased, describe_argument, flatten_outputs, in_avals, require_usable

_VALUES = frozenset({float, np.float64, np.ndarray})


class Output:
    """The tree of the result of a flattened function, its leaves, and its auxiliary output, once it has run."""

    def __init__(self) -> None:
        self.tree: Any = None
        #: As the function gave them: tracers of the transformation, which know the user's line.
        self.leaves: Sequence[Any] = ()
        self.aux: Callable[[], Any] = lambda: None


def flat_function(
    name: str, fun: Callable[..., Any], in_tree: Any, *, has_aux: bool
) -> tuple[Callable[..., list[Any]], Output]:
    """Returns a function of leaves that gives leaves, and where to find the tree of its result once it has run.

    Args:
      name: of the transformed function, for messages: "grad of f".
      fun: the function.
      in_tree: the tree of its positional arguments.
      has_aux: whether it returns an auxiliary output.
    """
    out = Output()

    def flat(*leaves: Any) -> list[Any]:
        result = fun(*in_tree.unflatten([*leaves]))
        if has_aux:
            result = _split_aux(name, out, result, leaves)
        outputs, out.tree = flatten_outputs(name, result)
        out.leaves = outputs
        return outputs

    return flat, out


def _split_aux(name: str, out: Output, result: Any, arguments: Sequence[Any]) -> Any:
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentTypeError(
            f"{name} with has_aux: expected a function that returns a pair (output, aux), got {type(result).__name__}"
            f"{f' of length {len(result)}' if isinstance(result, tuple) else ''}; return both, or leave has_aux out"
        )
    result, aux = result
    trace = current.trace
    leaves, treedef = tree.flatten(aux)  # while the trace runs: a function of derivatives in it may write out its tape

    def primals() -> Any:
        found = [primal_of(x, trace) for x in leaves]
        # Only arguments are arrays of the user, and copied.
        return treedef.unflatten(copy_aliased(found, [primal_of(x, trace) for x in arguments]))

    out.aux = primals
    return result


def primal_of(x: Any, trace: Any) -> Any:
    """Returns the primal of a tracer of a trace that has ended, and anything else as it is."""
    return x.primal if getattr(x, "_trace", None) is trace else x


def check_tangents(name: str, primals: Any, tangents: Any) -> tuple[list[Any], list[Any], Any]:
    """Returns the leaves of primals and tangents, and their tree; tangents of integers as symbolic zeros.

    Raises:
      ArgumentTypeError: they are not tuples or lists, or differ in structure, shape or dtype.
    """
    for what, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple | list):
            raise ArgumentTypeError(
                f"{name}: expected {what} as a tuple or list of arguments, got {type(value).__name__}; "
                f"write {name}(f, (x,), (x_dot,))"
            )
    primals, tangents = tuple(primals), tuple(tangents)
    flat_primals, in_tree = tree.flatten(primals)
    in_avals(name, (primals, {}), flat_primals)
    return flat_primals, checked_leaves(name, "tangent", in_tree, avals_of(flat_primals), tangents), in_tree


def checked_leaves(name: str, what: str, treedef: Any, avals: Sequence[ShapedArray], value: Any) -> list[Any]:
    """Returns the leaves of tangents or cotangents, of exactly the types that belong to those of a tree.

    Args:
      name: the function, for messages.
      what: "tangent", of primals, or "cotangent", of a result.
      treedef: the tree.
      avals: the types of its leaves.
      value: the tangents or cotangents.

    Raises:
      InvalidArgumentError: the tree or a type differs.
    """
    leaves = match_tree(name, f"{what}s", "primals" if what == "tangent" else "result", treedef, value)
    pairs = zip(leaves, avals, strict=True)
    if all([type(x) in _VALUES and get_aval(x) is aval and is_inexact(aval.dtype) for x, aval in pairs]):
        return leaves  # the common case
    paths = [path for path, _ in tree.leaves_with_path(value)]
    return [check_tangent(name, what, path, aval, x) for path, aval, x in zip(paths, avals, leaves, strict=True)]


def match_tree(name: str, what: str, like: str, treedef: Any, value: Any) -> list[Any]:
    """Returns the leaves of a tree that must have a given structure; raises InvalidArgumentError if it has not.

    >>> match_tree("f", "tangents", "primals", tree.structure({"a": 1.0}), {"a": 2.0})
    [2.0]
    """
    leaves, have = tree.flatten(value)
    if have == treedef:
        return leaves
    try:
        treedef.flatten_up_to(value)
        detail = f"{have}"
    except TreeStructureError as error:
        detail = f"{have} ({error.message})"
    raise InvalidArgumentError(
        f"{name}: expected {what} of the same tree as the {like}, {treedef}, got {detail}; "
        f"build the {what} with lawful.tree.map over the {like}"
    )


def check_tangent(name: str, what: str, path: Sequence[Any], primal: ShapedArray, tangent: Any) -> Any:
    """Returns a tangent or cotangent of exactly the type that belongs to a primal; a symbolic zero for integers.

    A Python number is converted: its value fits whatever floating dtype the primal has.
    """
    expected = primal.to_tangent_aval()
    location = f"{'result' if what == 'cotangent' else 'primals'}{tree.keystr(tuple(path))}"
    if expected.dtype == float0:
        if getattr(tangent, "dtype", None) == float0 and np.shape(tangent) == expected.shape:
            return Zero(expected)
        raise InvalidArgumentError(
            f"{name}: expected a {what} of dtype float0 for {primal} at {location}, because integers and booleans have "
            f"no other, got {_describe(tangent)}; use numpy.zeros({expected.shape}, lawful.core.float0)"
        )
    if isinstance(tangent, Tracer):
        require_usable(tangent)
    got = get_aval(tangent)
    if got.weak_type and got.shape == expected.shape and (got.dtype.kind != "c" or expected.dtype.kind == "c"):
        return (
            tangent
            if expected.weak_type and got.dtype == expected.dtype
            else convert_element_type(tangent, expected.dtype)
        )
    if got.shape != expected.shape or got.dtype != expected.dtype:
        raise InvalidArgumentError(
            f"{name}: expected a {what} of type {expected} at {location}, got {got}; "
            "its shape and dtype must be those of the value that it belongs to"
        )
    return tangent


def _describe(x: Any) -> str:
    return str(getattr(x, "dtype", type(x).__name__))


def require_inexact(name: str, path: Sequence[Any], aval: ShapedArray, cure: str) -> None:
    """Raises ArgumentTypeError if a value to differentiate by is of integers or booleans."""
    if not is_inexact(aval.dtype):
        raise ArgumentTypeError(
            f"{name}: expected floating inputs, got {aval} at {describe_argument((tree.SequenceKey(0), *path))}; {cure}"
        )


def single_cotangent(transformation: str, out_tree: Any, args: Sequence[Any], names: dict[str, Any]) -> Any:
    """Returns the one argument of a transposed function; raises ArgumentTypeError if there is not just that one."""
    if len(args) == 1 and not names:
        return args[0]
    by_name = f" and {', '.join(sorted(names))} by name" if names else ""
    raise ArgumentTypeError(
        f"{transformation}: expected one cotangent, of the tree of the result, {out_tree}, got {len(args)} arguments"
        f"{by_name}; give several as one tree, such as a tuple"
    )
