"""The peers: what a benchmark calls of each, by one set of names, so that all run the same program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
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
      functions: its transformations and control flow by JAX's names.
    """

    name: str
    numpy: Any
    array: Function
    wait: Function
    clear: Callable[[], None]
    functions: dict[str, Function]

    def __getattr__(self, name: str) -> Function:
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(f"{self.name} has no {name}") from None


def _same(value: Any) -> Any:
    return value


@cache
def lawful() -> System:
    """Lawful, compiling by XLA."""
    import lawful.numpy
    from lawful import autodiff, batching, control_flow, staging, tree, xla_backend

    def wait(value: Any) -> Any:
        for leaf in tree.leaves(value):
            if isinstance(leaf, xla_backend.Array):
                leaf.block_until_ready()
        return value

    functions = {
        **{name: getattr(autodiff, name) for name in ("grad", "jvp", "linearize", "value_and_grad", "vjp")},
        **{name: getattr(control_flow, name) for name in ("cond", "scan", "while_loop")},
        **{name: getattr(staging, name) for name in ("jit", "make_jaxpr")},
        "jit_of_unrolled": partial(staging.jit, passes=(control_flow.reroll,)),
        "residuals": lambda f, x: autodiff.linearize(f, x)[1].jaxpr.consts,
        "vmap": batching.vmap,
    }
    return System("lawful", lawful.numpy, xla_backend.device_put, wait, staging.clear_caches, functions)


@cache
def jax() -> System:
    """JAX of the same jaxlib, with numbers of 64 bits."""
    import jax
    from jax import lax, numpy

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    functions = {
        **{name: getattr(jax, name) for name in ("grad", "jvp", "linearize", "value_and_grad", "vjp", "jit", "vmap")},
        **{name: getattr(lax, name) for name in ("cond", "scan", "while_loop")},
        "jit_of_unrolled": jax.jit,
        "make_jaxpr": jax.make_jaxpr,
        "residuals": lambda f, x: jax.tree.leaves(jax.vjp(f, x)[1]),
    }
    return System("jax", numpy, jax.device_put, jax.block_until_ready, jax.clear_caches, functions)


@cache
def autograd() -> System:
    """Autograd, which has no compiler."""
    import autograd
    import autograd.numpy

    functions = {"grad": autograd.grad, "value_and_grad": autograd.value_and_grad}
    return System("autograd", autograd.numpy, _same, _same, lambda: None, functions)


@cache
def torch() -> System:
    """PyTorch's `torch.func` on the processor, with numbers of 64 bits, eagerly."""
    import torch
    from torch import func
    from torch.utils import _pytree

    torch.set_default_dtype(torch.float64)

    def tensor(x: Any) -> Any:
        return x if isinstance(x, torch.Tensor) else torch.as_tensor(x)

    def tensors(function: Function) -> Function:
        """Its functions take tensors only: numbers become such."""
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
    return System("torch", numpy, tensor, _same, lambda: None, functions)


systems = {"lawful": lawful, "jax": jax, "autograd": autograd, "torch": torch}


def missing() -> list[str]:
    """Returns the peers that are not installed."""
    return [name for name in systems if find_spec(name) is None]
