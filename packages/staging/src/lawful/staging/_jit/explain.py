"""Logs why a function is traced again: which part of its signature is new.

``logging.getLogger("lawful.jit").setLevel("DEBUG")`` shows a line for each trace after the first.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from lawful.core import exact_key


def explain_new_signature(name: str, signature: Any, known: Sequence[Any]) -> None:
    """Logs which parts of a signature differ from the most similar one that is known."""
    # Without an import of logging there is no handler, and the import is slow.
    logging = sys.modules.get("logging")
    if not known or logging is None:
        return
    logger = logging.getLogger("lawful.jit")
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("jit of %s is traced again: %s", name, describe_difference(signature, known))


def describe_difference(signature: Any, known: Sequence[Any]) -> str:
    """Returns in words which parts of a signature differ from the most similar of the known ones."""
    differences = min((_differences(signature, other) for other in known), key=len)
    return "; ".join(differences) if differences else "what it closed over is no longer valid"


def _differences(new: Any, old: Any) -> list[str]:
    found = []
    if new.in_tree.exact_key != old.in_tree.exact_key:
        found.append(f"the tree of the arguments is {new.in_tree}, was {old.in_tree}")
    elif new.avals != old.avals:
        found += [
            f"leaf {i} is {aval}, was {before}"
            for i, (aval, before) in enumerate(zip(new.avals, old.avals, strict=True))
            if aval != before
        ]
    if exact_key(new.static) != exact_key(old.static):
        found.append(f"static arguments are {dict(new.static)}, were {dict(old.static)}")
    if new.axis_env != old.axis_env:
        found.append(f"named axes are {dict(new.axis_env)}, were {dict(old.axis_env)}")
    return found
