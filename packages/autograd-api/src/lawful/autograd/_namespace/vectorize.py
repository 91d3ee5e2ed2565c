"""``vectorize``: NumPy's own for values; for tracers, a loop over elements, so that Python's conditions work."""

from __future__ import annotations

from typing import Any

import numpy

import lawful.numpy as np
from lawful.autograd._namespace.function import as_array
from lawful.core import ArgumentValueError, LawfulError, Tracer, TracerArrayConversionError


class vectorize(numpy.vectorize):  # NumPy's name
    """A function that applies another one to all elements of its arguments, broadcast together, which may be traced.

    The arguments are those of ``numpy.vectorize``.

    >>> from lawful.autograd import grad
    >>> relu = vectorize(lambda x: x * x if x > 0.0 else 0.0)
    >>> grad(lambda x: np.sum(relu(x)))(numpy.array([-1.0, 2.0]))
    array([0., 4.])
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not any([isinstance(x, Tracer) for x in (*args, *kwargs.values())]):
            try:
                return super().__call__(*args, **kwargs)
            except TracerArrayConversionError:  # in a list, or of the function itself
                pass
            except ValueError as error:  # NumPy's, of a tracer where ``otypes`` are given
                if not isinstance(error.__cause__, LawfulError):
                    raise
        if self.signature is not None:
            mapped: Any = np.vectorize(
                self.pyfunc, otypes=self.otypes, excluded=self.excluded, signature=self.signature
            )
            return mapped(*args, **kwargs)
        return self._by_elements(args, kwargs)

    def _by_elements(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        names = [name for name in given if name not in self.excluded]
        arrays = np.broadcast_arrays(*[np.asarray(as_array(given[name])) for name in names])
        shape = arrays[0].shape if arrays else ()
        flat = [np.ravel(x) for x in arrays]
        results = []
        for i in range(int(numpy.prod(shape))):
            full = {**given, **{name: x[i] for name, x in zip(names, flat, strict=True)}}
            positional = [full.pop(position) for position in range(len(args))]
            results.append(self.pyfunc(*positional, **full))
        if not results:
            raise ArgumentValueError("vectorize: expected at least one element, got none; leave empty arrays out")
        if isinstance(results[0], tuple):
            return tuple([self._shaped(column, shape, k) for k, column in enumerate(zip(*results, strict=True))])
        return self._shaped(results, shape, 0)

    def _shaped(self, elements: Any, shape: tuple[int, ...], k: int) -> Any:
        found = np.reshape(np.array([*elements]), shape)
        return np.astype(found, numpy.dtype(self.otypes[k])) if self.otypes else found
