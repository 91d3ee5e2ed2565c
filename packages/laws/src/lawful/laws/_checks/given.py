"""A given function with arguments: whether it can be checked, and the text of its call."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    MissingRuleError,
    NonArrayError,
    Primitive,
    get_aval,
    shorten,
)
from lawful.laws._derivatives.directions import is_floating
from lawful.laws._law.case import Case, text_of_value
from lawful.laws._law.implementation import Implementation
from lawful.laws._law.values import indented
from lawful.laws._primitives.call import PrimitiveCall
from lawful.staging import argument_names


@dataclass(frozen=True, slots=True)
class GivenCase(Case):
    """A given function at arguments, mapped or not.

    Attributes:
      function: the function.
      args: the arguments, with a leading axis where they are mapped over.
      seed: what the laws draw their directions from.
      in_axes: which arguments the function is mapped over; None where it is not mapped.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    seed: int = 0
    in_axes: tuple[int | None, ...] | None = None

    def on(self, system: Implementation) -> Callable[..., Any]:
        return self.function if self.in_axes is None else system.vmap(self.function, self.in_axes)

    def text(self, system: Implementation, longest: float = math.inf) -> str:
        """Returns the text of the call; arguments of more elements than ``longest`` have their types only."""
        name = name_of(self.function)
        called = name if self.in_axes is None else f"vmap({name}, in_axes={self.in_axes})"
        args = ", ".join([text_of_value(x) if _size(x) <= longest else _type_text(x) for x in self.args])
        return f"The call:\n{indented(f'{called}({args})')}\n{_origin(self.function)}Drawn with seed {self.seed}."


def floating_names(case: GivenCase) -> list[str]:
    """Returns the names of the floating-point leaves of the arguments, as the user writes them."""
    leaves, treedef = tree.flatten((case.args, {}))
    names = argument_names(case.function, treedef)
    return [name for name, x in zip(names, leaves, strict=True) if is_floating(get_aval(x))]


def _size(value: Any) -> int:
    return sum(np.size(x) for x in tree.leaves(value))


def _type_text(value: Any) -> str:
    types = tree.map(lambda x: str(get_aval(x)), value)
    return types if isinstance(types, str) else shorten(types)


#: A subject of `check`: a function, or a primitive with parameters.
Given = GivenCase | PrimitiveCall


def moved_to(case: Given, args: tuple[Any, ...], seed: int | None = None) -> Given:
    """Returns a case with other arguments, and another seed if one is given."""
    return replace(case, args=args, seed=case.seed if seed is None else seed)


def mapped_over(case: Given, in_axes: tuple[int | None, ...], args: tuple[Any, ...]) -> GivenCase:
    """Returns a case mapped over axes of arguments, which have these axes."""
    function = case if isinstance(case, PrimitiveCall) else case.function
    return GivenCase(function, args, case.seed, in_axes)


def name_of(function: Any) -> str:
    """Returns the name of a function in the text of a call; ``f`` if it has none."""
    name = getattr(function, "__name__", "f")
    return name if str(name).isidentifier() else "f"


def _origin(function: Any) -> str:
    """Returns a line with the source of a function; empty if it is unknown."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or isinstance(function, PrimitiveCall):
        return ""
    return f"with {name_of(function)} of {code.co_filename}:{code.co_firstlineno}\n"


def require_function(where: str, function: Any) -> None:
    """Raises ArgumentTypeError if the value is not a function."""
    if isinstance(function, Primitive):
        raise ArgumentTypeError(
            f"{where}: expected a function, got the primitive {function!r}; write check_primitive({function!r})"
        )
    if not callable(function):
        raise ArgumentTypeError(
            f"{where}: expected a function, got {shorten(function)}; give the function itself and its arguments, "
            f"{where}(f, x)"
        )


def require_arguments(where: str, args: tuple[Any, ...]) -> None:
    """Raises an error unless there are arguments, and all leaves of them are arrays or numbers.

    Raises:
      ArgumentValueError: there are none.
      NonArrayError: a leaf is no array.
    """
    if not tree.leaves(args):
        raise ArgumentValueError(
            f"{where}: expected an example of the arguments, got none; give arrays or numbers, {where}(f, x)"
        )
    for i, arg in enumerate(args):
        for path, leaf in tree.leaves_with_path(arg):
            if not _is_array(leaf):
                raise NonArrayError(
                    f"{where}: expected arrays or numbers as arguments, got {shorten(leaf)} at args[{i}]"
                    f"{tree.keystr(path)}; close over what is no array: {where}(lambda x: f(x, {shorten(leaf)}), x)"
                )


def require_results(where: str, case: Given, system: Implementation) -> None:
    """Raises an error unless a function accepts its arguments, and gives arrays.

    A primitive that misses a rule is left to the laws, which name it.

    Raises:
      ArgumentValueError: the function raises an error; it is the cause.
      NonArrayError: a result is not an array.
    """
    try:
        with np.errstate(all="ignore"):
            results = case.on(system)(*case.args)
    except MissingRuleError:
        return
    except Exception as error:
        raise ArgumentValueError(
            f"{where}: expected arguments that {name_of(case)} accepts, got {describe(error)} from "
            f"{call_text(case)}; give arguments that it can be called with"
        ) from error
    for path, leaf in tree.leaves_with_path(results):
        try:
            system.aval(leaf)
        except Exception:
            raise NonArrayError(
                f"{where}: expected a function that returns arrays, got {shorten(leaf)} at result{tree.keystr(path)}; "
                f"return arrays only, or check a function that leaves it out"
            ) from None


def call_text(case: Given) -> str:
    """Returns a call with the types of its arguments: ``f(float64[3], 2.0)``."""
    name = name_of(case if isinstance(case, PrimitiveCall) else case.function)
    parts = [str(tree.map(lambda leaf: _Type(get_aval(leaf)), arg)) for arg in case.args]
    if isinstance(case, PrimitiveCall):
        parts += [f"{key}={shorten(value)}" for key, value in case.params.items()]
    return f"{name}({', '.join(parts)})"


@dataclass(frozen=True, slots=True, repr=False)
class _Type:
    aval: Any

    def __repr__(self) -> str:
        return str(self.aval)


def describe(error: BaseException) -> str:
    """Returns an error as one line: its class and the first line of its text, without a source line in lawful."""
    text = str(getattr(error, "message", error)).strip()
    first = text.splitlines()[0] if text else ""
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _is_array(leaf: Any) -> bool:
    try:
        get_aval(leaf)
    except Exception:  # a user's class may raise anything
        return False
    return True
