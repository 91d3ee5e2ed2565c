"""The functional arguments of solvers, traced at the types of a solution, which they must return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from lawful import tree
from lawful.control_flow._cond.branches import structures_differ
from lawful.control_flow._loops.arguments import strong
from lawful.core import ArgumentTypeError, ClosedJaxpr, ShapedArray, deduplicated, get_aval, is_inexact
from lawful.staging import consts_as_inputs, describe_argument, flatten_outputs, in_avals, trace_to_jaxpr


class Vector(NamedTuple):
    """A right-hand side or a guess: its strong leaves, their types, and their tree."""

    leaves: list[Any]
    avals: list[ShapedArray]
    tree: Any


class Traced(NamedTuple):
    """A traced function: its jaxpr takes the constants first. ``out_tree`` is the tree of its whole result."""

    jaxpr: ClosedJaxpr
    consts: list[Any]
    out_tree: Any


def vector_of(name: str, label: str, argnum: int, value: Any) -> Vector:
    """Returns a pytree of floating arrays as a vector.

    Raises:
      NonArrayError: a leaf is not an array.
      ArgumentTypeError: one is of integers.
    """
    leaves, treedef = tree.flatten(value)
    before = (None,) * argnum
    avals = in_avals(name, ((*before, value), {}), leaves)
    for (path, _), aval in zip(tree.leaves_with_path(((*before, value), {})), avals, strict=True):
        if not is_inexact(aval.dtype):
            raise ArgumentTypeError(
                f"{name}: expected floating or complex numbers as {label}, got {aval} at {describe_argument(path)}; "
                "convert it with astype"
            )
    leaves = [strong(x) for x in leaves]
    return Vector(leaves, [get_aval(x) for x in leaves], treedef)


def trace_solver(
    name: str, label: str, function: Callable[..., Any], like: str, vector: Vector, *, copies: int = 1,
    has_aux: bool = False,
) -> Traced:  # fmt: skip
    """Traces a function from vectors of one type to such a vector.

    Args:
      name: the construct, for error messages.
      label: the name of the function.
      function: a function of trees like that of the vector.
      like: the name of the vector.
      vector: an example.
      copies: how many vectors the function takes.
      has_aux: whether it returns a pair of a vector and auxiliary output.

    Raises:
      ArgumentTypeError: it returns something else.
    """
    count = len(vector.avals)
    out_tree: Any = None

    def flat(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        args = [tree.unflatten(vector.tree, leaves[i * count : (i + 1) * count]) for i in range(copies)]
        result = function(*args)
        if has_aux and not (isinstance(result, tuple) and len(result) == 2):
            raise ArgumentTypeError(
                f"{name} with has_aux: expected {label} to return a pair (solution, aux), got {type(result).__name__}; "
                "return both, or leave has_aux out"
            )
        outs, out_tree = flatten_outputs(f"{name}: {label}", result)
        outs = [strong(x) for x in outs]
        _require_like(name, label, like, vector, result[0] if has_aux else result, outs)
        return outs

    closed = trace_to_jaxpr(flat, vector.avals * copies, transformation=name, name=label)
    opened, consts = consts_as_inputs(closed)
    return Traced(deduplicated(opened), list(consts), out_tree)


def _require_like(name: str, label: str, like: str, vector: Vector, result: Any, outs: Sequence[Any]) -> None:
    found = tree.structure(result)
    if found != vector.tree:
        raise ArgumentTypeError(
            f"{name}: expected {label} to give a tree like {like}, {vector.tree}, got {found} "
            f"({structures_differ(vector.tree, found)}); return the same tree"
        )
    paths = [path for path, _ in tree.leaves_with_path(result)]
    different = [
        f"{get_aval(x)} for {aval} at result{tree.keystr(path)}"
        for path, x, aval in zip(paths, outs, vector.avals, strict=False)
        if get_aval(x).update(vma=aval.vma) != aval
    ]
    if different:
        raise ArgumentTypeError(
            f"{name}: expected {label} to give the shapes and dtypes of {like}, got {'; '.join(different)}; "
            "reshape or convert with astype"
        )
