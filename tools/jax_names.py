"""Writes the table of JAX's public names in `lawful.jax` from the installed JAX, keeping the reasons in it.

    uv run python tools/jax_names.py --write

Without ``--write`` it prints which files would change. A line is ``name(parameters)``, and ``| reason`` if
`lawful.jax` does not have the name.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import GenericAlias, ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "packages/jax-api/src/lawful/jax/_names"
FAMILIES = ("lax", "numpy", "nn", "random", "scipy")

#: The modules of JAX that its documentation lists for users, those about several processes and exported programs apart.
MODULES = [
    "jax",
    "jax.ops",
    "jax.tree",
    "jax.tree_util",
    "jax.flatten_util",
    "jax.custom_derivatives",
    "jax.custom_batching",
    "jax.debug",
    "jax.typing",
    "jax.dtypes",
    "jax.errors",
    "jax.core",
    "jax.extend.core",
    "jax.extend.core.primitives",
    "jax.experimental",
    "jax.experimental.checkify",
    "jax.experimental.ode",
    "jax.experimental.jet",
    "jax.experimental.mesh_utils",
    "jax.experimental.pjit",
    "jax.experimental.shard_map",
    "jax.experimental.multihost_utils",
    "jax.distributed",
    "jax.example_libraries.optimizers",
    "jax.example_libraries.stax",
    "jax.interpreters.ad",
    "jax.interpreters.batching",
    "jax.ad_checkpoint",
    "jax.image",
    "jax.sharding",
    "jax.stages",
    "jax.test_util",
    "jax.dlpack",
    "jax.lax",
    "jax.lax.linalg",
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.nn",
    "jax.nn.initializers",
    "jax.random",
    "jax.scipy.special",
    "jax.scipy.linalg",
    "jax.scipy.signal",
    "jax.scipy.optimize",
    "jax.scipy.stats",
    "jax.scipy.fft",
    "jax.scipy.ndimage",
    "jax.scipy.integrate",
    "jax.scipy.interpolate",
    "jax.scipy.cluster.vq",
    "jax.scipy.spatial.transform",
    "jax.scipy.sparse.linalg",
]
#: The documented names of modules in which helpers are public too.
ONLY = {
    "jax.experimental": {"io_callback"},
    "jax.experimental.checkify": {
        *("Error", "ErrorCategory", "JaxRuntimeError", "all_checks", "automatic_checks", "check", "check_error"),
        *("checkify", "debug_check", "div_checks", "float_checks", "index_checks", "init_error", "nan_checks"),
        "user_checks",
    },
    "jax.experimental.jet": {"jet"},
    "jax.experimental.ode": {"odeint"},
    "jax.experimental.pjit": {"pjit"},
    "jax.experimental.shard_map": {"shard_map"},
    "jax.experimental.multihost_utils": {
        "assert_equal",
        "broadcast_one_to_all",
        "global_array_to_host_local_array",
        "host_local_array_to_global_array",
        "process_allgather",
        "sync_global_devices",
    },
}
_LITERALS = (type(None), bool, int, float, str)


def modules() -> list[str]:
    """Returns the modules in the table: with those of distributions."""
    stats = importlib.import_module("jax.scipy.stats")
    inside = [name for name in dir(stats) if inspect.ismodule(getattr(stats, name)) and name[0] != "_"]
    return [*MODULES, *(f"jax.scipy.stats.{name}" for name in inside)]


def names(module: str) -> Iterator[str]:
    """Yields a line for each public name of a module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that are on their way out
        found = importlib.import_module(module)
        listed = getattr(found, "__all__", None)
        for name in sorted(listed or {*ONLY.get(module, ()), *[name for name in dir(found) if name[0] != "_"]}):
            value = getattr(found, name, None)
            if _is_public(module, found, name, value, is_listed=listed is not None):
                yield name + _parameters(value)


def _is_public(module: str, found: ModuleType, name: str, value: Any, *, is_listed: bool) -> bool:
    origin = getattr(value, "__module__", "") or ""
    if inspect.ismodule(value) or (module in ONLY and name not in ONLY[module]):
        return False
    if origin.startswith("typing") and module not in ("jax.typing", "jax.nn.initializers"):
        return False
    if is_listed or module in ("jax", "jax.typing", "jax.sharding", "jax.experimental", "jax.experimental.checkify"):
        return True
    if module.startswith(("jax.experimental", "jax.example_libraries")):
        return callable(value) and (origin == module or module in ONLY or module.endswith("mesh_utils"))
    if isinstance(value, GenericAlias):  # others than key paths are parameters' types
        return module == "jax.tree_util"
    return not callable(value) or origin.startswith(("jax", "numpy", "ml_dtypes"))


def _parameters(value: Any) -> str:
    """Returns the parameters of a function without annotations; a default that is no literal is an ellipsis."""
    if inspect.isclass(value):
        return ""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ""
    plain = [p.replace(annotation=p.empty, default=_default(p.default)) for p in parameters]
    return str(inspect.Signature(plain)).replace("Ellipsis", "...")


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    if type(value).__name__ == "RoundingMethod":
        return value.value
    finite = not isinstance(value, float) or abs(value) < float("inf")
    is_tuple = isinstance(value, tuple) and all(type(part) in _LITERALS for part in value)
    return value if is_tuple or (type(value) in _LITERALS and finite) else ...


def texts() -> dict[str, str]:
    """Returns the text of each file of the table, by its name."""
    reasons: dict[tuple[str, str], str] = {}
    for path in FOLDER.glob("*.txt"):
        module = ""
        for line in path.read_text().splitlines():
            if line.startswith("["):
                module = line.strip("[]")
            entry, _, reason = line.partition(" | ")
            reasons[module, entry.partition("(")[0]] = reason
    sections: dict[str, list[str]] = {}
    for module in modules():
        parts = module.split(".")
        family = parts[1] if len(parts) > 1 and parts[1] in FAMILIES else "jax"
        lines = [f"[{module}]"]
        for entry in names(module):
            reason = reasons.get((module, entry.partition("(")[0]), "")
            lines.append(f"{entry} | {reason}" if reason else entry)
        sections.setdefault(family, []).append("\n".join(lines) + "\n")
    return {f"{family}.txt": "\n".join(parts) for family, parts in sections.items()}


def main() -> None:
    """Writes the files, or says which differ."""
    for name, text in texts().items():
        path = FOLDER / name
        if not path.exists() or path.read_text() != text:
            print(name)
            if "--write" in sys.argv:
                path.write_text(text)


if __name__ == "__main__":
    main()
