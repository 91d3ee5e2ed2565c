"""Measured calls on a mesh of eight devices."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks._case import Call, Case, Timed
from benchmarks._systems import System
from benchmarks.devices._programs import Sizes, programs

DEVICES: Final = 8
#: The largest ratio of lawful's time to JAX's that is aimed at.
MOST: Final = 1.05

#: All cases, in the order of the table.
cases: Final[list[Case]] = []


def case(group: str, name: str) -> Callable[[Callable[[System], Any]], Any]:
    """Declares a case by the function that prepares its call, or `Timed`, for a system."""

    def declared(prepare: Callable[[System], Any]) -> Any:
        def timed(system: System) -> Timed:
            found = prepare(system)
            return found if isinstance(found, Timed) else Timed(found)

        cases.append(Case(group, name, {"jax": MOST}, timed))
        return prepare

    return declared


def sharding(of: System, *spec: Any) -> Any:
    """Returns a sharding over the axis ``x`` of all devices."""
    return of.NamedSharding(of.make_mesh((DEVICES,), ("x",)), of.PartitionSpec(*spec))


def normal(*shape: int) -> Any:
    """Returns a NumPy array of float32."""
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


# Calls: the results are not waited for.

CALLS = "compiled call"


@case(CALLS, "1 in, 1 out")
def one(of: System) -> Call:
    split = sharding(of, "x")
    f, x = of.jit(lambda x: x + 1.0), of.device_put(normal(64), split)
    return lambda: f(x)


@case(CALLS, "1 in, 1 out, with in_shardings and out_shardings")
def one_with_shardings(of: System) -> Call:
    split = sharding(of, "x")
    f, x = of.jit(lambda x: x + 1.0, in_shardings=split, out_shardings=split), of.device_put(normal(64), split)
    return lambda: f(x)


@case(CALLS, "10 in, 10 out")
def ten(of: System) -> Call:
    split = sharding(of, "x")
    f = of.jit(lambda *xs: [x + 1.0 for x in xs])
    xs = [of.device_put(normal(64), split) for _ in range(10)]
    return lambda: f(*xs)


@case(CALLS, "10 in, 10 out, with in_shardings and out_shardings")
def ten_with_shardings(of: System) -> Call:
    split = sharding(of, "x")
    f = of.jit(lambda *xs: [x + 1.0 for x in xs], in_shardings=split, out_shardings=split)
    xs = [of.device_put(normal(64), split) for _ in range(10)]
    return lambda: f(*xs)


@case(CALLS, "shard_map with psum")
def mapped_sum(of: System) -> Call:
    f, x = _sum(of)
    return lambda: of.wait(f(x))


def _sum(of: System) -> tuple[Any, Any]:
    split = sharding(of, "x")
    part = of.shard_map(
        lambda x: of.psum(x, "x"), mesh=split.mesh, in_specs=split.spec, out_specs=of.PartitionSpec()
    )  # fmt: skip
    return of.jit(part), of.device_put(normal(64), split)


# Transfers

TRANSFERS = "device_put of a NumPy array"


@case(TRANSFERS, "256 bytes, split")
def put_small(of: System) -> Call:
    split, x = sharding(of, "x"), normal(64)
    return lambda: of.wait(of.device_put(x, split))


@case(TRANSFERS, "4 MiB, split")
def put_large(of: System) -> Call:
    split, x = sharding(of, "x"), normal(1024, 1024)
    return lambda: of.wait(of.device_put(x, split))


@case(TRANSFERS, "256 bytes, whole on each device")
def put_whole(of: System) -> Call:
    whole, x = sharding(of), normal(64)
    return lambda: of.wait(of.device_put(x, whole))


# Compilation: nothing is cached between calls. They return processor seconds, so that other processes do not count.

COMPILE = "trace, lower and compile, processor time"


def _compile(of: System, make: Callable[[], tuple[Any, tuple[Any, ...]]]) -> Call:
    def compile() -> float:
        of.clear()
        function, args = make()
        start = time.process_time()
        function.lower(*args).compile()
        return time.process_time() - start

    return compile


@case(COMPILE, "10 in, 10 out, with in_shardings and out_shardings")
def compile_ten(of: System) -> Call:
    split, xs = sharding(of, "x"), (normal(64),) * 10
    return _compile(
        of, lambda: (of.jit(lambda *xs: [x + 1.0 for x in xs], in_shardings=split, out_shardings=split), xs)
    )  # fmt: skip


@case(COMPILE, "shard_map with psum")
def compile_mapped_sum(of: System) -> Call:
    def make() -> Any:
        f, x = _sum(of)
        return f, (x,)

    return _compile(of, make)


def _compile_program(name: str) -> Callable[[System], Call]:
    def prepare(of: System) -> Call:
        def make() -> Any:
            built = programs[name](of, DEVICES, Sizes())
            return built.function, built.args

        return _compile(of, make)

    return prepare


for _name in ("data parallel", "tensor parallel by shard_map", "pipeline by ppermute"):
    case(COMPILE, f"gradient, {_name}")(_compile_program(_name))


@case(COMPILE, "eight chains of HMC, shard_map")
def compile_chains(of: System) -> Call:
    return _compile(of, lambda: _mapped_chains(of))


# Steady state: each call is waited for.

STEADY = "steady state"


@case(STEADY, "training step, data parallel")
def training_step(of: System) -> Call:
    """A step of a network of three layers on a batch of 512 images of digits."""
    numpy, whole, split = of.numpy, sharding(of), sharding(of, "x")
    params = [of.device_put(normal(*shape) / 8.0, whole) for shape in ((64, 128), (128, 128), (128, 10))]
    x, labels = of.device_put(normal(512, 64), split), np.eye(10, dtype=np.float32)[np.arange(512) % 10]
    y = of.device_put(labels, split)

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w in params[:-1]:
            x = numpy.tanh(x @ w)
        return numpy.mean((x @ params[-1] - y) ** 2)

    def step(params: Any, x: Any, y: Any) -> Any:
        value, gradients = of.value_and_grad(loss)(params, x, y)
        return value, [w - 0.1 * g for w, g in zip(params, gradients, strict=True)]

    f = of.jit(step, in_shardings=(whole, split, split), out_shardings=whole)
    return lambda: of.wait(f(params, x, y))


def _pair(of: System) -> tuple[Any, tuple[Any, ...]]:
    """Returns a pair of matrix products of parts, and its arguments."""
    numpy = of.numpy
    columns, rows, whole = sharding(of, None, "x"), sharding(of, "x"), sharding(of)
    args = (
        of.device_put(normal(64, 256), whole),
        of.device_put(normal(256, 1024) / 16.0, columns),
        of.device_put(normal(1024, 256) / 32.0, rows),
    )
    specs = (whole.spec, columns.spec, rows.spec)
    pair = of.shard_map(
        lambda x, w, v: of.psum(numpy.tanh(x @ w) @ v, "x"), mesh=whole.mesh, in_specs=specs, out_specs=whole.spec
    )
    return pair, args


@case(STEADY, "pair of matrix products, tensor parallel")
def pair(of: System) -> Call:
    function, args = _pair(of)
    f = of.jit(function)
    return lambda: of.wait(f(*args))


@case(STEADY, "pair of matrix products, tensor parallel: gradient")
def pair_gradient(of: System) -> Call:
    function, args = _pair(of)
    f = of.jit(of.value_and_grad(lambda *args: of.numpy.sum(function(*args) ** 2), (0, 1, 2)))
    return lambda: of.wait(f(*args))


def chain(of: System, steps: int = 50, leaps: int = 8, size: float = 0.2) -> Callable[..., Any]:
    """Returns a chain of Hamiltonian Monte Carlo on a curved density, from a position and a seed."""
    numpy = of.numpy

    def energy(q: Any) -> Any:
        return 0.5 * numpy.sum(q[:1] ** 2) + 0.5 * numpy.sum((q[1:] - q[:-1] ** 2) ** 2)

    force = of.grad(energy)

    def transition(q: Any, key: Any) -> tuple[Any, Any]:
        for_momentum, for_test = of.split(key)
        p = of.normal(for_momentum, (8,), np.float32)

        def leap(state: Any, _: Any) -> tuple[Any, None]:
            q, p = state
            p = p - 0.5 * size * force(q)
            q = q + size * p
            return (q, p - 0.5 * size * force(q)), None

        (new, momentum), _ = of.scan(leap, (q, p), None, length=leaps)
        change = energy(new) - energy(q) + 0.5 * numpy.sum(momentum**2) - 0.5 * numpy.sum(p**2)
        accepted = numpy.log(of.uniform(for_test, (), np.float32)) < -change
        q = numpy.where(accepted, new, q)
        return q, q

    return lambda q, seed: of.scan(transition, q, of.split(of.key(seed), steps))[1]


@case(STEADY, "eight chains of HMC, pmap")
def chains_by_pmap(of: System) -> Call:
    f = of.pmap(chain(of))
    q, seeds = [of.device_put(x, sharding(of, "x")) for x in _starts()]
    return lambda: of.wait(f(q, seeds))


@case(STEADY, "eight chains of HMC, shard_map")
def chains_by_shard_map(of: System) -> Call:
    f, (q, seeds) = _mapped_chains(of)
    return lambda: of.wait(f(q, seeds))


def _mapped_chains(of: System) -> tuple[Any, tuple[Any, ...]]:
    split, one = sharding(of, "x"), chain(of)
    part = of.shard_map(
        lambda q, seed: one(q[0], seed[0])[None], mesh=split.mesh, in_specs=split.spec, out_specs=split.spec
    )
    return of.jit(part), tuple([of.device_put(x, split) for x in _starts()])


def _starts() -> tuple[Any, Any]:
    """Returns the position and the seed of each chain."""
    return normal(DEVICES, 8), np.arange(DEVICES, dtype=np.int32)
