"""Tracers: the values that a transformed function computes with instead of arrays.

A tracer has the type of the array it stands for, and NumPy's operators and methods, which ``lawful.ops``
defines. Where its value is known (under ``jvp`` and ``grad`` outside ``jit``) it can be a condition or an
index; where only its type is known, asking for its value is an error that says what to write instead.
"""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from lawful.core._errors import (
    ArgumentTypeError,
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    TracerThreadError,
    UnexpectedTracerError,
)
from lawful.core._types.aval import ShapedArray
from lawful.core._types.devices import NUMPY_DEVICE, check_device
from lawful.tree.base import SourceLine, called_function, numpy_caller

if TYPE_CHECKING:
    from lawful.core._trace.trace import Trace


class Tracer:
    """The stand-in for an array under a transformation. Subclasses add what their trace needs to know.

    A subclass gives ``aval`` and ``source``, and ``parent_value`` where it stands for a value of the trace's parent.
    ``source`` is the line that computed the value. An argument's is the line that applied the transformation, the same
    object as that of its trace.

    >>> issubclass(Tracer, np.ndarray), Tracer.__array_priority__
    (False, 1000.0)
    """

    __slots__ = ("__weakref__", "_trace")

    # Above ndarray's, so that `array * tracer` calls the tracer's method.
    __array_priority__ = 1000.0
    # Above that of pandas' DataFrame, 4000, so that `series * tracer` calls it too.
    __pandas_priority__ = 5000
    __hash__ = None  # type: ignore[assignment]  # == compares elementwise, as for arrays

    _trace: Trace
    aval: ShapedArray
    source: SourceLine | None

    def parent_value(self) -> Any:
        """Returns the value of the trace's parent that this one has, of the same type, else None."""
        return None

    def concrete(self) -> Any:
        """Returns the value where it is known, a NumPy array or number, else None."""
        value = self.parent_value()
        return value.concrete() if isinstance(value, Tracer) else value

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return self.aval.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        """Whether this stands for a Python scalar, which yields to any array's dtype."""
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.aval.size

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return self.aval.size * self.aval.dtype.itemsize

    @property
    def device(self) -> Any:
        """Where the array is, if its value is known; else None, which stands for where the program will run.

        Functions of arrays take it as ``device=``.
        """
        value = self.concrete()
        return None if value is None else getattr(value, "device", NUMPY_DEVICE)

    def to_device(self, device: Any, /, *, stream: None = None) -> Any:
        """Returns the array, which stays where it is: a program runs on one device, chosen when it is compiled."""
        check_device("to_device", device)
        if stream is not None:
            raise ArgumentTypeError(f"to_device: expected no stream with a tracer, got {stream!r}; leave it out")
        if device is not None and self.concrete() is not None and device != self.device:
            raise ArgumentTypeError(
                f"to_device: expected the device of the traced value, {self.device}, got {device}; move the array "
                "before it is given to the transformed function"
            )
        return self

    def __repr__(self) -> str:
        value = self.concrete()
        known = "" if value is None else f", value={value}"
        return f"Tracer({self.aval}, {self._trace.transformation}{known})"

    def __format__(self, specification: str) -> str:
        value = self.concrete()
        if value is None and specification:
            self._require_running()
            raise ConcretizationTypeError(
                f"format: expected a concrete value for {specification!r}, got {self._describe()}; print it by "
                f"lawful.debug.print('{{:{specification}}}', x), or return it and format the result"
            )
        return format(repr(self) if value is None else value, specification)

    def __len__(self) -> int:
        if not self.aval.shape:
            raise ArgumentTypeError("len: expected an array with at least one dimension, got a scalar")
        return self.aval.shape[0]

    # Requests for the value

    def _require_running(self) -> None:
        # The errors below advise conversions, which would not help with a tracer of an ended transformation.
        if not self._trace.active or self._trace.thread != get_ident():
            raise unusable_tracer(self)

    def _describe(self) -> str:
        made = f" made at {self.source}" if self.source is not None else ""
        return f"the abstract tracer {self.aval} of {self._trace.transformation}{made}, of which only the type is known"

    def _one_value(self, wanted: str) -> Any:
        self._require_running()
        value = self.concrete()
        if value is not None and np.size(value) != 1:
            raise ArgumentTypeError(f"{wanted}: expected an array of one element, got {self.aval}; reduce it first")
        return value

    def __bool__(self) -> bool:
        value = self._one_value("bool")
        if value is None:
            raise TracerBoolConversionError(
                f"bool: expected a concrete value, got {self._describe()}; for a condition use "
                "lawful.control_flow.cond or lawful.numpy.where, for `and` or a < x < b use & or "
                "lawful.numpy.logical_and, for max(x, y) use lawful.numpy.maximum, or make the argument static "
                "(static_argnums of jit)"
            )
        return bool(value)

    def _integer(self, wanted: str) -> Any:
        value = self._one_value(wanted)
        if value is None:
            raise TracerIntegerConversionError(
                f"{wanted}: expected a concrete value, got {self._describe()}; if the number decides a shape "
                "or a range, make the argument static (static_argnums of jit); if it is an index of a NumPy array, "
                "write lawful.numpy.take(x, i)"
            )
        return value

    def __int__(self) -> int:
        return int(np.asarray(self._integer("int")).item())

    def __index__(self) -> int:
        value = self._integer("index")
        if self.aval.dtype.kind not in "iu" or self.aval.shape:
            raise ArgumentTypeError(f"index: expected an integer scalar, got {self.aval}; convert it with int(...)")
        return int(value)

    def _refuse_number(self, wanted: str) -> NoReturn:
        self._require_running()
        asking = numpy_caller(2)
        if asking == "assignment":
            self._refuse_array(asking)  # NumPy turns this into a ValueError
        wanted = asking or wanted
        if self.concrete() is None:
            raise ConcretizationTypeError(
                f"{wanted}: expected a concrete value, got {self._describe()}; keep the computation in lawful ops "
                "(lawful.numpy in place of math), or make the argument static (static_argnums of jit)"
            )
        raise ConcretizationTypeError(
            f"{wanted}: expected a value that is not differentiated, got {self!r}; use lawful.numpy, print it by an "
            "f-string or lawful.debug.print, or take stop_gradient(x), or getval(x) of lawful.autograd, for the value"
        )

    def __float__(self) -> float:
        self._refuse_number("float")

    def __complex__(self) -> complex:
        self._refuse_number("complex")

    def item(self) -> Any:
        """Raises ConcretizationTypeError: the value as a Python number would lose what is traced."""
        self._refuse_number("item")

    def tolist(self) -> Any:
        """Raises TracerArrayConversionError: the value as lists would lose what is traced."""
        self._refuse_array("tolist", "index it, print it by lawful.debug.print")

    def tobytes(self, order: str = "C") -> Any:
        """Raises TracerArrayConversionError: the value as bytes would lose what is traced."""
        self._refuse_array("tobytes", "compute with it as it is")

    def _refuse_array(self, wanted: str, cure: str | None = None) -> NoReturn:
        self._require_running()
        scalar = vars(np).get(wanted.removeprefix("numpy."))
        if cure is not None:
            pass
        elif isinstance(scalar, type) and issubclass(scalar, np.generic):
            cure = f"write x.astype({wanted}), or take getval(x) of lawful.autograd for the value"
        elif wanted == "assignment":
            cure = "write a = lawful.ops.at(a)[i].set(x) in place of a[i] = x"
        elif wanted == "index":
            cure = "write lawful.numpy.take(a, x) in place of a[x]"
        elif wanted.startswith("pandas."):
            cure = "give pandas values; compute with the array of a pandas object, data.to_numpy()"
        elif wanted.startswith("scipy."):
            cure = (
                "use the function of lawful.special, lawful.numpy or lawful.autograd.scipy of the same name, write it "
                "with functions of lawful.numpy, or call it by lawful.staging.pure_callback with a derivative by "
                "lawful.custom_rules.custom_jvp"
            )
        elif ".random." in wanted:
            cure = "draw by lawful.random, whose functions take a key"
        else:
            cure = "use the function of lawful.numpy of the same name"
            if wanted.startswith("numpy."):  # NumPy dispatches a tracer itself to lawful, but not a list of tracers
                cure += ", and give it lawful.numpy.array([x, ...]) in place of a list"
        raise TracerArrayConversionError(
            f"{wanted}: expected a NumPy array, got a tracer {self.aval} of {self._trace.transformation}"
            f"{f' made at {self.source}' if self.source is not None else ''}; {cure}, or take the value out of the "
            "transformation by returning it"
        )

    def __array__(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        if (asking := numpy_caller() or called_function()) is None:  # a function in C
            self._refuse_array(
                "numpy.array or numpy.asarray",
                "use the function of lawful.numpy of the same name, lawful.numpy.array([x, ...]) for a list, "
                "x.astype(...) for numpy.float64(x), lawful.random for numpy.random",
            )
        self._refuse_array(asking)

    def __dlpack__(self, **_kwargs: Any) -> NoReturn:
        self._refuse_array("from_dlpack")

    def __dlpack_device__(self) -> NoReturn:
        self._refuse_array("from_dlpack")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentTypeError(
            "assignment: expected an expression, got x[...] = ... on a tracer, which is immutable; "
            "write x = x.at[...].set(value), or x.at[...].add(value) for x[...] += value"
        )

    def __copy__(self) -> Tracer:
        return self  # immutable

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("pickle: expected a value, got a tracer; return it from the transformed function first")


def unusable_tracer(tracer: Tracer) -> UnexpectedTracerError:
    """Returns the error that says why a tracer that is not of an enclosing transformation cannot be used.

    >>> from lawful.core import Trace
    >>> aval, trace = ShapedArray((), float), Trace(None, "jit")
    >>> x = type("Abstract", (Tracer,), {"aval": aval, "source": None, "_trace": trace})()
    >>> trace.active = False
    >>> raise unusable_tracer(x)
    Traceback (most recent call last):
    lawful.core._errors.UnexpectedTracerError: ...got the tracer f64[] of jit, which has ended; ...
    """
    trace = tracer._trace
    made = f"the tracer {tracer.aval} of {trace.transformation}"
    if tracer.source is not None:
        made += f" made at {tracer.source}"
    if trace.thread != get_ident():
        return TracerThreadError(
            f"tracer: expected a value of this thread, got {made} in another thread; "
            "return values from the traced function and start threads outside of it"
        )
    return UnexpectedTracerError(
        f"tracer: expected a value of a transformation that is still running, got {made}, which has "
        f"{'ended' if not trace.active else 'not this computation inside it'}; "
        "return the value from the traced function instead of storing it elsewhere"
    )


def define_array_methods(methods: type) -> None:
    """Gives every tracer the operators and methods of a class: how ``lawful.ops`` makes tracers behave as arrays.

    >>> class Methods:
    ...     def times_two_of_docstring(self):
    ...         return "twice"
    >>> define_array_methods(Methods)
    >>> Tracer().times_two_of_docstring()
    'twice'
    >>> del Tracer.times_two_of_docstring
    """
    for name, method in vars(methods).items():
        if name not in ("__module__", "__dict__", "__weakref__", "__doc__", "__slots__", "__qualname__", "__hash__"):
            setattr(Tracer, name, method)
