"""The systems of transformations that laws can be held against, each imported only when it is asked for.

>>> from lawful.laws.systems import find_system, lawful
>>> find_system("lawful") is lawful
True
"""

from __future__ import annotations

import importlib
from typing import Final

from lawful.laws._law.implementation import Implementation
from lawful.laws.systems._detours import (
    plainly,
    with_callback,
    with_closure_convert,
    with_debug,
    with_linear_call,
    with_linear_solve,
    with_root,
)
from lawful.laws.systems._lawful import Lawful, lawful
from lawful.laws.systems._own_rules import (
    with_jvp_rule,
    with_rules,
    with_slope_rule,
    with_vjp_rule,
    with_vmap_rule,
)
from lawful.laws.systems._sharding import with_pmap, with_shard_map, with_shardings

__all__ = [
    "Implementation",
    "Lawful",
    "find_system",
    "lawful",
    "plainly",
    "system_names",
    "with_callback",
    "with_closure_convert",
    "with_debug",
    "with_jvp_rule",
    "with_linear_call",
    "with_linear_solve",
    "with_pmap",
    "with_root",
    "with_rules",
    "with_shard_map",
    "with_shardings",
    "with_slope_rule",
    "with_vjp_rule",
    "with_vmap_rule",
]

#: The systems with an adapter.
system_names: Final = ("lawful", "jax", "autograd", "torch")


def find_system(name: str) -> Implementation:
    """Returns the adapter of a system.

    Args:
      name: one of ``system_names``.

    Raises:
      ValueError: there is no adapter of this name.
      ImportError: the system is not installed; the text says what to install.

    >>> find_system("lawful").name
    'lawful'
    """
    if name == "lawful":
        return lawful
    if name not in system_names:
        raise ValueError(f"system: expected one of {', '.join(system_names)}, got {name!r}")
    module = importlib.import_module(f"lawful.laws.systems.{name}")
    system: Implementation = module.system
    return system
