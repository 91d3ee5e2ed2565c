"""Python functions that programs call; the types of their results are checked in each call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    CallbackResultError,
    ShapedArray,
    SourceLine,
    Tracer,
    TreeStructureError,
    at_source,
    eval_trace,
    get_aval,
    is_array,
    promote_dtypes,
    record,
    set_current,
    shorten,
    to_numpy,
    user_source,
)
from lawful.staging._signature import function_name, in_avals, require_callable


class HostCall(Protocol):
    """A Python function of flat NumPy arrays, as a parameter of an equation.

    >>> aval = ShapedArray((), "float64")
    >>> call = HostFunction("f", lambda x: 2.0 * x, tree.structure(((3.0,), {})), (), tree.structure(6.0), (aval,))
    >>> call.results
    (ShapedArray(f64[]),)
    """

    @property
    def results(self) -> tuple[ShapedArray, ...]:
        """The types of what it returns."""

    def __call__(self, *leaves: Any) -> list[np.ndarray[Any, Any]]:
        """Calls the function."""


@dataclass(frozen=True, slots=True)
class HostFunction:
    """A user's function of pytrees, called with copies of flat arrays.

    Attributes:
      label: its name in messages: ``pure_callback of f``.
      function: the user's function.
      in_tree: the tree of its ``(args, kwargs)``.
      static: the leaves of that tree that are not arrays, with their positions.
      out_tree: the tree that it must return; None where its result is ignored.
      results: the types of the leaves of that tree.
      source: the line that asked for the call.

    >>> aval = ShapedArray((), "float64")
    >>> call = HostFunction("f", lambda x: 2.0 * x, tree.structure(((3.0,), {})), (), tree.structure(6.0), (aval,))
    >>> call(np.array(3.0))
    [array(6.)]
    """

    label: str
    function: Callable[..., Any]
    in_tree: Any
    static: tuple[tuple[int, Hashable], ...] = ()
    out_tree: Any = None
    results: tuple[ShapedArray, ...] = ()
    source: SourceLine | None = field(default=None, compare=False)

    def __call__(self, *leaves: Any) -> list[np.ndarray[Any, Any]]:
        # Copies: the function may keep them, and write into them.
        values: list[Any] = [np.array(x) for x in leaves]
        for position, value in self.static:
            values.insert(position, value)
        args, kwargs = tree.unflatten(self.in_tree, values)
        # It runs as if it were called outside of every transformation, by its own lines.
        with set_current(eval_trace), at_source(None):
            try:
                result = self.function(*args, **kwargs)
            except Exception as error:
                error.add_note(f"in the {self.label} at {self.source}")
                raise
        return [] if self.out_tree is None else self._checked(result)

    def _checked(self, result: Any) -> list[np.ndarray[Any, Any]]:
        if result is None and not self.results:  # a function without return
            return []
        try:
            leaves = self.out_tree.flatten_up_to(result)
        except TreeStructureError as error:
            where = error.message.removeprefix("flatten_up_to: ").partition("; give a tree")[0]
            raise CallbackResultError(
                f"{self.label}: expected a result of the tree {self.out_tree}, got {tree.structure(result)} ({where}); "
                "return the tree of result_shape_dtypes",
                source=self.source,
            ) from None
        found = []
        for i, (x, aval) in enumerate(zip(leaves, self.results, strict=True)):
            if not is_array(x) and hasattr(x, "__array__"):
                x = np.asarray(x)  # an array of another library
            if not _is_of_type(x, aval):
                path = tree.leaves_with_path(tree.unflatten(self.out_tree, self.results))[i][0]
                got = get_aval(x) if is_array(x) else f"{shorten(x)} of type {type(x).__name__}"
                raise CallbackResultError(
                    f"{self.label}: expected {aval} at result{tree.keystr(path)}, got {got}; return what "
                    "result_shape_dtypes says, or correct that",
                    source=self.source,
                )
            found.append(np.array(to_numpy(x), dtype=aval.dtype))
        return found

    def __repr__(self) -> str:
        return f"<{function_name(self.function).strip('<>')}>"


def _is_of_type(x: Any, aval: ShapedArray) -> bool:
    """Whether a value is an array of a type, or a Python number that stands for one."""
    if not is_array(x) or isinstance(x, Tracer):
        return False
    got = get_aval(x)
    dtype = promote_dtypes((aval.dtype, False), (got.dtype, True))[0] if got.weak_type else got.dtype
    return got.shape == aval.shape and dtype == aval.dtype


@record
class EachElement:
    """A function called once for each element of a batch, in order; its results are stacked.

    Attributes:
      call: the function of one element.
      batched: for each argument, whether it is a batch, along its first dimension; the others are shared.
      size: the number of elements.

    >>> aval = ShapedArray((), "float64")
    >>> call = HostFunction("f", lambda x: 2.0 * x, tree.structure(((3.0,), {})), (), tree.structure(6.0), (aval,))
    >>> EachElement(call, (True,), 2)(np.array([1.0, 2.0]))
    [array([2., 4.])]
    """

    call: HostCall
    batched: tuple[bool, ...]
    size: int

    @property
    def results(self) -> tuple[ShapedArray, ...]:
        """The types of the stacks."""
        return batched_results(self.call, self.size)

    def __call__(self, *leaves: Any) -> list[np.ndarray[Any, Any]]:
        stacks = [np.empty(aval.shape, aval.dtype) for aval in self.results]
        for i in range(self.size):
            element = [x[i] if batched else x for x, batched in zip(leaves, self.batched, strict=True)]
            for stack, result in zip(stacks, self.call(*element), strict=True):
                stack[i] = result
        return stacks

    def __repr__(self) -> str:
        return f"<{repr(self.call).strip('<>')} for each of {self.size}>"


def batched_results(call: HostCall, size: int) -> tuple[ShapedArray, ...]:
    """Returns the types of the results of a function for all elements of a batch."""
    return tuple([ShapedArray((size, *aval.shape), aval.dtype) for aval in call.results])


def call_each_element(call: HostCall, dims: Sequence[int | None], size: int) -> EachElement:
    """Returns a function of batches, whose dimensions are in front, that calls another for each element.

    >>> aval = ShapedArray((), "float64")
    >>> call = HostFunction("f", lambda x: 2.0 * x, tree.structure(((3.0,), {})), (), tree.structure(6.0), (aval,))
    >>> call_each_element(call, [0], 2)
    <lambda for each of 2>
    """
    return EachElement(call, tuple([dim is not None for dim in dims]), size)


def host_function(
    name: str, function: Callable[..., Any], result_shape_dtypes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], HostFunction]:
    """Returns the leaves of the arguments of a user's function, and the function as the parameter of an equation.

    Args:
      name: of the API that the user called.
      function: the user's.
      result_shape_dtypes: the pytree that it returns, with leaves that have a shape and a dtype.
      args: its positional arguments.
      kwargs: its keyword arguments.

    Raises:
      ArgumentTypeError: an argument or a leaf of the result has no type.
    """
    require_callable(name, function)
    label = f"{name} of {function_name(function)}"
    leaves, in_tree = tree.flatten((args, kwargs))
    in_avals(label, (args, kwargs), leaves)
    structs, out_tree = tree.flatten(result_shape_dtypes)
    results = tuple([_result_aval(label, struct) for struct in structs])
    return leaves, HostFunction(label, function, in_tree, (), out_tree, results, user_source())


def _result_aval(label: str, struct: Any) -> ShapedArray:
    if is_array(struct):
        aval = get_aval(struct)
        return ShapedArray(aval.shape, aval.dtype)
    if hasattr(struct, "shape") and hasattr(struct, "dtype"):
        return ShapedArray(struct.shape, struct.dtype)
    raise ArgumentTypeError(
        f"{label}: expected result_shape_dtypes of leaves with a shape and a dtype, got {shorten(struct)} of type "
        f"{type(struct).__name__}; give lawful.staging.ShapeDtypeStruct(shape, dtype)"
    )
