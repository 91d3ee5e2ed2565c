"""Vector spaces: the zeros, bases and inner products of the values that functions are differentiated at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy

import lawful.numpy as np
from lawful.autograd import _tree as tree
from lawful.autograd._primitive.function import getval
from lawful.core import ArgumentTypeError, Tracer, is_array
from lawful.tree import is_tree_node


class VSpace:
    """A vector space, of arrays of one shape and dtype or of pytrees of them.

    Args:
      value: a vector.

    A subclass for values of another type is registered by `register`.

    >>> space = vspace(numpy.ones((2, 3)))
    >>> isinstance(space, VSpace), space.size, space.inner_prod(space.ones(), space.ones())
    (True, 6, np.float64(6.0))
    """

    mappings: ClassVar[dict[type, Callable[[Any], VSpace]]] = {}
    iscomplex = False

    def __init__(self, value: Any) -> None:
        pass

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], VSpace] | None = None) -> None:
        """Makes the class, or a function that returns a space, that of values of a type."""
        VSpace.mappings[value_type] = vspace_maker or cls

    @property
    def size(self) -> int:
        """The dimension over the real numbers."""
        raise NotImplementedError(f"{type(self).__name__}.size")

    def zeros(self) -> Any:
        """Returns the zero."""
        raise NotImplementedError(f"{type(self).__name__}.zeros")

    def ones(self) -> Any:
        """Returns ones; ``1 + 1j`` for complex numbers."""
        raise NotImplementedError(f"{type(self).__name__}.ones")

    def standard_basis(self) -> Iterator[Any]:
        """Yields the unit vectors, as a space over the real numbers."""
        raise NotImplementedError(f"{type(self).__name__}.standard_basis")

    def randn(self) -> Any:
        """Returns numbers of the normal distribution, of NumPy's global generator."""
        raise NotImplementedError(f"{type(self).__name__}.randn")

    def add(self, x: Any, y: Any) -> Any:
        """Returns the sum."""
        return self._add(x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """Returns the sum; None stands for zero."""
        return self._add(self.zeros() if x is None else x, y)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Returns a vector times a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Returns the inner product, a real number."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """Returns the covector of a vector: its conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.inner_prod")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # compared by value

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self.__dict__}"


class ArrayVSpace(VSpace):
    """The space of real arrays of a shape and dtype.

    >>> space = ArrayVSpace(numpy.ones(2))
    >>> space.shape, space.zeros(), list(space.standard_basis())
    ((2,), array([0., 0.]), [array([1., 0.]), array([0., 1.])])
    """

    def __init__(self, value: Any) -> None:
        value = value if isinstance(value, Tracer) else numpy.asarray(value)
        self.shape: tuple[int, ...] = value.shape
        self.dtype: numpy.dtype[Any] = value.dtype

    @property
    def size(self) -> int:
        """The dimension over the real numbers."""
        return int(numpy.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of dimensions of the array."""
        return len(self.shape)

    def zeros(self) -> Any:
        return numpy.zeros(self.shape, self.dtype)

    def ones(self) -> Any:
        return numpy.ones(self.shape, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for index in numpy.ndindex(*self.shape):
            yield self._unit(index, 1)

    def randn(self) -> Any:
        # The global generator, which programs for Autograd seed.
        return numpy.asarray(numpy.random.standard_normal(self.shape)).astype(self.dtype)  # noqa: NPY002

    def _unit(self, index: tuple[int, ...], value: complex) -> Any:
        unit = self.zeros()
        unit[index] = value
        return unit

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.dot(np.ravel(x), np.ravel(y))


class ComplexArrayVSpace(ArrayVSpace):
    """The space of complex arrays of a shape and dtype, over the real numbers.

    >>> space = ComplexArrayVSpace(numpy.ones(2, complex))
    >>> space.size, space.ones()
    (4, array([1.+1.j, 1.+1.j]))
    """

    iscomplex = True

    @property
    def size(self) -> int:
        """Twice the number of elements."""
        return 2 * super().size

    def ones(self) -> Any:
        return numpy.full(self.shape, 1 + 1j, self.dtype)

    def standard_basis(self) -> Iterator[Any]:
        for index in numpy.ndindex(*self.shape):
            yield self._unit(index, 1)
            yield self._unit(index, 1j)

    def randn(self) -> Any:
        return (super().randn() + 1j * super().randn()).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.vdot(x, y))

    def _covector(self, x: Any) -> Any:
        return np.conj(x)


class ContainerVSpace(VSpace):
    """The space of pytrees of a structure: the product of the spaces of their leaves.

    Attributes:
      shape: a pytree of the leaves' spaces.
    """

    def __init__(self, value: Any) -> None:
        self.shape = tree.map(vspace, value)

    @property
    def size(self) -> int:
        """The sum of the leaves' dimensions."""
        return sum(space.size for space in tree.leaves(self.shape))

    def zeros(self) -> Any:
        return self._map("zeros")

    def ones(self) -> Any:
        return self._map("ones")

    def randn(self) -> Any:
        return self._map("randn")

    def standard_basis(self) -> Iterator[Any]:
        spaces, treedef = tree.flatten(self.shape)
        for i, space in enumerate(spaces):
            for unit in space.standard_basis():
                yield treedef.unflatten([unit if j == i else other.zeros() for j, other in enumerate(spaces)])

    def _add(self, x: Any, y: Any) -> Any:
        return self._map("add", x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return tree.map(lambda space, vector: space.scalar_mul(vector, a), self.shape, x)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return sum(tree.leaves(self._map("inner_prod", x, y)))

    def _covector(self, x: Any) -> Any:
        return self._map("covector", x)

    def _map(self, method: str, *vectors: Any) -> Any:
        return tree.map(lambda space, *leaves: getattr(space, method)(*leaves), self.shape, *vectors)


def vspace(value: Any) -> VSpace:
    """Returns the vector space of an array, a number, or a pytree of them.

    Raises:
      ArgumentTypeError: values of its type are in none.

    >>> vspace(numpy.zeros(2)).ones()
    array([1., 1.])
    """
    maker = VSpace.mappings.get(type(getval(value)))
    if maker is not None:
        return maker(value)
    is_container = type(value) in (tuple, list, dict)
    if not is_container and is_array(value):
        dtype = value.dtype if isinstance(value, Tracer) else numpy.asarray(value).dtype
        return ComplexArrayVSpace(value) if dtype.kind == "c" else ArrayVSpace(value)
    if not is_container and not is_tree_node(type(value)):
        raise ArgumentTypeError(
            f"vspace: expected an array, a number, or a pytree of them, got {value!r} of type {type(value).__name__}; "
            "register its space with VSpace.register"
        )
    return ContainerVSpace(value)
