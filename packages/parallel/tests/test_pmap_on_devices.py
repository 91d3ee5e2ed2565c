"""``pmap`` on eight devices: it is ``vmap``, and moves the Arrays that it is given to the devices that it maps over."""

from typing import Any

import numpy as np
import pytest

from lawful import tree
from lawful.autodiff import grad
from lawful.batching import axis_index, psum, vmap
from lawful.core import ArgumentValueError
from lawful.parallel import Mesh, NamedSharding, devices, pmap, process_count
from lawful.parallel import PartitionSpec as P
from lawful.staging import jit

xla_backend = pytest.importorskip("lawful.xla_backend", reason="programs run on NumPy alone where XLA is not installed")


def close(got: Any, expected: Any) -> None:
    for x, y in zip(tree.leaves(got), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-10, atol=1e-12)


def scalar(function: Any) -> Any:
    return lambda *args: sum((leaf * leaf).sum() for leaf in tree.leaves(function(*args)))


@pytest.mark.parametrize("axes", [(0, 0), (1, 0), (None, 1), (0, None)])
def test_pmap_is_vmap(axes: Any) -> None:
    x, y = np.arange(64.0).reshape(8, 8), np.cos(np.arange(64.0)).reshape(8, 8)

    def f(x: Any, y: Any) -> Any:
        return {"sum": psum(x * y, "i"), "mine": x - y * axis_index("i")}

    mapped, reference = (m(f, axis_name="i", in_axes=axes) for m in (pmap, vmap))
    close(mapped(x, y), reference(x, y))
    close(grad(scalar(mapped), (0, 1))(x, y), grad(scalar(reference), (0, 1))(x, y))
    close(jit(vmap(mapped))(np.stack([x, y]), np.stack([y, x])), vmap(reference)(np.stack([x, y]), np.stack([y, x])))


def test_pmap_takes_static_and_donated_arguments() -> None:
    f = pmap(lambda n, x, y: x**n + y, static_broadcasted_argnums=0, donate_argnums=1)
    x = pmap(lambda x: x * 1.0)(np.arange(8.0))
    close(f(2, x, np.ones(8)), np.arange(8.0) ** 2 + 1)
    assert x.is_deleted()
    from_the_end = pmap(lambda x, n: x**n, static_broadcasted_argnums=-1)
    close(from_the_end(np.arange(8.0), 2), np.arange(8.0) ** 2)
    assert process_count() == 1


def test_pmap_moves_arrays_of_another_device_order() -> None:
    """The same devices in two orders; an Array on one other device is not moved."""
    backwards = devices()[::-1]
    x = np.arange(16.0).reshape(8, 2)
    mesh = Mesh(np.array(backwards).reshape(4, 2), ("p", "q"))
    there = xla_backend.device_put(x, NamedSharding(mesh, P(("p", "q"))))
    mapped = pmap(lambda x, y=0.0: 2.0 * x + y)
    for y in (mapped(there), mapped(x, y=there) - x, pmap(lambda x: x, devices=backwards)(mapped(x))):
        close(y, 2.0 * x)
    assert mapped(there).sharding.device_order == (*devices(),)
    assert pmap(lambda x: x, devices=backwards)(mapped(x)).sharding.device_order == (*backwards,)
    nested = pmap(lambda tree, *, z: tree["x"][0] * 2.0 + z)
    close(nested({"x": (there, [there])}, z=there), 3.0 * x)
    with pytest.raises(ArgumentValueError, match="on the same devices"):
        pmap(lambda x: x)(xla_backend.device_put(x, devices()[3]))


def test_pmap_moves_arrays_of_as_many_other_devices() -> None:
    x = np.arange(4.0)
    here = NamedSharding(Mesh(np.array(devices()[:4]), ("p",)), P("p"))
    there = xla_backend.device_put(x, here)
    moved = pmap(lambda n, x: x + n, static_broadcasted_argnums=0, devices=devices()[4:])(1, there)
    close(moved, x + 1.0)
    assert moved.sharding.device_order == (*devices()[4:],)
    with pytest.raises(ArgumentValueError, match="on the same devices"):
        pmap(lambda x: x)(xla_backend.device_put(np.arange(8.0), here))


def test_pmap_copies_whole_arguments_from_one_device() -> None:
    x = np.arange(8.0)
    w = xla_backend.device_put(np.float64(3.0), devices()[5])
    close(pmap(lambda x, p: x * p["w"], in_axes=(0, None))(x, {"w": w}), x * 3.0)
    close(pmap(lambda p: p["w"], in_axes=({"w": None},), axis_size=8)({"w": w}), np.full(8, 3.0))
