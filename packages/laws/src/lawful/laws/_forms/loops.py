"""``scan``, ``while_loop`` and ``fori_loop`` as forms. Every loop ends: its trip count has a small limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful.core import get_aval
from lawful.laws._forms.loop_bodies import (
    ITERATIONS,
    MAX_ITERATIONS,
    has_room,
    in_each_iteration,
    keeps_types,
    limit,
    require_moderate,
    results_of,
    strong_value,
    transpose_results,
)
from lawful.laws._forms.operands import draw_operands, draw_results, expressions, of_type
from lawful.laws._programs.builder import Builder
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.form import form
from lawful.laws._programs.scope import Elements, Operand, Variable, applied, static
from lawful.laws._programs.syntax import Apply, Assign, Block, Expression, Name, Static, one_or_all


def _body_results(
    builder: Builder, choose: Chooser, carry: Sequence[Variable], others: int, start: int = 0
) -> Callable[[], list[Operand] | None]:
    """Returns the function that draws the results of a body: a carry of the same types, and up to ``others`` results
    more.

    Args:
      builder: the program.
      choose: draws.
      carry: what the carry begins with.
      others: how many results there are more, at most.
      start: the index of the carry among the variables of the body.
    """

    def results() -> list[Operand] | None:
        before = builder.frame.variables[start : start + len(carry)]
        after = [_mixed(choose, v, of_type(builder, choose, v.aval)) for v in before]
        more = draw_results(builder, choose, most=others) if others else []
        return None if more is None else [*after, *more]

    return results


def _mixed(choose: Chooser, before: Variable, after: Operand) -> Operand:
    """Returns the next value of a carry; usually it depends on the previous value, and it does not grow."""
    if choose.integer(0, 3) == 0:
        return after
    if before.kind in "fc":
        half = before.operand.wrapped("ops.mul", Static(choose.one_of((0.5, -0.5))))
        return applied("ops.add", [half, after])
    if before.kind == "b":
        return applied("ops.bitwise_xor", [before.operand, after])
    return applied("ops.add", [before.operand, after]).wrapped("ops.rem", Static(7))


def _parameter(parts: list[Elements]) -> Elements | list[Elements]:
    return parts[0] if len(parts) == 1 else parts


def _listed(value: Any, count: int) -> list[Any]:
    """Returns the parts of one value, or of a tuple of values."""
    return [value] if count == 1 else list(value)


# scan


def _draw_slices(builder: Builder, choose: Chooser) -> tuple[list[Variable], int]:
    """Returns up to two arrays of equal length, and the length."""
    sliced = builder.visible(lambda v: v.aval.ndim > 0 and v.aval.shape[0] <= MAX_ITERATIONS)
    count = choose.integer(0, 2) if sliced else 0
    if not count:
        return [], choose.integer(0, MAX_ITERATIONS)
    first = choose.early(sliced)
    length = first.aval.shape[0]
    return [first, *[choose.early([v for v in sliced if v.aval.shape[0] == length]) for _ in range(count - 1)]], length


def _slices(builder: Builder, variable: Variable, length: int) -> Elements:
    """Returns the slices of an array for the iterations for which a body is drawn."""
    count = builder.frame.elements
    arrays = [np.asarray(variable.values[i * len(variable.values) // count]) for i in range(count)]
    if not length:
        return tuple([np.ones(x.shape[1:], x.dtype)[()] for x in arrays for _ in range(ITERATIONS)])
    return tuple([x[i % length] for x in arrays for i in range(ITERATIONS)])


@form("scan", "scan({0}, {operands}, {length}, {reverse}, {unroll}, checkpoints={checkpoints})", needs=("scan",))
def draw_scan(builder: Builder, choose: Chooser) -> None:
    """A loop over slices of arrays."""
    if not has_room(builder):
        return
    carry = draw_operands(builder, choose, 0)
    xs, length = _draw_slices(builder, choose)
    stacked = choose.integer(0, 2)
    parameters = [
        _parameter([in_each_iteration(builder, v) for v in carry]),
        _parameter([_slices(builder, x, length) for x in xs]),
    ]
    drawn = builder.block(
        choose, parameters, _body_results(builder, choose, carry, stacked), ITERATIONS,
        lambda names: (one_or_all(names[: len(carry)]), one_or_all(names[len(carry) :])),
    )  # fmt: skip
    if drawn is None:
        return
    block, values = drawn
    types = [get_aval(elements[0]) for elements in values[len(carry) :]]
    reverse = choose.integer(0, 2) == 2

    def run(functions: Any, *given: Any) -> Any:
        state = list(map(strong_value, given[: len(carry)]))
        before = given[: len(carry)]
        rows: list[list[Any]] = []
        for i in reversed(range(length)) if reverse else range(length):
            slices = one_or_all([np.asarray(x)[i] for x in given[len(carry) :]])
            if not rows:
                # A Python number in the carry takes the type of the body's result, which must be the drawn type.
                first, _ = functions[0](one_or_all(list(before)), slices)
                assert keeps_types(state, _listed(first, len(carry)))
            after, ys = functions[0](one_or_all(state), slices)
            state = list(map(strong_value, _listed(after, len(carry))))
            rows.append(list(map(np.asarray, _listed(ys, len(types)))))
            require_moderate((state, rows[-1]))
        if reverse:
            rows.reverse()
        stacks = [
            np.stack([row[i] for row in rows]) if rows else np.zeros((0, *aval.shape), aval.dtype)
            for i, aval in enumerate(types)
        ]
        return one_or_all(state), one_or_all(stacks)

    results = results_of(builder, [block], [*carry, *xs], run)
    if results is None:
        return
    operands = (one_or_all(expressions(carry)), one_or_all(expressions(xs)) if xs else Static(None))
    settings = (
        ("length", None if xs and choose.integer(0, 2) else length),
        ("reverse", reverse),
        ("unroll", choose.one_of((1, 1, 2, True))),
        ("checkpoints", choose.one_of((None, None, 1, 2))),
    )
    builder.nest("scan", [block], operands, transpose_results(results), settings)


# while_loop


def _predicate(builder: Builder, choose: Chooser, carry: Sequence[Variable]) -> Block:
    """Returns a function of the carry, whose first part counts the iterations."""
    state, result = builder.names.variable(), builder.names.variable()

    def part(i: int) -> Expression:
        return Apply("operator.getitem", (Name(state), Static(i)))

    goes_on = Apply("operator.lt", (part(0), limit(builder, choose).expression))
    reals = [i for i, v in enumerate(carry) if v.kind == "f"]
    if reals and not builder.settings.smooth and choose.integer(0, 1):
        axes = tuple(range(carry[reals[0]].aval.ndim))
        size = Apply("ops.reduce_sum", (part(1 + reals[0]),), (("axes", axes),))
        small = Apply("operator.lt", (size, Static(1.5)))
        goes_on = Apply("operator.and_", (goes_on, small))
    return Block(builder.names.function(), (state,), (Assign(result, goes_on),), result)


_WHILE = "while_loop({0}, {1}, {operands}, max_iters={max_iters}, checkpoints={checkpoints})"


@form("while_loop", _WHILE, needs=("while_loop",))
def draw_while_loop(builder: Builder, choose: Chooser) -> None:
    """A loop with a predicate that ends it after a few iterations."""
    if not has_room(builder):
        return
    carry = draw_operands(builder, choose, 0)
    counts = tuple([np.int64(i) for _ in range(builder.frame.elements) for i in range(ITERATIONS)])

    def results() -> list[Operand] | None:
        count = builder.frame.variables[0]
        after = _body_results(builder, choose, carry, 0, 1)()
        return None if after is None else [applied("operator.add", [count.operand, static(Static(1))]), *after]

    parameters = [[counts, *[in_each_iteration(builder, v) for v in carry]]]
    drawn = builder.block(choose, parameters, results, ITERATIONS, tuple)
    if drawn is None:
        return
    blocks = [_predicate(builder, choose, carry), drawn[0]]

    def run(functions: Any, *given: Any) -> Any:
        goes_on, body = functions
        before = (0, *given)
        state: tuple[Any, ...] = tuple(map(strong_value, before))
        assert keeps_types(state, body(before))
        while goes_on(state):
            state = tuple(map(strong_value, body(state)))
            require_moderate(state)
        return state

    found = results_of(builder, blocks, carry, run)
    if found is None:
        return
    settings = (
        ("max_iters", choose.one_of((None, None, 8))),
        ("checkpoints", choose.one_of((None, 1, 2, 3))),
    )
    builder.nest("while_loop", blocks, ((Static(0), *expressions(carry)),), transpose_results(found), settings)


# fori_loop


@form("fori_loop", "fori_loop({lower}, {upper}, {0}, {operands}, checkpoints={checkpoints})", needs=("fori_loop",))
def draw_fori_loop(builder: Builder, choose: Chooser) -> None:
    """A loop over integers, between static bounds or, for systems with while loops, variable ones."""
    carry = draw_operands(builder, choose, 1)
    if not has_room(builder) or not carry:
        return
    lower = static(Static(choose.one_of((0, 1, -1))))
    # With a variable bound it is a while loop.
    is_known = "while_loop" not in builder.settings.forms or choose.integer(0, 1) == 0
    upper = static(Static(choose.integer(0, MAX_ITERATIONS))) if is_known else limit(builder, choose)
    is_weak = get_aval(upper.value).weak_type
    dtype = get_aval(upper.value).dtype
    values = [i if is_weak else dtype.type(i) for i in range(ITERATIONS)]
    indices = tuple([value for _ in range(builder.frame.elements) for value in values])
    parameters = [indices, _parameter([in_each_iteration(builder, v) for v in carry])]
    drawn = builder.block(choose, parameters, _body_results(builder, choose, carry, 0, 1), ITERATIONS)
    if drawn is None:
        return

    def run(functions: Any, end: Any, *given: Any) -> Any:
        state = list(map(strong_value, given))
        first = lower.value if is_weak else dtype.type(lower.value)
        assert keeps_types(state, _listed(functions[0](first, one_or_all(given)), len(carry)))
        for i in range(lower.value, int(end)):
            index = i if is_weak else dtype.type(i)
            state = list(map(strong_value, _listed(functions[0](index, one_or_all(state)), len(carry))))
            require_moderate(state)
        return one_or_all(state)

    end = Variable(upper.expression, upper.values)
    found = results_of(builder, [drawn[0]], [end, *carry], run)
    if found is None:
        return
    settings = (
        ("lower", lower.expression),
        ("upper", upper.expression),
        ("checkpoints", choose.one_of((None, 1, 2))),
    )
    builder.nest("fori_loop", [drawn[0]], (one_or_all(expressions(carry)),), transpose_results(found), settings)
