"""Jaxprs: programs as data. Explicitly typed, first-order, in A-normal form.

The fields have the names that they have in JAX. A jaxpr is built once, by a trace, a pass or the parser, and
not changed afterwards, so that caches can be keyed by its identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from lawful.core._jaxpr.jax_fields import FieldsOfClosedJaxpr, FieldsOfEqn, FieldsOfJaxpr, own_fields
from lawful.core._primitive.primitive import Primitive
from lawful.core._types.arrays import get_aval
from lawful.core._types.aval import ShapedArray
from lawful.tree.base import SourceLine


@final
class Var:
    """A variable: equal to itself only. It has a type, ``aval``; names are given by the printer.

    >>> Var(ShapedArray((3,), float))
    Var(f64[3])
    """

    __slots__ = ("__weakref__", "aval")

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Var({self.aval})"


@final
class Literal:
    """A scalar constant that stands inline where a variable could. ``val`` is a NumPy or Python scalar.

    >>> Literal(2.0)
    Literal(2.0:~f64[])
    """

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: ShapedArray | None = None) -> None:
        self.val = val
        self.aval = get_aval(val) if aval is None else aval
        assert not self.aval.shape, "a literal is a scalar"

    def __repr__(self) -> str:
        return f"Literal({self.val}:{self.aval})"


Atom = Var | Literal


class JaxprEqn(FieldsOfEqn):
    """One equation: ``outvars = primitive[params] invars``, with the user's line that it comes from.

    >>> JaxprEqn(Primitive("doubled"), [Literal(2.0)], [Var(get_aval(4.0))], {}).invars
    [Literal(2.0:~f64[])]
    """

    __slots__ = ("invars", "outvars", "params", "primitive", "source")

    def __init__(
        self,
        primitive: Primitive,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        params: dict[str, Any],
        source: SourceLine | None = None,
    ) -> None:
        self.primitive = primitive
        self.invars = invars
        self.outvars = outvars
        self.params = params
        self.source = source

    def replace(self, **changes: Any) -> JaxprEqn:
        """Returns the equation with some fields replaced."""
        return JaxprEqn(**{name: getattr(self, name) for name in JaxprEqn.__slots__} | own_fields(changes))


class Jaxpr(FieldsOfJaxpr):
    """A program: ``lambda constvars ; invars. let eqns in outvars``.

    >>> x = Var(ShapedArray((), float))
    >>> Jaxpr([], [x], [], [x])
    { lambda ; a:f64[]. let in (a,) }
    """

    __slots__ = ("__weakref__", "constvars", "eqns", "invars", "name", "outvars")  # the first is no field

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        eqns: Sequence[JaxprEqn],
        outvars: Sequence[Atom],
        *,
        name: str = "",
    ) -> None:
        self.constvars = constvars
        self.invars = invars
        self.eqns = eqns
        self.outvars = outvars
        #: The name of the function that was traced, where there was one; for messages and lowered code.
        self.name = name

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The types of the inputs."""
        return [var.aval for var in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The types of the outputs."""
        return [atom.aval for atom in self.outvars]

    def replace(self, **changes: Any) -> Jaxpr:
        """Returns the jaxpr with some fields replaced."""
        return Jaxpr(**{name: getattr(self, name) for name in Jaxpr.__slots__[1:]} | own_fields(changes))


class ClosedJaxpr(FieldsOfClosedJaxpr):
    """A jaxpr with the values of its ``constvars``.

    >>> c = Var(get_aval(2.0))
    >>> ClosedJaxpr(Jaxpr([c], [], [], [c]), [2.0]).consts
    [2.0]
    """

    __slots__ = ("__weakref__", "consts", "is_plain", "jaxpr", "memo", "transience")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()) -> None:
        assert len(consts) == len(jaxpr.constvars), "one constant for every constvar"
        self.jaxpr = jaxpr
        self.consts = consts
        #: Results of the functions that `memoize` made; they die with the jaxpr.
        self.memo: dict[object, object] | None = None
        #: Whether `deduplicated` has seen that it holds nothing but primitives, types and numbers.
        self.is_plain = False
        #: How soon the jaxpr dies in whose memo it is, compared with others; None if it is in none.
        self.transience: int | None = None

    @property
    def literals(self) -> Sequence[Any]:
        """The constants, by their older name in JAX."""
        return self.consts

    @property
    def in_avals(self) -> list[ShapedArray]:
        """The types of the inputs."""
        return self.jaxpr.in_avals

    @property
    def out_avals(self) -> list[ShapedArray]:
        """The types of the outputs."""
        return self.jaxpr.out_avals

    @property
    def constvars(self) -> Sequence[Var]:
        """The variables of the constants."""
        return self.jaxpr.constvars

    @property
    def invars(self) -> Sequence[Var]:
        """The variables of the inputs."""
        return self.jaxpr.invars

    @property
    def eqns(self) -> Sequence[JaxprEqn]:
        """The equations."""
        return self.jaxpr.eqns

    @property
    def outvars(self) -> Sequence[Atom]:
        """The variables or literals of the outputs."""
        return self.jaxpr.outvars

    def __str__(self) -> str:
        return str(self.jaxpr)

    __repr__ = __str__
