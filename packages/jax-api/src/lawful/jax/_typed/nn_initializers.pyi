"""The names that `lawful.jax.nn.initializers` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.nn.initializers import Initializer as Initializer

constant: Callable[..., Any]
delta_orthogonal: Callable[..., Any]
glorot_normal: Callable[..., Any]
glorot_uniform: Callable[..., Any]
he_normal: Callable[..., Any]
he_uniform: Callable[..., Any]
kaiming_normal: Callable[..., Any]
kaiming_uniform: Callable[..., Any]
lecun_normal: Callable[..., Any]
lecun_uniform: Callable[..., Any]
normal: Callable[..., Any]
ones: Callable[..., Any]
orthogonal: Callable[..., Any]
truncated_normal: Callable[..., Any]
uniform: Callable[..., Any]
variance_scaling: Callable[..., Any]
xavier_normal: Callable[..., Any]
xavier_uniform: Callable[..., Any]
zeros: Callable[..., Any]
