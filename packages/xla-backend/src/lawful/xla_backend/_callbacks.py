"""Calls of Python functions in a compiled program, and the order in which those with effects are made.

Every such call takes a number and gives it back, and the next one takes what the last one gave: through functions,
branches and loops, one call cannot begin before the one before it has ended. XLA itself promises no order of
operations that have side effects, and runs those that do not depend on each other as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lawful.core import ArgumentTypeError, ClosedJaxpr, JaxprEqn, ShapedArray, float0, has_effects, record
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._jaxlib import CALLBACK_TARGET, ir, stablehlo

if TYPE_CHECKING:
    from lawful.xla_backend._lowering import FunctionLowering

Value = Any

#: The type of the number that is passed from call to call.
ORDER: Final = ShapedArray((), np.dtype(np.int32))


@record
class CheckedCall:
    """A Python function as a program calls it: the runtime would take results of a wrong type for right ones.

    Attributes:
      function: of arrays of the types ``operands``; it gives a sequence of arrays.
      eqn: the equation that calls it.
      operands: the types of its arguments.
      results: the types that it must return.
      in_order: whether the number that stands for the order comes first, and goes back first.
    """

    function: Callable[..., Sequence[Any]]
    eqn: JaxprEqn
    operands: tuple[ShapedArray, ...]
    results: tuple[ShapedArray, ...]
    in_order: bool

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        order, arrays = (arrays[:1], arrays[1:]) if self.in_order else ((), arrays)
        given = [
            np.zeros(aval.shape, float0) if aval.dtype == float0 else x
            for x, aval in zip(arrays, self.operands, strict=True)
        ]
        found = self.function(*given)
        if len(found) != len(self.results):
            raise self._wrong(f"{len(self.results)} results", f"{len(found)}")
        for i, (x, aval) in enumerate(zip(found, self.results, strict=True)):
            is_array = isinstance(x, np.ndarray | np.generic)
            if not is_array or x.shape != aval.shape or x.dtype != aval.dtype:
                got = f"{x.dtype} of shape {x.shape}" if is_array else type(x).__name__
                raise self._wrong(f"{aval} as result {i}", got)
        return (*order, *found)

    def _wrong(self, expected: str, got: str) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"{self.eqn.primitive.name}: expected {expected} of the Python function that its lowering rule calls, "
            f"got {got}; return NumPy arrays of the types of the equation's results",
            source=self.eqn.source,
        )


def call_python(function: FunctionLowering, call: CheckedCall, operands: Sequence[Value]) -> list[Value]:
    """Builds a call of a Python function, and returns its results."""
    module = function.module
    if module.platform != "cpu":
        raise LoweringError(
            f"lowering: expected the platform 'cpu' for '{call.eqn.primitive.name}', which calls Python, got "
            f"{module.platform!r}; run it on the CPU",
            source=call.eqn.source,
        )
    avals_in, avals_out = call.operands, call.results
    if call.in_order:
        operands = [function.order(call.eqn), *operands]
        avals_in, avals_out = (ORDER, *avals_in), (ORDER, *avals_out)
    index = ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), len(module.functions))
    module.functions.append(call)
    op = ir.Operation.create(
        "stablehlo.custom_call",
        results=[module.types.tensor_type(aval) for aval in avals_out],
        operands=list(operands),
        attributes={
            "call_target_name": ir.StringAttr.get(CALLBACK_TARGET),
            "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            "backend_config": ir.DictAttr.get({"index": index}),
            "has_side_effect": ir.BoolAttr.get(call.in_order),
            "operand_layouts": _by_rows(avals_in),
            "result_layouts": _by_rows(avals_out),
        },
    )
    results = list(op.results)
    if call.in_order:
        function.set_order(results.pop(0))
    return results


def _by_rows(avals: Sequence[ShapedArray]) -> Any:
    """Returns the layouts of arrays that are stored as NumPy stores them."""
    orders = [np.arange(aval.ndim - 1, -1, -1, dtype=np.int64) for aval in avals]
    return ir.ArrayAttr.get([ir.DenseIntElementsAttr.get(order, type=ir.IndexType.get()) for order in orders])


# Branches and loops, which hand the order on as one more result


def case(
    function: FunctionLowering, index: Value, branches: Sequence[ClosedJaxpr], operands: Sequence[Value]
) -> list[Value]:
    """Builds a choice between programs."""
    types = [function.module.types.tensor_type(aval) for aval in branches[0].out_avals]
    before = function.order() if any(map(has_effects, branches)) else None
    if before is not None:
        types.append(before.type)
    op = stablehlo.CaseOp(types, index=index, num_branches=len(branches))
    for region, branch in zip(op.regions, branches, strict=True):
        with function.block(region, (), before):
            outs = function.inline(branch, operands)
            stablehlo.return_(outs if before is None else [*outs, function.order()])
    results = list(op.results)
    if before is not None:
        function.set_order(results.pop())
    return results


def while_loop(
    function: FunctionLowering, cond: Callable[..., Value], body: Callable[..., list[Value]], init: Sequence[Value]
) -> list[Value]:
    """Builds a loop of functions of the state's values, which have no effects."""
    types = [value.type for value in init]
    op = stablehlo.WhileOp(types, list(init))
    with function.block(op.regions[0], types) as state:
        stablehlo.return_([cond(*state)])
    with function.block(op.regions[1], types) as state:
        stablehlo.return_(body(*state))
    return list(op.results)


def while_loop_in_order(
    function: FunctionLowering, cond: Callable[..., Value], body: Callable[..., list[Value]], init: Sequence[Value]
) -> list[Value]:
    """Builds a loop of functions that have effects.

    What the predicate does must come before what the body does. So the state begins with the predicate's value and
    the order, and the body ends with the next predicate: the predicate of the loop itself does nothing.
    """
    pred = cond(*init)
    init = [pred, function.order(), *init]
    types = [value.type for value in init]
    op = stablehlo.WhileOp(types, init)
    with function.block(op.regions[0], types) as state:
        stablehlo.return_([state[0]])
    with function.block(op.regions[1], types) as state:
        function.set_order(state[1])
        after = body(*state[2:])
        pred = cond(*after)
        stablehlo.return_([pred, function.order(), *after])
    results = list(op.results)
    function.set_order(results[1])
    return results[2:]
