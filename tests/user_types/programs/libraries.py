"""Pytrees, arrays, random numbers, shardings, and the names of JAX and Autograd."""

from typing import assert_type

from numpy import float64
from numpy.typing import NDArray

import lawful.autograd.numpy as anp
import lawful.jax as jax
import lawful.jax.numpy as jnp
import lawful.numpy as np
from lawful import random, tree
from lawful.autograd import elementwise_grad
from lawful.autograd import grad as autograd_grad
from lawful.batching import pmean, psum
from lawful.jax import lax
from lawful.parallel import (
    Mesh,
    NamedSharding,
    P,
    PartitionSpec,
    make_mesh,
    numpy_devices,
    pmap,
    shard_map,
    with_sharding_constraint,
)
from lawful.taylor import jet

nested = {"w": [1.0, 2.0], "b": (3.0,)}
leaves, structure = tree.flatten(nested)
assert_type(structure, tree.PyTreeDef)
assert_type(tree.structure(nested), tree.PyTreeDef)
doubled = tree.map(abs, nested)
again = tree.unflatten(structure, leaves)

key = random.key(0)
first, second = random.split(key)
noise = random.normal(first, (3,))
mean = np.mean(np.where(noise > 0.0, noise, -noise))

xs: float = np.arange(4.0)  # an array of floats
mesh = make_mesh((4,), ("batch",), devices=numpy_devices(4))
assert_type(mesh, Mesh)
assert_type(P("batch"), PartitionSpec)
assert_type(NamedSharding(mesh, P("batch")).shard_shape((8, 3)), tuple[int, ...])


def part(x: float) -> float:
    total = pmean(psum(x, "batch"), "batch")
    assert_type(total, float)
    return total


assert_type(with_sharding_constraint(xs, NamedSharding(mesh, P("batch"))), float)
assert_type(shard_map(part, mesh=mesh, in_specs=P("batch"), out_specs=P())(xs), float)
whole: NDArray[float64] = pmap(part, "batch", devices=numpy_devices(4))(np.arange(4.0))


def square(x: float) -> float:
    return x * x


def total(carry: float, x: float) -> tuple[float, float]:
    return carry + x, carry


assert_type(jax.grad(square)(2.0), float)
values, slopes = jax.jit(jax.vmap(jax.value_and_grad(square)))(np.arange(4.0))
print(values, slopes, whole)
assert_type(lax.scan(total, 0.0, xs), tuple[float, float])
assert_type(lax.cond(True, square, square, 2.0), float)
print(jnp.sum(jnp.arange(3.0)), jax.tree.map(square, {"a": 1.0}))


# Classes that are looked up are types too.
def placed(x: jax.Array, on: jax.sharding.Mesh, to: jax.Device) -> jnp.ndarray:
    print(on.shape, jax.device_count())
    result: jnp.ndarray = jax.device_put(x, to)
    return result


def half(x: anp.ndarray) -> anp.ndarray:
    return x / 2.0


assert_type(jax.ShapeDtypeStruct((2,), float64).shape, tuple[int, ...])
print(half(anp.ones(2)), jnp.linalg.norm(jnp.ones(2)), jnp.float64(1), anp.fft.fft(anp.ones(2)), jax.nn.relu(-1.0))
derivative: float = autograd_grad(square)(2.0)
assert_type(elementwise_grad(square)(2.0), float)
assert_type(jet(square, (2.0,), ([1.0],))[0], float)
print(anp.sin(anp.zeros(3)))
