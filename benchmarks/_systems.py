"""The peers: the functions that benchmarks call, by one set of names, so that all systems run the same program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class System:
    """A system of transformations.

    Attributes:
      name: what tables call it.
      numpy: its namespace of array functions.
      array: makes one of its arrays of a NumPy array; what stays on a device stays there.
      wait: waits until what was computed is there, and returns it.
      clear: forgets all that was traced and compiled.
      functions: for each of its transformations and constructs of control flow, by JAX's names, what gives it: a
        process imports of a system what its program uses.
    """

    name: str
    numpy: Any
    array: Function
    wait: Function
    clear: Callable[[], None]
    functions: dict[str, Callable[[], Function]]

    def __getattr__(self, name: str) -> Function:
        found = self.functions.get(name)
        if found is None:
            raise AttributeError(f"{self.name} has no {name}")
        return found()


def _of(module: str, *names: str) -> dict[str, Callable[[], Function]]:
    """Returns a function that looks up functions of a module."""
    return {name: partial(lambda name: getattr(import_module(module), name), name) for name in names}


def _given(functions: dict[str, Function]) -> dict[str, Callable[[], Function]]:
    """Returns a function that looks up functions in a mapping."""
    return {name: partial(_same, function) for name, function in functions.items()}


def _same(value: Any) -> Any:
    return value


@cache
def lawful() -> System:
    """Lawful, compiling by XLA."""
    import lawful.numpy
    from lawful import autodiff, staging, tree, xla_backend

    def wait(value: Any) -> Any:
        for leaf in (value,) if isinstance(value, xla_backend.Array) else tree.leaves(value):
            if isinstance(leaf, xla_backend.Array):
                leaf.block_until_ready()
        return value

    def jit_of_unrolled(f: Function) -> Function:
        from lawful.control_flow import reroll

        return staging.jit(f, passes=(reroll,))

    functions = {
        **_of("lawful.autodiff", "grad", "jvp", "linearize", "value_and_grad", "vjp"),
        **_of("lawful.autograd", "jacobian"),
        **_of("lawful.autograd.extend", "defvjp", "primitive"),
        **_of("lawful.autograd.scipy.special", "gammaln"),
        **_of("lawful.batching", "vmap"),
        **_of("lawful.control_flow", "cond", "scan", "while_loop"),
        **_of("lawful.random", "key", "normal", "split", "uniform"),
        **_of("lawful.staging", "jit", "make_jaxpr"),
        **_of("lawful.batching", "all_gather", "all_to_all", "axis_index", "pmean", "ppermute", "psum", "pvary"),
        **_of("lawful.parallel", "NamedSharding", "PartitionSpec", "make_mesh", "pmap", "shard_map"),
        **_of("lawful.xla_backend", "device_put"),
        **_given(
            {
                "jit_of_unrolled": jit_of_unrolled,
                "residuals": lambda f, x: autodiff.linearize(f, x)[1].jaxpr.consts,
            }
        ),
    }
    return System("lawful", lawful.numpy, xla_backend.device_put, wait, staging.clear_caches, functions)


@cache
def jax() -> System:
    """JAX of the same jaxlib, with numbers of 64 bits."""
    import jax
    from jax import numpy
    from jax.sharding import AxisType

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    functions = {
        **_of("jax", "grad", "jit", "jvp", "linearize", "make_jaxpr", "value_and_grad", "vjp", "vmap"),
        **_of("jax.lax", "cond", "scan", "while_loop"),
        **_of("jax.random", "key", "normal", "split", "uniform"),
        **_of("jax", "device_put", "pmap", "shard_map"),
        **_of("jax.lax", "all_gather", "all_to_all", "axis_index", "pmean", "ppermute", "psum"),
        **_of("jax.sharding", "NamedSharding", "PartitionSpec"),
        **_given(
            {
                "jit_of_unrolled": jax.jit,
                "make_mesh": lambda sizes, names: jax.make_mesh(sizes, names, (AxisType.Auto,) * len(names)),
                "pvary": lambda x, axis: jax.lax.pcast(x, axis, to="varying"),
                "residuals": lambda f, x: jax.tree.leaves(jax.vjp(f, x)[1]),
            }
        ),
    }
    return System("jax", numpy, jax.device_put, jax.block_until_ready, jax.clear_caches, functions)


@cache
def autograd() -> System:
    """Autograd, which has no compiler."""
    import autograd
    import autograd.numpy

    functions = {
        **_of("autograd", "grad", "jacobian", "value_and_grad"),
        **_of("autograd.extend", "defvjp", "primitive"),
        **_of("autograd.scipy.special", "gammaln"),
    }
    return System("autograd", autograd.numpy, _same, _same, lambda: None, functions)


@cache
def torch() -> System:
    """PyTorch's `torch.func` on the CPU, with 64-bit numbers, eagerly."""
    import torch
    from torch import func
    from torch.utils import _pytree

    torch.set_default_dtype(torch.float64)

    def tensor(x: Any) -> Any:
        return x if isinstance(x, torch.Tensor) else torch.as_tensor(x)

    def tensors(function: Function) -> Function:
        """Converts numbers to tensors, because its functions take tensors only."""
        return lambda *args: function(*_pytree.tree_map(tensor, args))

    def value_and_grad(f: Function) -> Function:
        both = func.grad_and_value(f)
        return lambda *args: both(*args)[::-1]

    functions = {
        "grad": lambda f: tensors(func.grad(f)),
        "value_and_grad": lambda f: tensors(value_and_grad(f)),
        "jvp": lambda f, primals, tangents: tensors(partial(func.jvp, f))(primals, tangents),
        "linearize": lambda f, *primals: tensors(partial(func.linearize, f))(*primals),
        "vmap": func.vmap,
    }
    numpy = SimpleNamespace(sin=torch.sin, tanh=torch.tanh, dot=torch.matmul, mean=torch.mean)
    return System("torch", numpy, tensor, _same, lambda: None, _given(functions))


systems = {"lawful": lawful, "jax": jax, "autograd": autograd, "torch": torch}


def missing() -> list[str]:
    """Returns the peers that are not installed."""
    return [name for name in systems if find_spec(name) is None]
