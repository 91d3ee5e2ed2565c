"""Functions of one partition, run on several devices of the CPU, by a primitive whose rule opens a mesh."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from lawful.core import ClosedJaxpr, Primitive
from lawful.staging import make_jaxpr
from lawful.xla_backend._lowering.module import lower
from lawful.xla_backend._runtime import bindings
from tests.conftest import CHEAP

Axes = Sequence[tuple[str, int]]

ELEMENT_TYPES = {
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"ui{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "bool": "i1",
    "bfloat16": "bf16",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}

in_mesh_p = Primitive("test_in_mesh")
in_mesh_p.def_abstract_eval(lambda x, *, jaxpr, axes, free: jaxpr.out_avals[0])


@in_mesh_p.def_lowering
def _in_mesh_lowering(ctx: Any, x: Any, *, jaxpr: ClosedJaxpr, axes: Axes, free: Sequence[str]) -> Any:
    if free:
        _declare_mesh(ctx, axes)
    with ctx.mesh(axes, free=free, symbol="mesh"):
        return ctx.inline(jaxpr, [x])[0]


def _declare_mesh(ctx: Any, axes: Axes) -> None:
    import_module("jaxlib.mlir.dialects.sdy").register_dialect(ctx.ir.Context.current)
    mesh = ctx.ir.Attribute.parse(f"#sdy.mesh<[{_mesh_text(axes)}]>")
    with ctx.ir.InsertionPoint(ctx._function.module._module.body):
        ctx.ir.Operation.create("sdy.mesh", attributes={"sym_name": ctx.string("mesh"), "mesh": mesh})


def _mesh_text(axes: Axes) -> str:
    return ", ".join(f'"{name}"={size}' for name, size in axes)


def stablehlo_text(function: Callable[..., Any], axes: Axes, x: Any, free: Sequence[str] = ()) -> tuple[str, Any]:
    """Returns the text of a program for the partitions, and the type of a part of its result.

    Args:
      function: of one part.
      axes: the axes of the mesh, the slowest first.
      x: the parts; its first dimensions are the axes.
      free: axes over which the compiler splits the program.
    """
    part = x[(0,) * len(axes)]
    jaxpr = make_jaxpr(function, axis_env=axes)(part)
    closed = make_jaxpr(lambda v: in_mesh_p.bind(v, jaxpr=jaxpr, axes=tuple(axes), free=tuple(free)))(part)
    return str(lower(closed, name="test", platform="cpu").module), closed.out_avals[0]


def in_partitions(
    text: str, axes: Axes, in_shape: Sequence[int], in_dtype: str, out_shape: Sequence[int], out_dtype: str
) -> str:
    """Returns the program that runs the given one in each partition of a mesh, with the types of one part."""
    sizes, ones = [size for _, size in axes], [1] * len(axes)
    names = ", ".join(f'"{name}"' for name, _ in axes)

    def tensor(shape: Sequence[int], dtype: str) -> str:
        return f"tensor<{'x'.join([*map(str, shape), ELEMENT_TYPES[dtype]])}>"

    def sharding(shape: Sequence[int]) -> str:
        return f"<@mesh, [{', '.join([f'{{"{name}"}}' for name, _ in axes] + ['{}'] * len(shape))}]>"

    part_in, whole_in, one_in = (tensor([*prefix, *in_shape], in_dtype) for prefix in ([], sizes, ones))
    part_out, whole_out, one_out = (tensor([*prefix, *out_shape], out_dtype) for prefix in ([], sizes, ones))
    split_in, split_out = sharding(in_shape), sharding(out_shape)
    main = f"""
sdy.mesh @mesh = <[{_mesh_text(axes)}]>
func.func public @main(%x: {whole_in} {{sdy.sharding = #sdy.sharding{split_in}}})
    -> ({whole_out} {{sdy.sharding = #sdy.sharding{split_out}}}) {{
  %0 = sdy.manual_computation(%x) in_shardings=[{split_in}] out_shardings=[{split_out}]
      manual_axes={{{names}}} (%part: {one_in}) {{
    %1 = stablehlo.reshape %part : ({one_in}) -> {part_in}
    %2 = func.call @partition(%1) : ({part_in}) -> {part_out}
    %3 = stablehlo.reshape %2 : ({part_out}) -> {one_out}
    sdy.return %3 : {one_out}
  }} : ({whole_in}) -> {whole_out}
  return %0 : {whole_out}
}}
"""
    rest = text.split("{\n", 1)[1]
    return f"module @test {{{main}{rest.replace('public @main', 'private @partition')}"


def compile_and_run(program: str, axes: Axes, x: Any, out_shape: Sequence[int]) -> tuple[Any, str]:
    """Returns the parts of the result, the first dimensions the axes, and the compiled program."""
    jaxlib, hlo = bindings._jax, bindings._hlo
    count = math.prod(size for _, size in axes)
    devices = _client().devices()[:count]
    options = jaxlib.CompileOptions()
    build = options.executable_build_options
    assignment = jaxlib.DeviceAssignment.create(np.array([[device.id for device in devices]], np.int32))
    options.num_replicas = build.num_replicas = 1
    options.num_partitions = build.num_partitions = count
    options.device_assignment = build.device_assignment = assignment
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    options.env_option_overrides = list(CHEAP.items())
    device_list = jaxlib.DeviceList(tuple(devices))
    executable = _client().compile_and_load(program, device_list, options)
    tiling = hlo.HloSharding.iota_tile([size for _, size in axes] + [1] * (x.ndim - len(axes)))
    aval = bindings.ShapedArray(x.shape, x.dtype)
    parts = list(x.reshape(count, *[1] * len(axes), *x.shape[len(axes) :]))
    sharding = jaxlib.GSPMDSharding(device_list, tiling)
    array = jaxlib.batched_device_put(aval, sharding, parts, list(devices), True, enable_x64=True)
    [results] = executable.execute_sharded([array]).disassemble_into_single_device_arrays()
    found = np.stack([bindings.view(part) for part in results])
    return found.reshape(*(size for _, size in axes), *out_shape), executable.hlo_modules()[0].to_string()


_clients: list[Any] = []


def _client() -> Any:
    if not _clients:
        _clients.append(bindings.make_cpu_client(8))
    return _clients[0]


def run_in_partitions(function: Callable[..., Any], axes: Axes, x: Any) -> tuple[Any, str]:
    """Returns the results of a function of one part, for all parts of ``x``, and the compiled program."""
    text, out = stablehlo_text(function, axes, x)
    program = in_partitions(text, axes, x.shape[len(axes) :], x.dtype.name, out.shape, out.dtype.name)
    return compile_and_run(program, axes, x, out.shape)
