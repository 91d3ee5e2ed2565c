"""The argument ``device=`` of functions that make arrays."""

from __future__ import annotations

from typing import Any

from lawful.core._trace.trace import current, eval_trace
from lawful.core._types.devices import check_device, move_to_device


def placed(name: str, x: Any, device: Any) -> Any:
    """Returns an array on a device; the array itself if no device is given, or while a program is traced.

    A traced program runs on one device, which is chosen when it is compiled.

    Args:
      name: the function, for error messages.
      x: an array.
      device: None for where it is; ``"cpu"`` for a NumPy array; or a device of a backend, for an array of its type.

    Raises:
      ArgumentValueError: there is no such device.

    >>> import numpy as np
    >>> placed("zeros", np.zeros(2), "cpu")
    array([0., 0.])
    """
    check_device(name, device)
    if device is None or not (current.trace.evaluates_constants or current.trace is eval_trace):
        return x
    return move_to_device(x, device)
