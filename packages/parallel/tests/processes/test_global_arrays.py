"""Arrays and programs over the devices of two processes."""

from pathlib import Path

import pytest

from .running import run

pytest.importorskip("lawful.xla_backend", reason="several processes need XLA")


def test_programs_over_two_processes(tmp_path: Path) -> None:
    program = """
from lawful import xla_backend
from lawful.autodiff import grad
from lawful.batching import psum
i = start()
mesh = make_mesh((2, 2), ("x", "y"))
s = NamedSharding(mesh, P("x", "y"))
values = np.arange(16.0).reshape(4, 4)
x = xla_backend.make_array_from_callback((4, 4), s, lambda index: values[index])
print([shard.data.tolist() for shard in x.addressable_shards], len(x.global_shards), x.is_fully_addressable)
def equal(found, expected):
    np.testing.assert_allclose(process_allgather(found), expected)
equal(x, values)
equal(xla_backend.device_put(values, s), values)
equal(xla_backend.make_array_from_process_local_data(s, values[2 * i: 2 * i + 2]), values)
parts = [xla_backend.device_put(shard.data, shard.device) for shard in x.addressable_shards]
equal(xla_backend.make_array_from_single_device_arrays((4, 4), s, parts), values)
equal(jit(lambda x: ops.sin(x) * 2.0)(x), np.sin(values) * 2)
equal(jit(lambda x: ops.dot(x, x))(x), values @ values)
replicated = jit(lambda x: ops.reduce_sum(x, (0, 1)), out_shardings=NamedSharding(mesh, P()))(x)
print(float(replicated), replicated.is_fully_replicated)
f = shard_map(lambda x: psum(x * x, ("x", "y")), mesh=mesh, in_specs=P("x", "y"), out_specs=P())
squares = values ** 2
equal(f(x), squares[:2, :2] + squares[:2, 2:] + squares[2:, :2] + squares[2:, 2:])
equal(jit(grad(lambda x: ops.reduce_sum(f(x), (0, 1))))(x), 2 * values)
equal(x.copy(), values)
in_pairs = NamedSharding(Mesh(mesh.devices[:, ::-1], ("x", "y")), P("x", "y"))
equal(xla_backend.device_put(x, in_pairs), values)
equal(xla_backend.device_put(x, NamedSharding(mesh, P("y"))), values)
report(lambda: np.asarray(x))
report(lambda: xla_backend.device_put(x, NamedSharding(Mesh(mesh.devices[::-1], ("x", "y")), P("x", "y"))))
report(lambda: xla_backend.device_put(x, local_devices()[0]))
"""
    ended = run(tmp_path, program, devices=2)
    for index, process in enumerate(ended):
        assert process.status == 0, process.err
        a = 8.0 * index
        assert process.lines[:2] == [
            f"{[[[a, a + 1], [a + 4, a + 5]], [[a + 2, a + 3], [a + 6, a + 7]]]} 4 False",
            "120.0 True",
        ]
        assert "ArgumentValueError" in process.out
        assert process.out.count("gather it with process_allgather") == 3
        assert process.out.count("device_put: expected a sharding over the devices of") == 2


def test_many_runs_over_two_processes_stay_in_order(tmp_path: Path) -> None:
    """More programs are started than may run at a time."""
    program = """
start()
x = global_array()
step = jit(lambda x: x + ops.broadcast(ops.reduce_sum(x, (0,)), (8,)) * 0.001)
for _ in range(200):
    x = step(x)
print(process_allgather(x)[0])
"""
    first, second = run(tmp_path, program, devices=2)
    assert first.lines == second.lines
    assert first.status == second.status == 0, first.err
    assert float(first.lines[0]) == pytest.approx(3.5 * 1.008**200 - 3.5)
