"""Moves the parts of an array to other devices by a program that runs on all of them."""

from __future__ import annotations

from typing import Any

from lawful.core import ClosedJaxpr, Jaxpr, ShapedArray, Var, cached_function
from lawful.xla_backend._arrays.distribution import set_resharding
from lawful.xla_backend._arrays.sharding import Sharding
from lawful.xla_backend._arrays.tiling import assignment_of, is_same_assignment
from lawful.xla_backend._lowering.module import lower
from lawful.xla_backend._lowering.partitioning import partitioned
from lawful.xla_backend._runtime import bindings
from lawful.xla_backend._runtime.compilation import compile_module
from lawful.xla_backend._runtime.executables import Executable


def reshard(buffer: Any, aval: ShapedArray, source: Sharding, target: Sharding) -> Any:
    """Returns a buffer with the values of another one, in the parts of another sharding over the same devices."""
    executable = _program(aval, source, target)
    [moved] = executable.run([buffer])
    return moved


@cached_function("programs that reshard arrays", 256)
def _program(aval: ShapedArray, source: Sharding, target: Sharding) -> Executable:
    x = Var(aval)
    devices = source.device_order
    program = lower(ClosedJaxpr(Jaxpr([], [x], [], [x]), []), name="reshard", platform=bindings.platform_of(devices[0]))
    module = partitioned(program, [source], [target])
    executable = compile_module(module, devices, [aval], {})
    [assignment] = executable.assignments
    assert is_same_assignment(assignment, assignment_of(target, aval.ndim)), "results are as the module says"
    return executable


set_resharding(reshard)
