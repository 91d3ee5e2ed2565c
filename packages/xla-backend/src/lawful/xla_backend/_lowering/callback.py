"""Calls of Python functions in StableHLO, and their order if they have effects.

Every call with effects takes an order token, a number, and returns it; the next call takes the token of the previous
one. So calls are made one after the other, also through functions, branches and loops. XLA itself runs independent
operations with side effects in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lawful.core import ShapedArray
from lawful.xla_backend._callbacks.checked_call import CheckedCall
from lawful.xla_backend._errors import LoweringError
from lawful.xla_backend._runtime.bindings import ir
from lawful.xla_backend._runtime.executables import CALLBACK_TARGETS

if TYPE_CHECKING:
    from lawful.xla_backend._lowering.collectives import MeshAxes
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
    types = [module.types.tensor_type(aval) for aval in avals_out]

    def build(operands: Sequence[Value]) -> list[Value]:
        attributes = {
            "call_target_name": ir.StringAttr.get(target),
            "api_version": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
            "backend_config": ir.DictAttr.get({"index": index}),
            "has_side_effect": ir.BoolAttr.get(call.in_order),
            "operand_layouts": _by_rows(avals_in),
            "result_layouts": _by_rows(avals_out),
        }
        made = ir.Operation.create(
            "stablehlo.custom_call", results=types, operands=list(operands), attributes=attributes
        )
        return list(made.results)

    mesh = module.mesh
    if mesh is not None and mesh.free and call.in_order:
        if call.results:
            raise LoweringError(
                f"lowering: expected a shard_map over all axes of its mesh around '{call.eqn.primitive.name}', which "
                f"has a result, got {', '.join(map(repr, mesh.free))} left to the compiler, along which devices have "
                "one value, not one for each call; map over these axes too, or return nothing",
                source=call.eqn.source,
            )
        results = _on_every_device(mesh, build, operands, types)
    else:
        results = build(operands)
    if call.in_order:
        function.set_order(results.pop(0))
    return results


def _on_every_device(
    mesh: MeshAxes, build: Callable[[Sequence[Value]], list[Value]], operands: Sequence[Value], types: Sequence[Any]
) -> list[Value]:
    """Returns the results of operations that each device runs, also along the axes that the compiler has."""

    def whole(values: Sequence[Any]) -> Any:
        each = [f"<@{mesh.symbol}, [{', '.join(['{}'] * len(type_.shape))}]>" for type_ in values]
        return ir.Attribute.parse(f"#sdy.sharding_per_value<[{', '.join(each)}]>")

    free = ", ".join(f'"{name}"' for name in mesh.free)
    given = [value.type for value in operands]
    attributes = {
        "in_shardings": whole(given),
        "out_shardings": whole(types),
        "manual_axes": ir.Attribute.parse(f"#sdy<manual_axes{{{free}}}>"),
    }
    op = ir.Operation.create("sdy.manual_computation", [*types], [*operands], attributes=attributes, regions=1)
    block = op.regions[0].blocks.append(*given)
    with ir.InsertionPoint(block):
        ir.Operation.create("sdy.return", [], build(list(block.arguments)))
    return list(op.results)


def _by_rows(avals: Sequence[ShapedArray]) -> Any:
    """Returns the row-major layouts of arrays."""
    orders = [np.arange(aval.ndim - 1, -1, -1, dtype=np.int64) for aval in avals]
    return ir.ArrayAttr.get([ir.DenseIntElementsAttr.get(order, type=ir.IndexType.get()) for order in orders])
