"""The interface of a system of transformations for laws: about ten functions, and its missing capabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from lawful.core import ShapedArray, get_aval

Function = Callable[..., Any]


class Implementation(ABC):
    """A system of transformations, as the laws call it.

    Functions are of pytrees of the system's arrays. Each method takes NumPy arrays and Python numbers too, and
    converts them where the system needs that; inside of a transformation it is handed the system's own tracers.

    Attributes:
      name: what it is called on the command line.
      absent: what it does not have, each with the reason. Laws that need it are inapplicable. The names are those
        of the methods, and ``"jaxprs"`` (`make_jaxpr` and the rest of lawful's program representation),
        ``"integer tangents"`` (derivatives take arguments of every dtype, with tangents of dtype float0),
        ``"weak types"`` (Python numbers are told from arrays), ``"complex"`` (JAX's conventions for complex numbers),
        ``"higher order"`` (derivatives of derivatives), ``"mixed jit"`` (jit inside of other transformations),
        ``"threads"`` (transformations in several at once), ``"copies of constants"`` (writing into an array that a
        function closed over changes no derivative), ``"empty batches"``, ``"devices"`` (meshes of devices, and
        programs that lawful splits over them), ``"meshes in programs"`` (every backend compiles for the meshes of
        drawn programs), and what stands in programs: ``"cond"``, ``"switch"``, ``"scan"``, ``"while_loop"`` (with a
        reverse mode), ``"fori_loop"``, ``"map"``, ``"associative_scan"``, ``"checkpoint"``, ``"custom_jvp"``,
        ``"custom_vjp"`` and ``"custom_vmap"``.
      backends: what `jit` can compile with.
      excluded: what programs for it do not say, each with the reason: ``"ops.cbrt"``, ``"operator.mod"``, ``".T "``,
        ``"arithmetic of integers"`` (Python's operators of them), ``"reversed slices"``.

    >>> from lawful.laws.systems import lawful
    >>> lawful.name, lawful.jvp(lambda x: x * x, (3.0,), (1.0,))
    ('lawful', (9.0, 6.0))
    """

    name: ClassVar[str]
    absent: Mapping[str, str] = {}
    backends: Sequence[str] = ()
    excluded: Mapping[str, str] = {}

    @property
    @abstractmethod
    def scope(self) -> Mapping[str, Any]:
        """The names that programs may use: ``ops``, ``jit``, ``cond`` and so on, as the system defines them."""

    @property
    @abstractmethod
    def imports(self) -> Mapping[str, str]:
        """For each name of the scope, the line of Python that imports it."""

    @property
    def ops(self) -> Any:
        """The array functions, by lawful's names."""
        return self.scope["ops"]

    def array(self, value: Any) -> Any:
        """Returns a NumPy array or Python number as the system's array; what the system has made, as it is."""
        return value

    def numpy(self, value: Any) -> Any:
        """Returns a result of the system as a NumPy array, or as what ``lawful.core.get_aval`` knows."""
        return value

    def aval(self, value: Any) -> ShapedArray:
        """Returns shape, dtype and weakness of a value, also of one of the system's tracers."""
        return get_aval(value)

    @abstractmethod
    def jvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        """Returns the results of a function and their tangents."""

    @abstractmethod
    def linearize(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        """Returns the results of a function, and its derivative there: of tangents, any number of times."""

    @abstractmethod
    def linear_transpose(self, function: Function, *examples: Any) -> Function:
        """Returns the transpose of a function that is linear: it gives a tuple, a cotangent for each argument."""

    @abstractmethod
    def vjp(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        """Returns the results of a function, and the function from their cotangents to a tuple of those of primals."""

    @abstractmethod
    def grad(self, function: Function, argnums: int | Sequence[int] = 0) -> Function:
        """Returns the gradient of a function that gives one real number."""

    @abstractmethod
    def jacfwd(self, function: Function) -> Function:
        """Returns the Jacobian by the first argument, by forward mode."""

    @abstractmethod
    def jacrev(self, function: Function) -> Function:
        """Returns the Jacobian by the first argument, by reverse mode."""

    @abstractmethod
    def vmap(self, function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
        """Returns a function mapped over axes of its arguments."""

    @abstractmethod
    def jit(self, function: Function, backend: str | None = None) -> Function:
        """Returns a compiled function."""

    def jet(self, function: Function, primals: Sequence[Any], series: Sequence[Any]) -> tuple[Any, Any]:
        """Returns the results of a function, and the list of their derivatives along a curve, by order.

        ``series`` has the list of derivatives of the curve for each argument.
        """
        raise NotImplementedError(f"jet: {self.name} has none: {self.absent['jet']}")

    def devices(self, count: int) -> Sequence[Any]:
        """Returns the first devices of the system, so many."""
        raise NotImplementedError(f"devices: {self.name} has none: {self.absent['devices']}")

    @abstractmethod
    def clear_caches(self) -> None:
        """Forgets all that has been compiled."""

    def _has_no(self, capability: str) -> NotImplementedError:
        return NotImplementedError(f"{self.name}: {self.absent[capability]}")

    def __repr__(self) -> str:
        return f"<{self.name}>"
