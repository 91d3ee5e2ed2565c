"""The adapter of lawful itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lawful import autodiff, batching, control_flow, core, ops, staging
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws.systems._detours import detours
from lawful.laws.systems._own_rules import with_jvp_rule, with_slope_rule, with_vjp_rule, with_vmap_rule
from lawful.laws.systems._sharding import on_devices
from lawful.parallel import numpy_devices

# The names in programs, with the import of each.
_IMPORTS: Final[dict[str, tuple[str, Any]]] = {
    "np": ("import numpy as np", np),
    "core": ("from lawful import core", core),
    "ops": ("from lawful import ops", ops),
    "checkpoint": ("from lawful.autodiff import checkpoint", autodiff.checkpoint),
    "grad": ("from lawful.autodiff import grad", autodiff.grad),
    "jvp": ("from lawful.autodiff import jvp", autodiff.jvp),
    "linearize": ("from lawful.autodiff import linearize", autodiff.linearize),
    "stop_gradient": ("from lawful.autodiff import stop_gradient", autodiff.stop_gradient),
    "value_and_grad": ("from lawful.autodiff import value_and_grad", autodiff.value_and_grad),
    "vjp": ("from lawful.autodiff import vjp", autodiff.vjp),
    "vmap": ("from lawful.batching import vmap", batching.vmap),
    "cond": ("from lawful.control_flow import cond", control_flow.cond),
    "associative_scan": ("from lawful.control_flow import associative_scan", control_flow.associative_scan),
    "fori_loop": ("from lawful.control_flow import fori_loop", control_flow.fori_loop),
    "map": ("from lawful.control_flow import map", control_flow.map),
    "scan": ("from lawful.control_flow import scan", control_flow.scan),
    "while_loop": ("from lawful.control_flow import while_loop", control_flow.while_loop),
    "switch": ("from lawful.control_flow import switch", control_flow.switch),
    "jit": ("from lawful.staging import jit", staging.jit),
    "with_jvp_rule": ("from lawful.laws.systems import with_jvp_rule", with_jvp_rule),
    "with_slope_rule": ("from lawful.laws.systems import with_slope_rule", with_slope_rule),
    "with_vjp_rule": ("from lawful.laws.systems import with_vjp_rule", with_vjp_rule),
    "with_vmap_rule": ("from lawful.laws.systems import with_vmap_rule", with_vmap_rule),
    **{name: (f"from lawful.laws.systems import {name}", detour) for name, detour in {**detours, **on_devices}.items()},
}


class Lawful(Implementation):
    """The packages of lawful.

    Args:
      backend: what ``jit`` compiles with where it is not said.
      backends: what the law of compilation compares; only NumPy's by default, which is fast.
      devices: gives the devices of meshes, so many; those that NumPy plays by default.

    >>> from lawful import ops
    >>> system = Lawful("numpy")
    >>> system.name, float(system.grad(ops.square)(3.0))
    ('lawful', 6.0)
    """

    name = "lawful"
    scope: Mapping[str, Any] = MappingProxyType({name: value for name, (_, value) in _IMPORTS.items()})
    imports: Mapping[str, str] = MappingProxyType({name: line for name, (line, _) in _IMPORTS.items()})

    def __init__(
        self,
        backend: str = "numpy",
        backends: Sequence[str] = ("numpy",),
        devices: Callable[[int], Sequence[Any]] = numpy_devices,
    ) -> None:
        self.backend = backend
        self._devices = devices
        if devices is not numpy_devices:
            self.scope = {**self.scope, **{name: partial(form, devices=devices) for name, form in on_devices.items()}}
        self.backends = tuple(backends)
        jet = entry_points(group="lawful.transformations", name="jet")
        self._jet = next(iter(jet), None)
        if devices is numpy_devices and {backend, *backends} != {"numpy"}:
            self.absent = {**self.absent, "meshes in programs": "NumPy plays the devices, and XLA has others"}
        if self._jet is None:
            self.absent = {**self.absent, "jet": "lawful-taylor is not installed"}

    def jvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, tangent = autodiff.jvp(function, list(primals), list(tangents))
        return out, tangent

    def linearize(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        out, push = autodiff.linearize(function, *primals)
        return out, push

    def linear_transpose(self, function: Function, *examples: Any) -> Function:
        transposed: Function = autodiff.linear_transpose(function, *examples)
        return transposed

    def vjp(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        out, pull = autodiff.vjp(function, *primals)
        return out, pull

    def grad(self, function: Function, argnums: int | Sequence[int] = 0) -> Function:
        gradient: Callable[..., Any] = autodiff.grad(function, argnums)
        return gradient

    def jacfwd(self, function: Function) -> Function:
        jacobian: Function = autodiff.jacfwd(function)
        return jacobian

    def jacrev(self, function: Function) -> Function:
        jacobian: Function = autodiff.jacrev(function)
        return jacobian

    def vmap(self, function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
        mapped: Function = batching.vmap(function, in_axes, out_axes)
        return mapped

    def jit(self, function: Function, backend: str | None = None) -> Function:
        compiled: Function = staging.jit(function, backend=backend or self.backend)
        return compiled

    def jet(self, function: Function, primals: Sequence[Any], series: Sequence[Any]) -> tuple[Any, Any]:
        if self._jet is None:
            return super().jet(function, primals, series)
        out, derivatives = self._jet.load()(function, primals, series)
        return out, derivatives

    def devices(self, count: int) -> Sequence[Any]:
        return self._devices(count)

    def clear_caches(self) -> None:
        staging.clear_caches()


#: Lawful with the NumPy backend.
lawful: Final = Lawful()
