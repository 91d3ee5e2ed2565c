"""The stages of a program: transformations of a function, passes over its jaxpr, and lowering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lawful import ops, tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.cli._imports import user_traceback
from lawful.cli._show._types import text_of_types
from lawful.cli._usage import UsageError, counted
from lawful.core import ArgumentValueError, ClosedJaxpr, ShapedArray, eval_closed_jaxpr, is_complex, is_inexact
from lawful.laws import count_primitives
from lawful.staging import cse_jaxpr, dce_jaxpr, get_backend, inline_jaxpr, jit, make_jaxpr

Function = Callable[..., Any]
Types = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A printed stage.

    Attributes:
      name: the stage: ``"jvp"``; of the function itself ``"function"``.
      title: all transformations: ``"vmap(jvp(f))"``.
      equations: how many the jaxpr has; None where the stage is no jaxpr.
      within: the same, with those of inner jaxprs.
      text: what is printed.
    """

    name: str
    title: str
    equations: int | None
    within: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Program:
    """A function with the types of its arguments.

    Attributes:
      title: how it was made.
      function: of trees of arrays.
      types: those of its arguments.
      closed: its jaxpr.
      results: the tree of the types of its results.
    """

    title: str
    function: Function
    types: Types
    closed: ClosedJaxpr
    results: Any


def stages(
    function: Function, types: Types, names: Sequence[str], argnums: Sequence[int], axis_size: int
) -> Iterator[Shown]:
    """Yields the function itself, and then each stage.

    Args:
      function: the program.
      types: the types of its arguments, trees of ``ShapedArray``.
      names: the stages, in the order in which they are applied.
      argnums: what gradients are by.
      axis_size: the size of the axis that `vmap` adds.

    Raises:
      UsageError: the function cannot be traced, or a stage not be applied; the text has the user's line.
    """
    name = getattr(function, "__name__", type(function).__name__)
    program = _traced(name, function, types)
    yield _jaxpr("function", program)
    for stage in names:
        title = f"{stage}({program.title})"
        if stage in _LOWERED:
            yield Shown(stage, title, None, None, _lowered(stage, program, name))
            continue
        if stage in _PASSES:
            program = _passed(stage, title, program)
        else:
            program = _transformed(stage, title, program, argnums, axis_size)
        yield _jaxpr(stage, program)


def _jaxpr(name: str, program: Program) -> Shown:
    jaxpr = program.closed.jaxpr
    return Shown(name, program.title, len(jaxpr.eqns), sum(count_primitives(jaxpr).values()), str(program.closed))


def _traced(title: str, function: Function, types: Types) -> Program:
    try:
        closed, results = make_jaxpr(function, return_shape=True)(*types)
    except Exception as error:  # the user's function may raise anything
        raise UsageError(f"tracing {title} at ({text_of_types(types)}) fails:\n{user_traceback(error)}") from None
    return Program(title, function, types, closed, tree.map(_type_of, results))


def _type_of(struct: Any) -> ShapedArray:
    return ShapedArray(struct.shape, struct.dtype, struct.weak_type)


# Transformations: from a function and its argument types to another.


def _jvp(program: Program) -> tuple[Function, Types]:
    return lambda primals, tangents: jvp(program.function, primals, tangents), _with_tangents(program.types)


def _linearize(program: Program) -> tuple[Function, Types]:
    return lambda primals, tangents: linearize(program.function, *primals)[1](*tangents), _with_tangents(program.types)


def _vjp(program: Program) -> tuple[Function, Types]:
    cotangents = tree.map(ShapedArray.to_tangent_aval, program.results)
    return lambda primals, ct: vjp(program.function, *primals)[1](ct), (program.types, cotangents)


def _with_tangents(types: Types) -> Types:
    return types, tree.map(ShapedArray.to_tangent_aval, types)


def _gradient(program: Program, argnums: Sequence[int]) -> Program:
    if max(argnums) >= len(program.types) or min(argnums) < -len(program.types):
        raise UsageError(
            f"--argnums {','.join(map(str, argnums))}: {program.title} has "
            f"{counted(len(program.types), 'argument')}: {text_of_types(program.types)}"
        )
    out = tree.leaves(program.results)
    alone = len(out) == 1 and out[0].shape == () and is_inexact(out[0].dtype) and not is_complex(out[0].dtype)
    loss = program.function if alone else lambda *args: _total(program.function(*args))
    of = program.title if alone else f"sum of {program.title}"
    by = argnums[0] if len(argnums) == 1 else tuple(argnums)
    title = f"grad({of}{f', {by}' if by else ''})"
    return _traced(title, grad(loss, by), program.types)


def _total(results: Any) -> Any:
    """Returns the sum of all floating-point results; of the real parts if they are complex."""
    parts = [
        ops.reduce_sum(ops.real(x) if is_complex(x.dtype) else x, axes=tuple(range(len(x.shape))))
        for x in tree.leaves(results)
        if is_inexact(x.dtype)
    ]
    if not parts:
        raise UsageError("grad: expected a floating result to differentiate, got none")
    total = parts[0]
    for part in parts[1:]:
        total = ops.add(total, part)
    return total


def _mapped(program: Program, axis_size: int) -> tuple[Function, Types]:
    # A batch of Python scalars is an array.
    types = tree.map(lambda aval: ShapedArray((axis_size, *aval.shape), aval.dtype), program.types)
    return vmap(program.function), types


def _transformed(stage: str, title: str, program: Program, argnums: Sequence[int], axis_size: int) -> Program:
    if stage == "grad":
        return _gradient(program, argnums)
    if stage == "vmap":
        function, types = _mapped(program, axis_size)
    elif stage == "jit":
        function, types = jit(program.function), program.types
    else:
        function, types = {"jvp": _jvp, "linearize": _linearize, "vjp": _vjp}[stage](program)
    return _traced(title, function, types)


# Passes: from jaxpr to jaxpr. The next transformation applies to the new jaxpr as a function.

_PASSES: Final[dict[str, Callable[[ClosedJaxpr], ClosedJaxpr]]] = {
    "inline": inline_jaxpr,
    "cse": cse_jaxpr,
    "dce": lambda closed: dce_jaxpr(closed, [True] * len(closed.out_avals)),
}


def _passed(stage: str, title: str, program: Program) -> Program:
    closed = _PASSES[stage](program.closed)
    structure = tree.structure(program.results)

    def evaluated(*args: Any) -> Any:
        return tree.unflatten(structure, eval_closed_jaxpr(closed, *tree.leaves(args)))

    return Program(title, evaluated, program.types, closed, program.results)


# Final stages: the input of a backend.

_LOWERED: Final = {"numpy": "numpy", "stablehlo": "xla"}


def _lowered(stage: str, program: Program, name: str) -> str:
    try:
        backend = get_backend(_LOWERED[stage])
    except (ArgumentValueError, ImportError) as error:
        advice = "; pip install lawful-xla-backend" if stage == "stablehlo" else ""
        raise UsageError(f"--{stage} needs the backend '{_LOWERED[stage]}', which is not installed{advice}") from error
    try:
        return backend.lower(program.closed, name=name).as_text().rstrip()
    except Exception as error:  # a primitive's rule may be missing or wrong
        raise UsageError(f"lowering {program.title} fails:\n{user_traceback(error)}") from None
