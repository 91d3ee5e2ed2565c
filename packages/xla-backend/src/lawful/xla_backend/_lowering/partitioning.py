"""A module with the shardings of its arguments, for a compiler that makes one partition for each device of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from lawful.xla_backend._lowering.meshes import MeshTable
from lawful.xla_backend._lowering.module import StableHLO
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.bindings import func, ir, sdy, stablehlo
from lawful.xla_backend._runtime.executables import CALLBACK_TARGETS

if TYPE_CHECKING:
    from lawful.xla_backend._arrays.sharding import Sharding

#: The symbol of a mesh of the first device alone, where Python functions are called.
_FIRST: Final = "first_device"


def partitioned(
    program: StableHLO, shardings: Sequence[Sharding], results: Sequence[Sharding | None] | None = None
) -> Any:
    """Returns a copy of a program's module whose arguments have shardings.

    Args:
      program: the program. No other thread may use its context.
      shardings: of the constants, then of the arguments, float0 left out.
      results: of the results, float0 left out; None where the compiler chooses.
    """
    context = bindings.new_context()
    sdy().register_dialect(context)
    with context, ir.Location.unknown():
        module = ir.Module.parse(bindings.bytecode(program.module))
        meshes = MeshTable(module, dict(program.meshes), program.shardings)
        [main] = [op for op in module.body.operations if isinstance(op, func.FuncOp) and op.name.value == "main"]
        types = main.type.inputs
        main.arg_attrs = ir.ArrayAttr.get(
            [
                _argument_attributes(known, meshes.attribute(sharding, len(tensor.shape)))
                for known, tensor, sharding in zip(_attributes(main, len(types)), types, shardings, strict=True)
            ]
        )
        if results is not None:
            main.attributes["res_attrs"] = ir.ArrayAttr.get(
                [
                    ir.DictAttr.get(
                        {} if sharding is None else {"sdy.sharding": meshes.attribute(sharding, len(tensor.shape))}
                    )
                    for tensor, sharding in zip(main.type.results, results, strict=True)
                ]
            )
        if program.functions:
            _call_on_first_device(module, meshes)
        module.operation.verify()
    return module


def _attributes(main: Any, count: int) -> list[Any]:
    return list(main.arg_attrs) if count else []


def _argument_attributes(known: Any, sharding: Any) -> Any:
    entry = {attribute.name: attribute.attr for attribute in known}
    # Which result can take the memory depends on the results' shardings, which the compiler finds.
    if entry.pop("tf.aliasing_output", None) is not None:
        entry["jax.buffer_donor"] = ir.BoolAttr.get(True)
    entry["sdy.sharding"] = sharding
    return ir.DictAttr.get(entry)


def _call_on_first_device(module: Any, meshes: MeshTable) -> None:
    """Makes every call of a Python function one call, on the first device, with whole arrays.

    Within a manual computation every device calls for itself.
    """
    dialect = sdy()
    calls = list(_callbacks(module.operation))
    if not calls:
        return
    with ir.InsertionPoint.at_block_begin(module.body):
        dialect.MeshOp(_FIRST, dialect.MeshAttr.get([], [0]))
    first = dialect.TensorShardingAttr.get(_FIRST, [])
    for call in calls:
        results = list(call.results)
        call.attributes["sdy.sharding"] = dialect.TensorShardingPerValueAttr.get([first] * max(1, len(results)))
        if not results:
            continue
        # Otherwise results of the program are on the first device alone. The barrier keeps the shardings apart.
        with ir.InsertionPoint.after(call):
            barrier = stablehlo.OptimizationBarrierOp(results)
            for value, held in zip(results, barrier.results, strict=True):
                whole = meshes.shardings[0].with_dimension_axes(((),) * len(value.type.shape))
                copied = dialect.ShardingConstraintOp(held, meshes.attribute(whole, len(value.type.shape)))
                value.replace_all_uses_except(copied.result, barrier.operation)


def _callbacks(operation: Any) -> Iterator[Any]:
    waiting = [operation]
    while waiting:
        for region in waiting.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    op = view.operation
                    if op.name == "stablehlo.custom_call":
                        if ir.StringAttr(op.attributes["call_target_name"]).value in CALLBACK_TARGETS.values():
                            yield op
                    elif op.name != "sdy.manual_computation":
                        waiting.append(op)
