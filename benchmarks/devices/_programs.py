"""Parallel programs, written once for all systems: a gradient on a mesh of one axis, ``x``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from benchmarks._systems import System


@dataclass(frozen=True, slots=True)
class Built:
    """A program of a system on so many devices.

    Attributes:
      function: the compiled function.
      args: its arguments, as NumPy arrays.
      shardings: the sharding of each argument.
    """

    function: Any
    args: tuple[Any, ...]
    shardings: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a program: of the batch on each device, of its vectors, and of its hidden vectors."""

    batch: int = 4
    width: int = 32
    hidden: int = 64


Build = Callable[[System, int, Sizes], Built]
#: All programs, by name.
programs: Final[dict[str, Build]] = {}


def program(name: str) -> Callable[[Build], Build]:
    """Declares a program by the function that builds it."""

    def declared(build: Build) -> Build:
        programs[name] = build
        return build

    return declared


def _arrays(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return tuple([(rng.normal(size=shape) / 8.0).astype(np.float32) for shape in shapes])


def _shardings(of: System, count: int, *specs: tuple[Any, ...]) -> tuple[Any, ...]:
    mesh = of.make_mesh((count,), ("x",))
    return tuple([of.NamedSharding(mesh, of.PartitionSpec(*spec)) for spec in specs])


def _network(of: System) -> Callable[..., Any]:
    """Returns the mean loss of a network of two layers."""
    numpy = of.numpy

    def loss(w: Any, v: Any, x: Any) -> Any:
        return numpy.mean((numpy.tanh(x @ w) @ v - x) ** 2)

    return loss


def _compiled(of: System, loss: Any, argnums: tuple[int, ...], args: Any, shardings: Any) -> Built:
    """Returns the gradients by some arguments, which are split as those, beside the loss."""
    whole = of.NamedSharding(shardings[0].mesh, of.PartitionSpec())
    outs = (whole, tuple([shardings[i] for i in argnums]))
    function = of.jit(of.value_and_grad(loss, argnums), in_shardings=shardings, out_shardings=outs)
    return Built(function, args, shardings)


def _mapped(of: System, part: Any, argnums: tuple[int, ...], args: Any, shardings: Any) -> Built:
    """Returns `_compiled` of a function of parts, mapped over the mesh."""
    specs = tuple([sharding.spec for sharding in shardings])
    loss = of.shard_map(part, mesh=shardings[0].mesh, in_specs=specs, out_specs=of.PartitionSpec())
    return _compiled(of, loss, argnums, args, shardings)


@program("data parallel")
def data_parallel(of: System, count: int, sizes: Sizes) -> Built:
    """The batch is split, the parameters are whole; the gradients are summed over devices."""
    w, hidden = sizes.width, sizes.hidden
    args = _arrays((w, hidden), (hidden, w), (sizes.batch * count, w))
    return _compiled(of, _network(of), (0, 1), args, _shardings(of, count, (), (), ("x",)))


@program("data parallel by shard_map")
def data_parallel_mapped(of: System, count: int, sizes: Sizes) -> Built:
    w, hidden = sizes.width, sizes.hidden
    args, loss = _arrays((w, hidden), (hidden, w), (sizes.batch * count, w)), _network(of)
    part = lambda *args: of.pmean(loss(*args), "x")  # noqa: E731
    return _mapped(of, part, (0, 1), args, _shardings(of, count, (), (), ("x",)))


@program("fully sharded parameters")
def fully_sharded(of: System, count: int, sizes: Sizes) -> Built:
    """Batch and parameters are split: parameters are gathered before use, gradients summed and scattered."""
    w, hidden = sizes.width, sizes.hidden
    args = _arrays((w, hidden), (hidden, w), (sizes.batch * count, w))
    return _compiled(of, _network(of), (0, 1), args, _shardings(of, count, ("x",), ("x",), ("x",)))


@program("fully sharded parameters by shard_map")
def fully_sharded_mapped(of: System, count: int, sizes: Sizes) -> Built:
    w, hidden = sizes.width, sizes.hidden
    args, loss = _arrays((w, hidden), (hidden, w), (sizes.batch * count, w)), _network(of)

    def part(w: Any, v: Any, x: Any) -> Any:
        return of.pmean(loss(of.all_gather(w, "x", tiled=True), of.all_gather(v, "x", tiled=True), x), "x")

    return _mapped(of, part, (0, 1), args, _shardings(of, count, ("x",), ("x",), ("x",)))


@program("tensor parallel")
def tensor_parallel(of: System, count: int, sizes: Sizes) -> Built:
    """The hidden vectors are split: columns of the first matrix, rows of the second; the batch is whole."""
    w, hidden = sizes.width, 8 * count
    args = _arrays((w, hidden), (hidden, w), (sizes.batch, w))
    return _compiled(of, _network(of), (0, 1, 2), args, _shardings(of, count, (None, "x"), ("x",), ()))


@program("tensor parallel by shard_map")
def tensor_parallel_mapped(of: System, count: int, sizes: Sizes) -> Built:
    numpy, w, hidden = of.numpy, sizes.width, 8 * count
    args = _arrays((w, hidden), (hidden, w), (sizes.batch, w))

    def part(w: Any, v: Any, x: Any) -> Any:
        return numpy.mean((of.psum(numpy.tanh(x @ w) @ v, "x") - x) ** 2)

    return _mapped(of, part, (0, 1, 2), args, _shardings(of, count, (None, "x"), ("x",), ()))


@program("pipeline by ppermute")
def pipeline(of: System, count: int, sizes: Sizes) -> Built:
    """Each device has a layer; microbatches pass through them, from each device to the next."""
    numpy, micro, w = of.numpy, 4, sizes.width
    args = _arrays((count, w, w), (micro, sizes.batch, w))
    ring = [(i, i + 1) for i in range(count - 1)]

    def part(weights: Any, xs: Any) -> Any:
        first, last = of.axis_index("x") == 0, of.axis_index("x") == count - 1

        def step(state: Any, t: Any) -> tuple[Any, Any]:
            entering = xs[numpy.minimum(t, micro - 1)]
            state = numpy.tanh(numpy.where(first, entering, state) @ weights[0])
            return of.ppermute(state, "x", ring), state

        start = of.pvary(numpy.zeros_like(xs[0]), "x")
        _, states = of.scan(step, start, np.arange(micro + count - 1, dtype=np.int32))
        error = numpy.mean((states[count - 1 :] - xs) ** 2)
        return of.psum(numpy.where(last, error, numpy.zeros_like(error)), "x")

    return _mapped(of, part, (0,), args, _shardings(of, count, ("x",), ()))


@program("experts by all_to_all")
def experts(of: System, count: int, sizes: Sizes) -> Built:
    """Each device has an expert and a part of the tokens, of which as many go to each expert."""
    numpy, w = of.numpy, sizes.width
    args = _arrays((count, w, w), (count * count * sizes.batch, w))

    def part(weights: Any, tokens: Any) -> Any:
        sent = of.all_to_all(tokens, "x", 0, 0, tiled=True)
        back = of.all_to_all(numpy.tanh(sent @ weights[0]), "x", 0, 0, tiled=True)
        return of.pmean(numpy.mean((back - tokens) ** 2), "x")

    return _mapped(of, part, (0, 1), args, _shardings(of, count, ("x",), ("x",)))
