"""``jax.example_libraries.optimizers``: first-order optimizers, as triples of functions.

An optimizer is ``(init, update, get_params)``: ``init(params)`` gives a state, ``update(i, grads, state)`` the next
one, and ``get_params(state)`` the parameters.

>>> import lawful.jax.numpy as jnp
>>> from lawful.jax.example_libraries import optimizers
>>> init, update, get_params = optimizers.momentum(0.1, mass=0.9)
>>> state = update(0, jnp.array(2.0), init(jnp.array(1.0)))
>>> get_params(state)
Array(0.8, dtype=float64, weak_type=True)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import lawful.jax.numpy as np
from lawful.jax import tree_util
from lawful.jax.example_libraries._schedules import (
    constant,
    exponential_decay,
    inverse_time_decay,
    make_schedule,
    piecewise_constant,
    polynomial_decay,
)


class Optimizer(NamedTuple):
    """An optimizer.

    >>> optimizer = sgd(0.1)
    >>> optimizer.params_fn(optimizer.update_fn(0, 2.0, optimizer.init_fn(1.0)))
    0.8
    """

    init_fn: Callable[[Any], Any]
    update_fn: Callable[[Any, Any, Any], Any]
    params_fn: Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """A state: the states of all leaves, their structure, and the structure of one.

    >>> sgd(0.1).init_fn({"w": 1.0}).packed_state
    [(1.0,)]
    """

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


class JoinPoint:
    """Marks, in an unpacked state, the state of a leaf.

    >>> JoinPoint(1.0).subtree
    1.0
    """

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """Returns the maker of an optimizer of pytrees, of that of one for arrays.

    >>> halving = optimizer(lambda: ((lambda x: x), (lambda i, g, x: x / 2.0), (lambda x: x)))
    >>> init, update, get_params = halving()
    >>> get_params(update(0, {"w": 0.0}, init({"w": 4.0})))
    {'w': 2.0}
    """

    @functools.wraps(opt_maker)
    def make(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def tree_init(x0: Any) -> OptimizerState:
            leaves, treedef = tree_util.tree_flatten(x0)
            return _packed([init(x) for x in leaves], treedef)

        def tree_update(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            leaves, treedef = tree_util.tree_flatten(grads)
            if treedef != state.tree_def:
                raise TypeError(f"optimizer: expected gradients of the structure {state.tree_def}, got {treedef}")
            return _packed([update(i, g, s) for g, s in zip(leaves, _states(state), strict=True)], treedef)

        def tree_params(state: OptimizerState) -> Any:
            return tree_util.tree_unflatten(state.tree_def, [get_params(s) for s in _states(state)])

        return Optimizer(tree_init, tree_update, tree_params)

    return make


def _packed(states: list[Any], treedef: Any) -> OptimizerState:
    flat = [tree_util.tree_flatten(state) for state in states]
    return OptimizerState([tuple(leaves) for leaves, _ in flat], treedef, tuple(subtree for _, subtree in flat))


def _states(state: OptimizerState) -> list[Any]:
    parts = zip(state.subtree_defs, state.packed_state, strict=True)
    return [tree_util.tree_unflatten(treedef, leaves) for treedef, leaves in parts]


tree_util.register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda defs, children: OptimizerState(children[0], *defs),
)


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """Returns a state as a pytree with a `JoinPoint` for each leaf, for storage.

    >>> unpack_optimizer_state(sgd(0.1).init_fn({"w": 1.0}))["w"].subtree
    1.0
    """
    return tree_util.tree_unflatten(opt_state.tree_def, [JoinPoint(s) for s in _states(opt_state)])


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """Returns the state that `unpack_optimizer_state` unpacked.

    >>> state = sgd(0.1).init_fn({"w": 1.0})
    >>> pack_optimizer_state(unpack_optimizer_state(state)) == state
    True
    """
    sentinels, treedef = tree_util.tree_flatten(marked_pytree)
    return _packed([sentinel.subtree for sentinel in sentinels], treedef)


# Optimizers of one array


def _first(state: Any) -> Any:
    return state[0]


@optimizer
def sgd(step_size: Any) -> Any:
    """Returns gradient descent.

    >>> init, update, get_params = sgd(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.8
    """
    step = make_schedule(step_size)
    return (lambda x: x), (lambda i, g, x: x - step(i) * g), (lambda x: x)


@optimizer
def momentum(step_size: Any, mass: Any) -> Any:
    """Returns gradient descent with momentum.

    >>> init, update, get_params = momentum(0.1, mass=0.9)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.8
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step(i) * velocity, velocity

    return (lambda x: (x, np.zeros_like(x))), update, _first


@optimizer
def nesterov(step_size: Any, mass: Any) -> Any:
    """Returns gradient descent with Nesterov's momentum.

    >>> init, update, get_params = nesterov(0.1, mass=0.9)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.62
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - step(i) * (mass * velocity + g), velocity

    return (lambda x: (x, np.zeros_like(x))), update, _first


def _inverse_root(x: Any) -> Any:
    """Returns ``1 / sqrt(x)``, 0 at 0."""
    return np.where(x > 0, 1.0 / np.sqrt(np.where(x > 0, x, 1.0)), 0.0)


@optimizer
def adagrad(step_size: Any, momentum: Any = 0.9) -> Any:
    """Returns Adagrad (Duchi et al., 2011) with momentum.

    >>> init, update, get_params = adagrad(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.99
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + np.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        return x - step(i) * m, squares, m

    return (lambda x: (x, np.zeros_like(x), np.zeros_like(x))), update, _first


@optimizer
def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Any:
    """Returns RMSProp.

    >>> init, update, get_params = rmsprop(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.684
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        return x - step(i) * g / np.sqrt(squares + eps), squares

    return (lambda x: (x, np.zeros_like(x))), update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9) -> Any:
    """Returns RMSProp with momentum.

    >>> init, update, get_params = rmsprop_momentum(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.684
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares * gamma + np.square(g) * (1.0 - gamma)
        m = momentum * m + step(i) * g / np.sqrt(squares + eps)
        return x - m, squares, m

    return (lambda x: (x, np.zeros_like(x), np.zeros_like(x))), update, _first


@optimizer
def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Returns Adam (Kingma and Ba, 2015).

    >>> init, update, get_params = adam(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.9
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * np.square(g) + b2 * v
        m_hat, v_hat = m / (1 - b1 ** (i + 1)), v / (1 - b2 ** (i + 1))
        return x - step(i) * m_hat / (np.sqrt(v_hat) + eps), m, v

    return (lambda x: (x, np.zeros_like(x), np.zeros_like(x))), update, _first


@optimizer
def adamax(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Returns AdaMax (Kingma and Ba, 2015).

    >>> init, update, get_params = adamax(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.9
    """
    step = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, u = state
        m = (1 - b1) * g + b1 * m
        u = np.maximum(b2 * u, np.abs(g))
        return x - (step(i) / (1 - b1 ** (i + 1))) * m / (u + eps), m, u

    return (lambda x: (x, np.zeros_like(x), np.zeros_like(x))), update, _first


@optimizer
def sm3(step_size: Any, momentum: Any = 0.9) -> Any:
    """Returns SM3 (Anil et al., 2019), which stores one vector for each dimension of an array.

    >>> init, update, get_params = sm3(0.1)
    >>> round(float(get_params(update(0, np.array(2.0), init(np.array(1.0))))), 3)
    0.99
    """
    step = make_schedule(step_size)

    def along(ndim: int, axis: int, vector: Any) -> Any:
        return np.reshape(vector, [-1 if i == axis else 1 for i in range(ndim)])

    def init(x: Any) -> Any:
        shapes: list[tuple[int, ...]] = [(size,) for size in np.shape(x)] or [()]
        return x, np.zeros_like(x), [np.zeros(shape, x.dtype) for shape in shapes]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, vectors = state
        ndim = np.ndim(x)
        least = functools.reduce(np.minimum, [along(ndim, axis, v) for axis, v in enumerate(vectors)])
        squares = least + np.square(g)
        m = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * m
        largest = [squares.max(tuple(j for j in range(ndim) if j != axis)) for axis in range(ndim)]
        return x - step(i) * m, m, largest or [squares]

    return init, update, _first


# Gradients


def l2_norm(tree: Any) -> Any:
    """Returns the root of the sum of the squares of all elements of a pytree.

    >>> float(l2_norm({"w": 3.0, "b": 4.0}))
    5.0
    """
    return np.sqrt(sum(np.vdot(x, x) for x in tree_util.tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """Returns gradients scaled down to a norm, where theirs is larger.

    >>> clipped = clip_grads({"w": 3.0, "b": 4.0}, 1.0)
    >>> round(float(clipped["w"]), 3), round(float(clipped["b"]), 3)
    (0.6, 0.8)
    """
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(lambda g: np.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
