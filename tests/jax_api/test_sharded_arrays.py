"""Arrays of `lawful.jax` keep the shardings that `device_put` and `jit` give them."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import lawful.jax as jax
from lawful.parallel import NamedSharding, P, make_mesh

mesh = make_mesh((8,), ("a",))
split, whole = NamedSharding(mesh, P("a")), NamedSharding(mesh, P())
x = jax.device_put(np.arange(8.0), split)
assert isinstance(x, jax.Array) and x.sharding == x.device == split and x.committed
assert x.devices() == {*jax.devices()} and not x.is_fully_replicated
assert [shard.data.tolist() for shard in x.addressable_shards] == [[float(n)] for n in range(8)]
assert x.addressable_data(3).tolist() == [3.0]

doubled = jax.jit(lambda x: x * 2.0)(x)
assert doubled.sharding == split and np.array_equal(doubled, 2.0 * np.arange(8.0))
again = jax.jit(lambda x: x * 2.0, donate_argnums=0)(jax.device_put(np.arange(8.0), split))
assert again.sharding == split and np.array_equal(again, doubled)

tree = jax.device_put({"a": jax.numpy.ones(8), "b": doubled}, {"a": split, "b": whole})
assert tree["a"].sharding == split and tree["b"].sharding == whole
assert jax.device_put(x, jax.devices()[0]).devices() == {jax.devices()[0]}
assert len(jax.numpy.ones(3).addressable_shards) == 1
try:
    jax.device_put({"w": jax.numpy.ones(7)}, split)
except ValueError as error:
    assert "x['w']" in str(error) and "multiple of 8" in str(error), error
else:
    raise AssertionError("7 elements do not divide by 8")

# In a program an array is put on several devices by a constraint.
values = np.arange(8.0)
for f in (lambda x: jax.device_put(x, split), lambda x: jax.numpy.array(x, device=split)):
    assert jax.jit(f)(values).sharding == split
    assert jax.jit(lambda: f(values))().sharding == split
    assert np.array_equal(jax.grad(lambda x: (f(x) ** 2).sum())(values), 2.0 * values)
both = jax.jit(lambda x: jax.device_put((x, x), (split, None)))(values)
assert both[0].sharding == split and np.array_equal(both[1], values)
"""


def test_device_put_of_jax_api_with_shardings() -> None:
    environment = {**os.environ, "LAWFUL_CPU_DEVICES": "8"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
