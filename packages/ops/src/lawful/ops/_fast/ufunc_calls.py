"""Calls of NumPy's ufuncs with tracers, such as ``array * tracer``: one pass over the operands."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lawful.core import Tracer, register_dispatch_module
from lawful.ops._numpy_protocol.dispatch import numpy_function, ufunc_call_hook

register_dispatch_module(__name__)

#: The dtypes of arrays that need no conversion.
_DTYPES: Final = frozenset([np.dtype(code) for code in "?bhilqBHILQefdFD"])
_SCALARS: Final = frozenset([float, int, np.float64])


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a ufunc: at once if its operands are tracers and plain arrays or numbers; see `ufunc_call_hook`."""
    if method == "__call__" and not kwargs:
        is_traced = False
        for x in inputs:
            if type(x) is np.ndarray:
                if x.dtype not in _DTYPES:
                    break
            elif isinstance(x, Tracer):
                is_traced = True
            elif type(x) not in _SCALARS:
                break
        else:
            function = numpy_function(ufunc)
            if is_traced and function is not None:
                return function(*inputs)
    return ufunc_call_hook.plain(ufunc, method, inputs, kwargs)
