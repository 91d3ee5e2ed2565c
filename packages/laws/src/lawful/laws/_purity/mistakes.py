"""The law of errors: a mistake made with any function raises an error at its line, and has no later effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    ConcretizationTypeError,
    LawfulError,
    MissingRuleError,
    NonArrayError,
    UnexpectedTracerError,
    current,
    eval_trace,
    get_aval,
    is_inexact,
)
from lawful.laws._composition.batching import batch_of, mappable
from lawful.laws._derivatives.directions import tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.staging import make_jaxpr

# The file name of the code of a mistake.
_FILE: Final = "<mistake>"


@dataclass(frozen=True, slots=True)
class Mistake:
    """A line of Python with a mistake, and the parts of the error's message.

    Attributes:
      text: the program; its last line runs it.
      line: the line that is wrong, counted from 1.
      error: the class of the error.
      parts: what the message must contain.
      scope: the values that the program names, beside ``f`` and ``x``.
    """

    text: str
    line: int
    error: type[Exception]
    parts: tuple[str, ...]
    scope: dict[str, Any]


def _one_leaf(trial: Trial, values: Any, change: Callable[[Any], Any]) -> tuple[Any, str]:
    """Returns values with one floating-point leaf changed, and the key path of the leaf.

    Raises:
      Inapplicable: there is none.
    """
    leaves, treedef = tree.flatten_with_path(values)
    indices = [i for i, (_, x) in enumerate(leaves) if is_inexact(get_aval(x).dtype)]
    if not indices:
        raise Inapplicable("errors: expected a floating argument and result, got none")
    index = indices[int(trial.random.integers(0, len(indices)))]
    changed = [change(x) if i == index else x for i, (_, x) in enumerate(leaves)]
    return tree.unflatten(treedef, changed), tree.keystr(leaves[index][0])


def _longer(x: Any) -> Any:
    return np.ones((*np.shape(x), 5), np.asarray(x).dtype)


def _of_another_dtype(x: Any) -> Any:
    return np.zeros(np.shape(x), np.float32 if np.asarray(x).dtype == np.float64 else np.float64)


def _wrong_tangent(trial: Trial) -> Mistake:
    change = _longer if trial.random.integers(0, 2) else _of_another_dtype
    wrong, path = _one_leaf(trial, tangents_of(trial, trial.args), change)
    return Mistake("\njvp(f, x, v)", 2, ArgumentTypeError, (f"primals{path}", "expected a tangent"), {"v": wrong})


def _wrong_tangent_of_a_linear_program(trial: Trial) -> Mistake:
    wrong, path = _one_leaf(trial, tangents_of(trial, trial.args), _longer)
    text = "_, push = linearize(f, *x)\npush(*v)"
    return Mistake(text, 2, ArgumentTypeError, (f"primals{path}", "expected a tangent"), {"v": wrong})


def _wrong_cotangent(trial: Trial) -> Mistake:
    cotangents = tangents_of(trial, trial.function(*trial.args))
    wrong, path = _one_leaf(trial, cotangents, _longer)
    text = "_, pull = vjp(f, *x)\n\n\npull(w)"
    return Mistake(text, 4, ArgumentTypeError, (f"result{path}", "expected a cotangent"), {"w": wrong})


def _different_sizes(trial: Trial) -> Mistake:
    argnums = mappable(trial.args)
    sizes = {argnum: 2 + number for number, argnum in enumerate(argnums)}
    in_axes = tuple(0 if i in argnums else None for i in range(len(trial.args)))
    batches = [
        tree.map(lambda y, n=sizes[i]: batch_of(y, n, 0), x) if i in sizes else x for i, x in enumerate(trial.args)
    ]
    if len(argnums) < 2:
        raise Inapplicable("errors: expected two arguments to map, got one")
    parts = tuple(f"argument {argnum}" for argnum in argnums) + tuple(f"size {size}" for size in sizes.values())
    return Mistake("vmap(f, axes)(*batches)", 1, ArgumentValueError, parts, {"axes": in_axes, "batches": batches})


def _a_gradient_of_many_results(trial: Trial) -> Mistake:
    if not trial.args or any(get_aval(x).dtype.kind not in "fV" for x in tree.leaves(trial.args[0])):
        raise Inapplicable("errors: expected a first argument of real numbers, got none")
    text = "def two(*y):\n    return (f(*y), 1.0)\n\ngrad(two)(*x)"
    return Mistake(text, 4, ArgumentTypeError, ("grad of two", "one scalar result"), {})


def _a_condition_on_a_traced_value(trial: Trial) -> Mistake:
    text = "def g(*y):\n    z = f(*y)\n    if leaf(y).sum() > 0:\n        return z\n\njit(g)(*x)"
    scope = {"leaf": lambda values: next(x for x in tree.leaves(values) if hasattr(x, "sum"))}
    if not any(hasattr(x, "sum") for x in tree.leaves(trial.args)):
        raise Inapplicable("errors: expected an array, got none")
    return Mistake(text, 3, ConcretizationTypeError, ("bool", "cond"), scope)


def _see_that_there_are_arguments(trial: Trial) -> None:
    if not tree.leaves(trial.args):
        raise Inapplicable("errors: expected a function of some arguments, got one of none")


def _a_tracer_that_was_kept(trial: Trial) -> Mistake:
    _see_that_there_are_arguments(trial)
    text = "kept = []\ndef g(*y):\n    kept.extend(leaves(y))\n    return f(*y)\n\njit(g)(*x)\nsin(kept[0])"
    return Mistake(text, 7, UnexpectedTracerError, ("jit",), {"leaves": tree.leaves, "sin": trial.system.ops.sin})


def _not_an_array(trial: Trial) -> Mistake:
    _see_that_there_are_arguments(trial)
    text = "jit(f)(*[object() for _ in x])"
    return Mistake(text, 1, NonArrayError, ("argument 0", "object"), {})


def _a_result_that_is_no_array(trial: Trial) -> Mistake:
    text = "def g(*y):\n    return {'right': f(*y), 'wrong': object()}\n\njit(g)(*x)"
    return Mistake(text, 4, NonArrayError, ("result['wrong']",), {})


def _shapes_that_do_not_broadcast(trial: Trial) -> Mistake:
    text = "def g(*y):\n    z = f(*y)\n    add(two, three)\n    return z\n\njit(g)(*x)"
    scope = {"add": trial.system.ops.add, "two": np.ones(2), "three": np.ones(3)}
    return Mistake(text, 3, ArgumentValueError, ("add", "(2,)", "(3,)"), scope)


_MISTAKES: Final = (
    *(_wrong_tangent, _wrong_tangent_of_a_linear_program, _wrong_cotangent, _different_sizes),
    *(_a_gradient_of_many_results, _a_condition_on_a_traced_value, _a_tracer_that_was_kept, _not_an_array),
    *(_a_result_that_is_no_array, _shapes_that_do_not_broadcast),
)


@law("errors", needs=("jaxprs",), share=1 / 2)
def law_errors_name_their_place(trial: Trial) -> Claims:
    """A mistake made with a function raises an error that names the user's line and the key path of what is wrong,
    an error of the user's own arrives untouched, and afterwards everything works as before.

    Equation: T(f)(wrong) raises E with line(E) = line of the mistake and path(E) = path of the wrong leaf, and then
    T(f)(x) is what it was

    The mistakes are tangents and cotangents of another type, mapped sizes that differ, a gradient of several results,
    a condition on a traced value, a tracer that was kept, arguments and results that are no arrays, shapes that do
    not broadcast.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: the function cannot be staged, which most mistakes are made with.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_errors_name_their_place(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, args = trial.function, trial.args
    before = function(*args)
    try:
        make_jaxpr(function)(*args)
    except ConcretizationTypeError as error:
        raise Inapplicable(f"errors: expected a function that can be staged, got {error}") from error
    made = 0
    for mistake_of in trial.some(_MISTAKES):
        try:
            mistake = mistake_of(trial)
        except Inapplicable:
            continue
        made += 1
        yield from _faults(trial, mistake)
    yield from _own_error(trial)
    yield Claim("f(x) after the mistakes", function(*args), "f(x) before", before, "nothing", weakness=True)
    if made == 0:
        raise Inapplicable("errors: expected a function to make a mistake with, got none")


def _run(trial: Trial, mistake: Mistake) -> Exception | None:
    """Runs a mistake as a user's program, and returns its error."""
    names = ("jvp", "vjp", "grad", "linearize", "vmap", "jit")
    scope = dict(trial.system.scope) | {name: getattr(trial.system, name) for name in names}
    scope |= {"f": trial.function, "x": trial.args, "__name__": "mistake"} | mistake.scope
    try:
        exec(compile(mistake.text, _FILE, "exec"), scope)
    except Exception as error:
        return error
    return None


def _faults(trial: Trial, mistake: Mistake) -> Iterator[Fault]:
    error = _run(trial, mistake)
    if isinstance(error, MissingRuleError):
        raise error  # the message is right
    text = "\n".join(f"{number}  {line}" for number, line in enumerate(mistake.text.splitlines(), 1))
    if not isinstance(error, mistake.error):
        yield Fault(f"this raises {error!r}, not {mistake.error.__name__}:", text)
        return
    line = f"{_FILE}:{mistake.line} "
    wrong = [f"the error does not say `{part}`" for part in mistake.parts if part not in str(error)]
    if not isinstance(error, LawfulError) or not str(error).startswith(line):
        wrong.append(f"the error does not begin with the line `{line.strip()}`")
    if current.trace is not eval_trace:
        wrong.append(f"after the error a trace is still current: {current.trace}")
    if wrong:
        yield Fault("; ".join(wrong), f"{error}\nof this:\n{text}")


class _UserError(Exception):
    """An error raised by the user's function."""


def _own_error(trial: Trial) -> Iterator[Fault]:
    raised = _UserError("of the user's")

    def fails(*args: Any) -> Any:
        trial.function(*args)
        raise raised

    for text, transformed in (("jit(f)", trial.system.jit(fails)), ("grad(f)", trial.system.grad(fails))):
        try:
            transformed(*trial.args)
        except _UserError as error:
            if error is not raised or str(error) != "of the user's":
                yield Fault(f"{text} changes an error that f raises: {error!r}")
        except LawfulError:
            continue  # it refuses the arguments before the call
        else:
            yield Fault(f"{text} swallows an error that f raises")
        if current.trace is not eval_trace:
            yield Fault(f"after an error in {text} a trace is still current: {current.trace}")
