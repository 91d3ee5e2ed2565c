"""JAX's names for many devices, on eight CPU devices, or on devices that NumPy plays."""

import importlib.util
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
from lawful.core import ArgumentTypeError
from lawful.jax import lax
from lawful.jax import numpy as jnp
from lawful.jax.sharding import Mesh, NamedSharding, PartitionSpec, auto_axes, explicit_axes
from lawful.parallel import numpy_devices

P = jax.P
HAS_XLA = importlib.util.find_spec("lawful.xla_backend") is not None

SCRIPT = """
import numpy as np
import lawful.jax as jax
from lawful.jax import lax
from lawful.jax import numpy as jnp
from lawful.jax.experimental.mesh_utils import create_device_mesh
from lawful.jax.experimental.pjit import pjit
from lawful.jax.experimental.shard_map import shard_map
from lawful.jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

jax.config.update("jax_num_cpu_devices", 8)
assert jax.device_count() == jax.local_device_count() == len(jax.local_devices()) == 8
assert (jax.process_index(), jax.process_count(), jax.process_indices()) == (0, 1, [0])
assert isinstance(jax.devices()[0], jax.Device)

mesh = jax.make_mesh((4, 2), ("x", "y"))
assert Mesh(create_device_mesh((4, 2)), ("x", "y")) == mesh
assert jax.sharding.get_mesh().empty and jax.sharding.get_abstract_mesh().empty
x = np.arange(8.0)
split = NamedSharding(mesh, jax.P("x"))

# Arrays
third = jax.device_put(x, jax.devices()[3])
assert third.devices() == {jax.devices()[3]} and third.committed
assert third.sharding == SingleDeviceSharding(jax.devices()[3])
assert jax.jit(lambda x: x + 1.0)(third).devices() == {jax.devices()[3]}
made = jax.make_array_from_callback((8,), split, lambda index: x[index])
assert type(made) is jax.Array and made.sharding == split and np.array_equal(made, x)
assert isinstance(made.addressable_shards[0], jax.Shard)
parts = [jax.device_put(x[i : i + 1], device) for i, device in enumerate(jax.devices())]
whole = jax.make_array_from_single_device_arrays((8,), NamedSharding(mesh, P(("x", "y"))), parts)
assert np.array_equal(whole, x) and not whole.is_fully_replicated
assert np.array_equal(jax.make_array_from_process_local_data(split, x), x)
assert isinstance(split, jax.sharding.Sharding)
with jax.set_mesh(mesh):
    assert jax.device_put(x, P("x")).sharding == split
    assert jax.sharding.get_abstract_mesh() == mesh.abstract_mesh
assert jnp.arange(8.0, device=split).sharding == jnp.asarray(x).to_device(split).sharding == split
both = jax.make_array_from_process_local_data(jax.devices()[1], {"a": x, "b": x}, {"a": (8,), "b": None})
assert both["a"].devices() == both["b"].devices() == {jax.devices()[1]}
made_like = jax.ShapeDtypeStruct.like(made)
assert made_like.sharding == split and made_like.update(shape=(16,)).shape == (16,)
jax.debug.visualize_array_sharding(made, use_color=False)
jax.debug.visualize_sharding((8, 8), split, scale=0.5)

# Programs
def doubled(x):
    return 2.0 * x

for compiled in (jax.jit(doubled, in_shardings=split, out_shardings=split), pjit(doubled, split, split)):
    y = compiled(x)
    assert type(y) is jax.Array and y.sharding == split and np.array_equal(y, 2.0 * x)
assert jax.jit(out_shardings=split)(doubled)(x).sharding == split
shapes = jax.ShapeDtypeStruct((8,), np.float64, sharding=split)
assert jax.jit(doubled).lower(shapes).compile()(made).sharding == split
y = jax.jit(lambda x: lax.with_sharding_constraint(x, split) + 1.0)(x)
assert np.array_equal(y, x + 1.0) and y.sharding.is_equivalent_to(split, 1)
assert jax.lax.with_sharding_constraint(jnp.asarray(x), split).sharding == split

def centered(x):
    return x - lax.pmean(x, ("x", "y"))

def summed(x):
    return lax.psum(x, "x")

mapped = jax.shard_map(centered, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")))
for y in (mapped(x), jax.jit(mapped)(x), mapped(whole)):
    assert type(y) is jax.Array and len(y.devices()) == 8 and np.array_equal(y, x - 3.5)
assert jax.grad(lambda x: (mapped(x) ** 2).sum())(x).tolist() == (2.0 * (x - 3.5)).tolist()
partial = shard_map(summed, mesh, in_specs=P("x"), out_specs=P(), check_rep=True, auto=frozenset({"y"}))
assert jax.jit(partial)(x).tolist() == x.reshape(4, 2).sum(0).tolist()
with jax.set_mesh(mesh):
    assert jax.smap(summed, in_axes=0, out_axes=None, axis_name="x")(x).tolist() == [12.0, 16.0]
assert jax.pmap(doubled).__wrapped__ is doubled
y = jax.pmap(lambda x: x / lax.psum(x, "i"), "i")(x)
assert type(y) is jax.Array and len(y.devices()) == 8 and np.allclose(y, x / 28.0)
assert jax.pmap(axis_name="i")(lambda x: lax.axis_index("i") + 0.0 * x)(x).tolist() == x.tolist()
"""


EXPLICIT = """
import numpy as np
import lawful.jax as jax
from lawful.jax import lax, nn, random, numpy as jnp
from lawful.jax.sharding import AxisType, NamedSharding, auto_axes, explicit_axes, reshard

jax.config.update("jax_num_cpu_devices", 8)
P = jax.P
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Auto))
jax.set_mesh(mesh)
rows, columns, blocks = (NamedSharding(mesh, spec) for spec in (P("x"), P(None, "x"), P("x", "y")))
x, y = np.arange(32.0).reshape(8, 4), np.arange(32.0).reshape(4, 8)

# A result is where out_sharding says, eagerly, compiled and under transformations.
product = lambda x, y: jnp.dot(x, y, out_sharding=P("x"))
for f in (product, jax.jit(product)):
    assert f(x, y).sharding.is_equivalent_to(rows, 2) and np.array_equal(f(x, y), x @ y)
assert np.array_equal(jax.grad(lambda x: product(x, y).sum())(x), np.ones((8, 8)) @ y.T)
assert jax.jit(jax.vmap(lambda r: jnp.dot(r, y, out_sharding=P("x"))))(x).sharding.is_equivalent_to(columns, 2)
made = (
    jnp.zeros((8, 8), out_sharding=blocks), jnp.array(y.T, out_sharding=blocks), jnp.asarray(x, out_sharding=blocks),
    jnp.reshape(y, (8, 4), out_sharding=P("x", "y")), random.normal(random.key(0), (8, 4), out_sharding=blocks),
    lax.broadcast_in_dim(1.0, (8, 2), (), out_sharding=blocks), nn.one_hot(np.arange(8), 4, out_sharding=blocks),
    nn.initializers.normal()(random.key(0), (8, 4), out_sharding=blocks), lax.dot(x, y, out_sharding=blocks),
    nn.initializers.zeros(random.key(0), (8, 4), out_sharding=blocks),
)  # fmt: skip
assert all(z.sharding == blocks for z in made), [z.sharding for z in made]
doubled = auto_axes(lambda x: 2.0 * x, out_sharding=P("x", "y"))
for f in (doubled, jax.jit(doubled)):
    assert f(x).sharding == blocks and np.array_equal(f(x), 2.0 * x)
assert auto_axes(lambda x: 2.0 * x)(x, out_sharding=P("x")).sharding == rows
taken = explicit_axes(axes=("x",), in_sharding=(P("x"),))(lambda x: x)
assert taken(x).sharding == rows and explicit_axes(lambda x: x)(x, in_sharding=P("x", "y")).sharding == blocks
# Where the decorator has a sharding, the keyword is the function's.
given = auto_axes(lambda x, *, out_sharding: x + out_sharding, out_sharding=P("x"))(x, out_sharding=1.0)
assert given.sharding == rows and np.array_equal(given, x + 1.0)
given, mine = explicit_axes(lambda x, *, in_sharding: (x, in_sharding), in_sharding=P("x"))(x, in_sharding=1.0)
assert given.sharding == rows and mine == 1.0
# Methods, of arrays and of tracers, take out_sharding; a key is laid out as the compiler likes.
for method in (
    lambda z: z.reshape(4, 8, out_sharding=rows), lambda z: z.ravel(out_sharding=P("x")),
    lambda z: z.flatten(out_sharding=P("x")), lambda z: z.repeat(2, axis=0, out_sharding=rows),
    lambda z: z.at[:4].get(out_sharding=rows), lambda z: z.at[0].set(1.0, out_sharding=rows),
    lambda z: z.at[0].add(1.0, out_sharding=P("x")),
):  # fmt: skip
    for f in (method, jax.jit(method)):
        z = f(jnp.asarray(x))
        assert type(z) is jax.Array and z.sharding.is_equivalent_to(NamedSharding(mesh, P("x")), z.ndim)
key, bits = lax.rng_bit_generator(np.arange(4, dtype=np.uint32), (8, 4), out_sharding=blocks)
assert bits.sharding == blocks and key.is_fully_replicated
assert [z.sharding for z in jnp.histogram(x, 8, out_sharding=P())] == [NamedSharding(mesh, P())] * 2
assert jax.reshard(made[0], columns).sharding == reshard({"a": x.T @ x}, columns)["a"].sharding == columns
try:
    jax.shard_map(lambda x: x, out_specs=P())(x)
except TypeError as error:
    assert "expected in_specs, got none; types have no shardings" in str(error)
else:
    raise AssertionError("in_specs cannot be inferred")
"""


@pytest.mark.skipif(not HAS_XLA, reason="programs on XLA's devices")
def test_explicit_axes_are_left_to_the_compiler() -> None:
    done = subprocess.run([sys.executable, "-c", EXPLICIT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not HAS_XLA, reason="programs on XLA's devices")
@pytest.mark.parametrize(
    "create", [jnp.zeros, jnp.array, jnp.arange, partial(jnp.full, fill_value=1.0), jnp.zeros_like]
)
def test_creation_with_device_and_out_sharding(create: Any) -> None:
    sharding = NamedSharding(Mesh(jax.devices()[:1], ("x",)), P())
    with pytest.raises(ValueError, match="a device or an out_sharding, got both"):
        create(3, device=jax.devices()[0], out_sharding=sharding)


def test_axes_decorators_without_sharding() -> None:
    """The call has to give it; a spec says nothing where there is no mesh."""
    for decorated, argument in (
        (auto_axes(lambda x: x), "out_sharding"),
        (explicit_axes(lambda x: x), "in_sharding"),
    ):
        with pytest.raises(TypeError, match=f"expected {argument}, got none"):
            decorated(1.0)
    assert auto_axes(lambda x: 2.0 * x, out_sharding=P())(3.0) == 6.0
    with pytest.raises(ValueError, match="a mesh in the context, got PartitionSpec"):
        explicit_axes(lambda x: x, in_sharding=P())(1.0)


@pytest.mark.skipif(not HAS_XLA, reason="programs on XLA's devices")
def test_names_of_many_devices_on_xla() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "CPU 0" in done.stdout


def test_names_of_many_devices_on_numpy() -> None:
    mesh = Mesh(np.array(numpy_devices(4)), ("x",))
    x = np.arange(4.0)
    mapped = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    assert type(mapped(x)) is jax.Array
    assert mapped(x).tolist() == [6.0]
    assert jax.pmap(lambda x: 2.0 * x, devices=numpy_devices(4))(x).tolist() == (2.0 * x).tolist()
    assert jax.device_put(x, NamedSharding(mesh, PartitionSpec("x"))).tolist() == x.tolist()
    with pytest.raises(ValueError, match="a multiple of 4"):
        jax.device_put(x[:3], NamedSharding(mesh, PartitionSpec("x")))
    y = lax.with_sharding_constraint(jax.numpy.asarray(x), NamedSharding(mesh, PartitionSpec("x")))
    assert type(y) is jax.Array


def test_sharding_of_a_type_says_nothing() -> None:
    """Optimizers give ``jax.typeof(x).sharding`` to functions that make an array like ``x``."""
    place = jax.typeof(jnp.ones((2, 3))).sharding
    assert place == NamedSharding(jax.sharding.AbstractMesh((), ()), PartitionSpec(None, None))
    assert place.mesh.empty

    def f(x: Any) -> Any:
        key = jax.random.key(0)
        like = jnp.zeros(x.shape, out_sharding=jax.typeof(x).sharding)
        bits = jax.random.bits(key, x.shape, out_sharding=x.aval.sharding)
        return (
            like + lax.rng_bit_generator(jnp.arange(4, dtype="uint32"), x.shape, out_sharding=x.aval.sharding)[1] + bits
        )

    x = jnp.ones(3)
    assert jax.jit(f)(x).tolist() == f(x).tolist()
    assert jnp.zeros(3, device=jax.typeof(x).sharding).tolist() == [0.0, 0.0, 0.0]
    assert x.reshape(3, 1, out_sharding=jax.typeof(x).sharding).shape == (3, 1)


def test_visualize_array_sharding_of_a_tracer_is_refused() -> None:
    pytest.importorskip("rich")
    with pytest.raises(ArgumentTypeError, match="got a tracer"):
        jax.vmap(lambda x: jax.debug.visualize_array_sharding(x))(np.arange(2.0))


@pytest.mark.skipif(HAS_XLA, reason="devices that NumPy plays, where there are no others")
def test_devices_without_xla() -> None:
    """NumPy plays as many devices as the configuration says."""
    jax.config.update("jax_num_cpu_devices", 4)
    assert jax.device_count() == 4
    assert jax.default_backend() == "cpu"
    assert isinstance(jax.devices()[0], jax.Device)
    x = jax.numpy.arange(4.0)
    assert jax.pmap(lambda x: x - lax.pmean(x, "i"), "i")(x).tolist() == [-1.5, -0.5, 0.5, 1.5]
