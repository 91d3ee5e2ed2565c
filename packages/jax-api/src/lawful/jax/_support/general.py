"""Functions of the module ``jax`` itself that lawful has under no name of its own."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from lawful import tree
from lawful.autodiff import jacrev
from lawful.core import Primitive, ShapedArray, Trace, Tracer, current, eval_trace, get_aval, set_current, to_numpy
from lawful.core import eval_jaxpr as _eval_jaxpr
from lawful.core import float0 as float0
from lawful.jax._support import devices as _devices
from lawful.jax._support.array import Array, as_jax, weak
from lawful.jax._support.user_functions import given

jacobian = jacrev
#: All types of values are those of arrays.
AbstractValue = ShapedArray


def _parallel() -> Any:
    return importlib.import_module("lawful.parallel")


xla_backend = _devices.xla_backend


def device_get(x: Any) -> Any:
    """Returns a pytree with its arrays as NumPy arrays.

    >>> import lawful.jax.numpy as jnp
    >>> device_get([jnp.arange(3), 1.0])
    [array([0, 1, 2]), 1.0]
    """

    def get(leaf: Any) -> Any:
        return numpy.asarray(leaf) if isinstance(leaf, Array) and not isinstance(leaf, Tracer) else leaf

    return tree.map(get, x)


def device_put(x: Any, device: Any = None, *, src: Any = None, donate: Any = False, may_alias: Any = None) -> Any:
    """Returns a pytree with its leaves as arrays on a device, or on several.

    Args:
      x: the pytree.
      device: a device, a sharding, or a tree of these of which the structure is a prefix of that of ``x``.
      src: has no effect.
      donate: has no effect.
      may_alias: has no effect.

    Raises:
      ArgumentTypeError: a place is neither a device nor a sharding.
      ArgumentValueError: a sharding does not divide the shape of its array.

    >>> device_put(numpy.arange(3.0))
    Array([0., 1., 2.], dtype=float64)
    """
    if device is not None:
        put: Callable[..., Any] = importlib.import_module("lawful.jax._support.sharding").put
        return put(x, device)

    def to_array(leaf: Any) -> Any:
        if type(leaf) in (int, float, complex):
            return weak(to_numpy(leaf))
        return leaf if isinstance(leaf, Array) else as_jax(numpy.array(to_numpy(leaf)))

    return tree.map(to_array, x)


def block_until_ready[T](x: T) -> T:
    """Waits until the arrays of a pytree are computed, and returns it.

    >>> import lawful.jax.numpy as jnp
    >>> block_until_ready(jnp.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    for leaf in tree.leaves(x):
        if hasattr(leaf, "block_until_ready"):
            leaf.block_until_ready()
    return x


def copy_to_host_async(x: Any) -> Any:
    """Returns a pytree: its arrays are in the memory of the process.

    >>> import lawful.jax.numpy as jnp
    >>> copy_to_host_async(jnp.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    return x


def devices(backend: str | None = None) -> list[Any]:
    """Returns the devices of a platform, by default of the default one.

    >>> len(devices("cpu")) >= 1
    True
    """
    return list(_devices.devices(backend))


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """Returns the devices of a process, by default of this one.

    >>> len(local_devices(backend="cpu")) >= 1
    True
    """
    wanted = host_id if process_index is None else process_index
    found: list[Any] = _parallel().local_devices(wanted, backend)
    return found


def default_backend() -> str:
    """Returns the name of the platform that programs run on.

    >>> default_backend() in ("cpu", "cuda")
    True
    """
    return "cpu" if xla_backend is None else str(_devices.devices()[0].platform)


def device_count(backend: str | None = None) -> int:
    """Returns the number of devices of a platform, by default of the default one.

    >>> device_count("cpu") >= 1
    True
    """
    return len(_devices.devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """Returns the number of devices of this process.

    >>> local_device_count("cpu") >= 1
    True
    """
    return len(local_devices(backend=backend))


def process_count(backend: str | None = None) -> int:
    """Returns the number of processes.

    >>> process_count()
    1
    """
    return int(_parallel().process_count(backend))


def process_index(backend: str | None = None) -> int:
    """Returns the number of this process.

    >>> process_index()
    0
    """
    return int(_parallel().process_index(backend))


def process_indices(backend: str | None = None) -> list[int]:
    """Returns the numbers of the processes.

    >>> process_indices()
    [0]
    """
    return [*range(process_count(backend))]


host_count, host_id, host_ids = process_count, process_index, process_indices


def effects_barrier() -> None:
    """Returns when callbacks have run, which they have.

    >>> effects_barrier()
    """


def typeof(x: Any) -> ShapedArray:
    """Returns the type of an array, number or tracer.

    >>> typeof(numpy.arange(3.0))
    ShapedArray(f64[3])
    """
    return get_aval(x)


@contextlib.contextmanager
def named_scope(name: str) -> Iterator[None]:
    """Names a part of a program in JAX's profiles; it has no effect here.

    >>> with named_scope("layer"):
    ...     numpy.sin(0.0)
    np.float64(0.0)
    """
    yield


def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """Returns a function of which JAX's profiles show the name; it has no other effect.

    >>> named_call(abs, name="magnitude")(-3.0)
    3.0
    """

    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fun(*args, **kwargs)

    return call


@contextlib.contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Evaluates operations on known values within a ``with`` block, also where a program is traced.

    Those on traced values are traced as outside of the block.

    >>> from lawful.staging import make_jaxpr
    >>> def f(x):
    ...     with ensure_compile_time_eval():
    ...         half = numpy.sin(0.0) + 0.5  # no equation
    ...     return x * half
    >>> make_jaxpr(f)(1.0)
    { lambda ; a:~f64[]. let b:f64[] = mul a 0.5:f64[] in (b,) }
    """
    with set_current(_KnownValuesTrace(current.trace, "ensure_compile_time_eval")):
        yield


class _KnownValuesTrace(Trace):
    """Evaluates primitives of known values; its parent processes the others. It has no tracers of its own."""

    __slots__ = ()

    def __init__(self, parent: Trace, transformation: str) -> None:
        super().__init__(parent, transformation)
        self.evaluates_constants = eval_trace.evaluates_constants

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        trace = self.parent if any(isinstance(x, Tracer) for x in args) else eval_trace
        assert trace is not None
        with set_current(trace):
            return trace.process_primitive(primitive, args, params)


def eval_context() -> Any:
    """Returns the context manager within which operations are evaluated.

    >>> with eval_context():
    ...     numpy.sin(0.0)
    np.float64(0.0)
    """
    return set_current(eval_trace)


def eval_jaxpr(jaxpr: Any, consts: Any, *args: Any, propagate_source_info: bool = True) -> Any:
    """Returns the results of a jaxpr.

    >>> from lawful.staging import make_jaxpr
    >>> closed = make_jaxpr(lambda x: x * 2.0)(1.0)
    >>> eval_jaxpr(closed.jaxpr, closed.consts, 3.0)
    [Array(6., dtype=float64, weak_type=True)]
    """
    return given(_eval_jaxpr(jaxpr, consts, *args))


def print_environment_info(return_string: bool = False) -> str | None:
    """Prints the versions of lawful's parts, or returns them.

    >>> print_environment_info(return_string=True)[:10]
    'lawful.jax'
    """
    backend = "none" if xla_backend is None else "installed"
    text = f"lawful.jax; numpy {numpy.__version__}; xla_backend {backend}"
    if return_string:
        return text
    print(text)  # noqa: T201
    return None
