"""Tools of the law of purity: copies, writes into arrays, and threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from lawful import tree
from lawful.laws._law.law import Trial


def copies(trial: Trial, values: Any) -> Any:
    """Returns copies of arrays; Python numbers are left."""

    def copied(x: Any) -> Any:
        value = trial.system.numpy(x)
        return np.array(value) if hasattr(value, "dtype") else value

    return tree.map(copied, values)


def spoil(values: Any) -> None:
    """Writes other values into every writable array."""
    for x in tree.leaves(values):
        if isinstance(x, np.ndarray) and x.flags.writeable and x.dtype.names is None:
            x[...] = ~x if x.dtype.kind == "b" else x + np.asarray(7, x.dtype)


def in_thread(function: Callable[[], Any]) -> Any:
    """Returns the result of a function run in a new thread."""
    results: list[Any] = []

    def run() -> None:
        with np.errstate(all="ignore"):
            results.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results, "the thread raised an error"
    return results[0]
