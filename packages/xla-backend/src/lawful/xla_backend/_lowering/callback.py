"""Calls of Python functions in StableHLO, and their order if they have effects.

Every call with effects takes an order token, a number, and returns it; the next call takes the token of the previous
one. So calls are made one after the other, also through functions, branches and loops. XLA itself runs independent
operations with side effects in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lawful.core import ShapedArray
from lawful.xla_backend._callbacks.checked_call import CheckedCall
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._runtime.bindings import ir
from lawful.xla_backend._runtime.executables import CALLBACK_TARGETS

if TYPE_CHECKING:
    from lawful.xla_backend._lowering.function import FunctionLowering

Value = Any

#: The type of the order token.
ORDER: Final = ShapedArray((), np.dtype(np.int32))


def call_python(function: FunctionLowering, call: CheckedCall, operands: Sequence[Value]) -> list[Value]:
    """Builds a call of a Python function, and returns its results."""
    module = function.module
    target = CALLBACK_TARGETS.get(module.platform)
    if target is None:
        raise LoweringError(
            f"lowering: expected the platform 'cpu' or 'cuda' for '{call.eqn.primitive.name}', which calls Python, got "
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
            "call_target_name": ir.StringAttr.get(target),
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
    """Returns the row-major layouts of arrays."""
    orders = [np.arange(aval.ndim - 1, -1, -1, dtype=np.int64) for aval in avals]
    return ir.ArrayAttr.get([ir.DenseIntElementsAttr.get(order, type=ir.IndexType.get()) for order in orders])
