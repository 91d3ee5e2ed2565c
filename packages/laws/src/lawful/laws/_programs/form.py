"""The forms of sub-programs in the language. A declared form is used in all generated programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lawful.laws._law.implementation import Implementation

if TYPE_CHECKING:
    from lawful.laws._programs.builder import Builder
    from lawful.laws._programs.choose import Chooser

    Draw = Callable[[Builder, Chooser], None]


@dataclass(frozen=True, slots=True)
class Form:
    """A way to call sub-programs.

    Attributes:
      name: the function that takes them, of a system's scope.
      call: how the call is written: ``{0}`` is the first sub-program, ``{blocks}`` all of them, ``{operands}`` the
        operands, ``{group0}`` the members of the first operand, which is a tuple, and other names are settings.
      draw: adds an equation of this form to a program under construction, or none where what was drawn does not fit.
      needs: what a system must have for it, of ``Implementation.absent``.

    >>> forms["scan"].name, forms["scan"].needs
    ('scan', ('scan',))
    """

    name: str
    call: str
    draw: Draw
    needs: tuple[str, ...]


#: Every form by name, the simplest first.
forms: Final[dict[str, Form]] = {}


def form(name: str, call: str, *, needs: tuple[str, ...]) -> Callable[[Draw], Draw]:
    """Declares a form by the function that draws it."""

    def declared(draw: Draw) -> Draw:
        forms[name] = Form(name, call, draw, needs)
        return draw

    return declared


def forms_of_one_device() -> tuple[str, ...]:
    """Returns the names of the forms that need no meshes of devices: those of programs where nothing else is said."""
    return tuple(name for name, form in forms.items() if "devices" not in form.needs)


def forms_of(system: Implementation) -> tuple[str, ...]:
    """Returns the names of the forms that a system supports: ``Generation(forms=forms_of(system))``.

    >>> from lawful.laws.systems import lawful
    >>> forms_of(lawful)[:3]
    ('jit', 'cond', 'switch')
    """
    return tuple(name for name, form in forms.items() if not set(form.needs) & set(system.absent))
