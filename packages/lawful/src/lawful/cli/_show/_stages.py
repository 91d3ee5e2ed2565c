"""The stages of a program: transformations of a function, passes over its jaxpr, and lowering."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from lawful import ops, tree
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.cli._imports import user_traceback
from lawful.cli._show._types import text_of_types
from lawful.cli._usage import UsageError, counted
from lawful.core import ArgumentValueError, ClosedJaxpr, ShapedArray, eval_closed_jaxpr, is_complex, is_inexact
from lawful.laws import count_primitives
from lawful.staging import (
    JitFunction,
    LoweredProgram,
    cse_jaxpr,
    dce_jaxpr,
    function_name,
    get_backend,
    inline_jaxpr,
    jit,
    make_jaxpr,
)

Function = Callable[..., Any]
Types = tuple[Any, ...]
Pass = Callable[[ClosedJaxpr], ClosedJaxpr]


@dataclass(frozen=True, slots=True)
class Shown:
    """A printed stage.

    Attributes:
      name: the stage: ``"jvp"``; of the function itself ``"function"``.
      title: all transformations: ``"vmap(jvp(f))"``.
      equations: how many the jaxpr has; None where the stage is no jaxpr.
      within: the same, with those of inner jaxprs.
      text: what is printed.
      program: the program, or the one that was lowered.
      is_pass: whether the stage rewrites the jaxpr before it, and applies no transformation to it.
      lowered: the backend's program; None where the stage is a jaxpr.
    """

    name: str
    title: str
    equations: int | None
    within: int | None
    text: str
    program: Program
    lowered: LoweredProgram | None = None
    is_pass: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """A function with the types of its arguments.

    Attributes:
      title: how it was made.
      function: of trees of arrays.
      types: those of its arguments.
      closed: its jaxpr.
      linked: the same, which the next stage applies to; its equations know that they are of this stage.
      results: the tree of the types of its results.
    """

    title: str
    function: Function
    types: Types
    closed: ClosedJaxpr
    results: Any
    linked: ClosedJaxpr | None = None


#: Makes a program, of the stage of a number, one whose equations can be told from those of all other stages.
Link = Callable[[ClosedJaxpr, int], ClosedJaxpr]


def stages(
    function: Function,
    types: Types,
    names: Sequence[str],
    argnums: Sequence[int],
    axis_size: int,
    link: Link | None = None,
) -> Iterator[Shown]:
    """Yields the function itself, and then each stage.

    Args:
      function: the program.
      types: the types of its arguments, trees of ``ShapedArray``.
      names: the stages, in the order in which they are applied.
      argnums: what gradients are by.
      axis_size: the size of the axis that `vmap` adds.
      link: makes the program of a stage the one that the next stage applies to, and each pass of a function of `jit`
        a stage. By default transformations apply to the function, and only those after a pass to a jaxpr.

    Raises:
      UsageError: the function cannot be traced, or a stage not be applied; the text has the user's line.
    """
    name = getattr(function, "__name__", type(function).__name__)
    passes: Sequence[Pass] = function.passes if link is not None and isinstance(function, JitFunction) else ()
    if passes:
        function, names = vars(function)["__wrapped__"], ("jit", *names)
    number = 0
    program = _linked(_traced(name, function, types), link, number)
    yield _jaxpr("function", program)
    for each in passes:
        number += 1
        title = f"{function_name(each)}({program.title})"
        program = _linked(_passed(each, title, program), link, number)
        yield _jaxpr(_NAMES.get(each, function_name(each)), program, is_pass=True)
    for stage in names:
        title = f"{stage}({program.title})"
        if stage in LOWERED:
            yield lowered(stage, program, name)
            continue
        number += 1
        if stage in PASSES:
            program = _passed(PASSES[stage], title, program)
        else:
            program = _transformed(stage, title, program, argnums, axis_size)
        program = _linked(program, link, number)
        yield _jaxpr(stage, program, is_pass=stage in PASSES)


def _jaxpr(name: str, program: Program, *, is_pass: bool = False) -> Shown:
    jaxpr = program.closed.jaxpr
    size, within = len(jaxpr.eqns), sum(count_primitives(jaxpr).values())
    return Shown(name, program.title, size, within, str(program.closed), program, is_pass=is_pass)


def _linked(program: Program, link: Link | None, number: int) -> Program:
    if link is None:
        return program
    closed = link(program.closed, number)
    evaluated = _evaluation(closed, program.results)
    evaluated.__name__ = function_name(program.function)  # `jit` takes it
    return replace(program, function=evaluated, linked=closed)


def _evaluation(closed: ClosedJaxpr, results: Any) -> Function:
    """Returns a jaxpr as a function of trees."""
    structure = tree.structure(results)
    return lambda *args: tree.unflatten(structure, eval_closed_jaxpr(closed, *tree.leaves(args)))


def _takes(function: Function, types: Types) -> bool:
    """Whether a function takes as many arguments."""
    with suppress(ValueError):  # it has no signature
        parameters = inspect.signature(function)
        try:
            parameters.bind(*types)
        except TypeError:
            return False
    return True


def _hint(function: Function) -> str:
    parameters = inspect.signature(function).parameters.values()
    by_name = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if by_name:
        return f"it takes {', '.join(by_name)} by name; name a function that gives it, and takes the rest by position"
    return "--args has a type for each argument, such as 'f64[3], f64[]'"


def _traced(title: str, function: Function, types: Types) -> Program:
    try:
        closed, results = make_jaxpr(function, return_shape=True)(*types)
    except UsageError:
        raise
    except Exception as error:  # the user's function may raise anything
        hint = "" if _takes(function, types) else f"\n{_hint(function)}"
        text = user_traceback(error)
        raise UsageError(f"tracing {title} at ({text_of_types(types)}) fails:\n{text}{hint}") from None
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
            f"{counted(len(program.types), 'argument')}{': ' if program.types else ''}{text_of_types(program.types)}"
        )
    for number in argnums:
        if not all(is_inexact(aval.dtype) for aval in tree.leaves(program.types[number])):
            raise UsageError(
                f"--grad: expected floating types, got {text_of_types((program.types[number],))} of argument {number} "
                f"of {program.title}; give it one in --args, such as f64[], or leave it out of --argnums"
            )
    out = tree.leaves(program.results)
    alone = (
        out == [program.results] and out[0].shape == () and is_inexact(out[0].dtype) and not is_complex(out[0].dtype)
    )
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
        raise UsageError("--grad: expected a floating result to differentiate, got none")
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

PASSES: Final[dict[str, Pass]] = {
    "inline": inline_jaxpr,
    "cse": cse_jaxpr,
    "dce": lambda closed: dce_jaxpr(closed, [True] * len(closed.out_avals)),
}
#: The names of passes that are functions.
_NAMES: Final[dict[Pass, str]] = {rewrite: name for name, rewrite in PASSES.items()}


def _passed(rewrite: Pass, title: str, program: Program) -> Program:
    try:
        closed = rewrite(program.linked or program.closed)
    except Exception as error:  # a user's pass may raise anything
        raise UsageError(f"the pass {title} fails:\n{user_traceback(error)}") from None
    return Program(title, _evaluation(closed, program.results), program.types, closed, program.results)


# Final stages: the input of a backend.

#: The backend of each stage.
LOWERED: Final = {"numpy": "numpy", "stablehlo": "xla"}


def lowered(stage: str, program: Program, name: str) -> Shown:
    """Returns a program for a backend.

    Raises:
      UsageError: the backend is not installed, or cannot lower the program.
    """
    try:
        backend = get_backend(LOWERED[stage])
    except (ArgumentValueError, ImportError) as error:
        advice = "; pip install lawful-xla-backend" if stage == "stablehlo" else ""
        raise UsageError(f"--{stage} needs the backend '{LOWERED[stage]}', which is not installed{advice}") from error
    try:
        found = backend.lower(program.linked or program.closed, name=name)
        return Shown(stage, f"{stage}({program.title})", None, None, found.as_text().rstrip(), program, found)
    except Exception as error:  # a primitive's rule may be missing or wrong
        raise UsageError(f"lowering {program.title} fails:\n{user_traceback(error)}") from None
