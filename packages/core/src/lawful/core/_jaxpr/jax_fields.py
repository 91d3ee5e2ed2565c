"""Fields and methods of jaxprs and equations under JAX's names, computed from the fields of lawful."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

from lawful.core._primitive.primitive import Primitive
from lawful.tree.base import SourceLine, record

if TYPE_CHECKING:
    from lawful.core._jaxpr.jaxpr import Jaxpr


@record
class DebugInfo:
    """Where a jaxpr comes from, for messages.

    >>> DebugInfo("f").func_name
    'f'
    """

    #: The name of the function that was traced; empty where it is unknown.
    func_name: str

    #: JAX's names of the arguments and paths of the results, which lawful does not keep.
    arg_names = result_paths = None

    @property
    def func_src_info(self) -> str:
        """The function in a message: its name."""
        return self.func_name

    @property
    def traced_for(self) -> str:
        """The transformation that traced the function: jit for all, as in JAX."""
        return "jit"

    def safe_arg_names(self, expected_count: int) -> tuple[str, ...]:
        """Returns a name for each argument; those that are unknown are empty."""
        return ("",) * expected_count


def own_fields(changes: dict[str, Any]) -> dict[str, Any]:
    """Returns changes of fields by lawful's names, without those of fields that follow from others.

    >>> own_fields({"source_info": None, "effects": set(), "params": {}})
    {'source': None, 'params': {}}
    """
    own = {"source" if name == "source_info" else name: value for name, value in changes.items() if name != "effects"}
    info = own.pop("debug_info", None)
    return own if info is None else {**own, "name": info.func_name}


class FieldsOfEqn:
    """The fields of an equation under JAX's names.

    >>> from lawful.core import parse_jaxpr, Primitive
    >>> beep_p = Primitive("beep", multiple_results=True, effectful=True)
    >>> parse_jaxpr("{ lambda ; a:f64[]. let = beep a in (a,) }").eqns[0].effects
    frozenset({beep_p})
    """

    __slots__ = ()

    source: SourceLine | None
    #: The effectful primitives that it applies, also in jaxprs among its parameters.
    effects: frozenset[Primitive]

    @property
    def source_info(self) -> SourceLine | None:
        """The line of the user's program, ``source``."""
        return self.source


class FieldsOfJaxpr:
    """The fields of a jaxpr under JAX's names."""

    __slots__ = ()

    name: str
    #: The effectful primitives that it applies, also in jaxprs inside it.
    effects: frozenset[Primitive]

    @property
    def debug_info(self) -> DebugInfo:
        """Where it comes from: the name of the function that was traced."""
        return DebugInfo(self.name)

    def pretty_print(self, **settings: Any) -> str:
        """Returns the jaxpr as text; JAX's settings have no effect."""
        return str(self)


class FieldsOfClosedJaxpr:
    """The fields of a closed jaxpr under JAX's names."""

    __slots__ = ()

    jaxpr: Jaxpr
    consts: Sequence[Any]

    @property
    def effects(self) -> frozenset[Primitive]:
        """The effectful primitives that it applies."""
        return self.jaxpr.effects

    @property
    def debug_info(self) -> DebugInfo:
        """Where it comes from."""
        return self.jaxpr.debug_info

    def replace(self, *, jaxpr: Jaxpr | None = None, consts: Sequence[Any] | None = None) -> Self:
        """Returns another jaxpr with these constants, or the jaxpr with others."""
        make: Callable[..., Self] = type(self)
        return make(self.jaxpr if jaxpr is None else jaxpr, self.consts if consts is None else consts)

    def map_jaxpr(self, f: Callable[[Jaxpr], Jaxpr]) -> Self:
        """Returns what a function makes of the jaxpr, with these constants."""
        return self.replace(jaxpr=f(self.jaxpr))

    def pretty_print(self, **settings: Any) -> str:
        """Returns the jaxpr as text; JAX's settings have no effect."""
        return str(self)
