"""A program under construction, with the values of its variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, Interval, ShapedArray, is_inexact
from lawful.laws._law.smooth import is_smooth
from lawful.laws._law.values import array_in
from lawful.laws._programs.catalogue import our_catalogue
from lawful.laws._programs.choose import Chooser
from lawful.laws._programs.equations import draw_equation
from lawful.laws._programs.interpreter import resolve
from lawful.laws._programs.operands import adapted, largest, moderate, squashed
from lawful.laws._programs.pytree import draw_tree, reached
from lawful.laws._programs.scope import Elements, Frame, Names, Operand, Variable, by_element
from lawful.laws._programs.syntax import Apply, Assign, Block, Name, Nest, Static, one_or_all
from lawful.laws.systems import lawful

if TYPE_CHECKING:
    from lawful.laws._search.generation import Generation

_LARGEST_SIZE = 64

_weak_dtypes = tuple(map(np.dtype, ("float64", "int64", "bool")))


def _mixed(numbers: Sequence[int]) -> int:
    """Combines several numbers into one key, for fast creation of a random generator."""
    key = 0
    for number in numbers:
        key = (key << 16) + number
    return key


class Builder:
    """A program under construction.

    Attributes:
      settings: what is drawn.
      catalogue: the ops.
      names: gives names.
      seed: what values are drawn from.
      frame: the function that equations are added to.
      inputs: the inputs by name, which are pytrees.
      constants: the arrays that the program closes over, by name.
    """

    def __init__(self, choose: Chooser, settings: Generation) -> None:
        self.settings = settings
        self.catalogue = settings.catalogue or our_catalogue()
        self.names = Names()
        self.seed = choose.integer(0, 2**16)
        self.frame = Frame(None)
        self.inputs: dict[str, Any] = {}
        self.constants: dict[str, Any] = {}
        self._value_count = 0

    # Variables

    def visible(self, accept: Callable[[Variable], bool] | None = None) -> list[Variable]:
        """Returns the variables in scope that are accepted, the newest first."""
        visible = self.frame.visible()
        return list(visible) if accept is None else [variable for variable in visible if accept(variable)]

    @property
    def outermost(self) -> Frame:
        """The frame of the program itself."""
        frame = self.frame
        while frame.outer is not None:
            frame = frame.outer
        return frame

    def new_value(self, aval: ShapedArray, interval: Interval) -> Any:
        """Returns a value of a type."""
        # A separate generator, so that values stay the same when another one is shrunk away.
        key = (self.seed, len(self.inputs), len(self.constants), self._value_count)
        return array_in(np.random.Generator(np.random.Philox(key=_mixed(key))), aval, interval)

    def new_input(self, value: Any) -> Variable:
        """Adds an input that is an array."""
        name = self.names.variable()
        self.inputs[name] = value
        variable = Variable(Name(name), (value,))
        self.outermost.variables.append(variable)
        return variable

    def new_constant(self, value: Any) -> Variable:
        """Adds an array that the program closes over."""
        if isinstance(value, np.ndarray):
            value.flags.writeable = False  # laws must not write into arrays that share its memory
        name = self.names.variable()
        self.constants[name] = value
        variable = Variable(Name(name), (value,))
        self.outermost.variables.append(variable)
        return variable

    def draw_inputs(self, choose: Chooser) -> None:
        """Adds inputs. The first is a floating-point array, so that there is something to differentiate."""
        dtypes = self.settings.dtypes
        dtype = next((dtype for dtype in dtypes if is_inexact(dtype)), dtypes[0])
        self.new_input(self.new_value(ShapedArray(choose.shape(), dtype), Interval()))

        def one(choose: Chooser) -> bool:
            form = choose.integer(0, 8)
            if form < 3 or len(self.inputs) == self.settings.max_inputs:
                return False
            if form == 8 and self.settings.trees:
                self._draw_tree(choose)
            else:
                self.new_input(self._draw_value(choose))
            return True

        while choose.part(one):
            pass

    def _draw_value(self, choose: Chooser) -> Any:
        dtypes = self.settings.dtypes
        scalars = [dtype for dtype in dtypes if dtype in _weak_dtypes]
        weak = self.settings.weak and bool(scalars) and choose.integer(0, 4) == 4
        dtype = choose.one_of(scalars if weak else dtypes)
        return self.new_value(ShapedArray(() if weak else choose.shape(), dtype, weak), Interval())

    def _draw_tree(self, choose: Chooser) -> None:
        def leaf() -> Any:
            self._value_count += 1
            return self._draw_value(choose)

        value = draw_tree(choose, leaf)
        self._value_count = 0
        name = self.names.variable()
        self.inputs[name] = value
        for path, x in tree.leaves_with_path(value):
            self.frame.variables.append(Variable(reached(Name(name), path), (x,)))

    @staticmethod
    def name_of(variable: Variable) -> str | None:
        """Returns a variable's name; None for a part of a pytree."""
        return variable.expression.text if isinstance(variable.expression, Name) else None

    # Operands

    def operand(self, choose: Chooser, aval: ShapedArray, interval: Interval) -> Operand | None:
        """Returns an operand of exactly a shape and dtype, within an interval: a variable, or derived from one."""
        alike = self.visible(lambda v: v.aval.dtype == aval.dtype)
        same = [v for v in alike if v.aval.shape == aval.shape]
        others = [v for v in alike if v.aval.shape != aval.shape]
        index = choose.integer(0, len(same) + min(len(others), 2))
        if index < len(same):
            return squashed(same[index].operand, interval)
        if index < len(same) + min(len(others), 2):
            return squashed(adapted(others[index - len(same)], aval.shape), interval)
        if aval.size > _LARGEST_SIZE:
            return None
        as_input = len(self.inputs) < self.settings.max_inputs and choose.integer(0, 1) == 0
        value = self.new_value(ShapedArray(aval.shape, aval.dtype), interval)
        return (self.new_input if as_input else self.new_constant)(value).operand

    # Equations

    def assign(
        self, function: str, operands: Sequence[Operand], *, listed: bool = False, constant: bool = False,
        smooth: bool = False, **params: Any,
    ) -> Variable | None:  # fmt: skip
        """Adds the equation of a call, if its value is finite and moderate, and the call is smooth there.

        Args:
          function: what is called.
          operands: its positional arguments.
          listed: whether these are one argument, a list.
          constant: whether its derivative is said to be zero.
          smooth: whether it is known to be smooth within its domain.
          params: its keyword arguments.
        """
        resolved = resolve(function, lawful)

        index: int | None = None

        def call(*values: Any) -> Any:
            out = resolved(list(values), **params) if listed else resolved(*values, **params)
            return out if index is None else out[index]

        elements = by_element([operand.values for operand in operands])
        values = tuple([call(*element) for element in elements])
        if isinstance(values[0], tuple | list):  # one of several results, at random
            if not values[0]:
                return None
            index = len(self.frame.variables) % len(values[0])
            values = tuple([value[index] for value in values])
        if np.size(values[0]) > _LARGEST_SIZE or not math.isfinite(largest(values)):
            return None
        if (
            self.settings.smooth
            and not smooth
            and not all([
                is_smooth(call, element, value, constant=constant)
                for element, value in zip(elements, values, strict=True)
            ])
        ):  # fmt: skip
            return None
        expressions = tuple([operand.expression for operand in operands])
        applied = Apply(function, (expressions,) if listed else expressions, tuple(params.items()))
        return self.bind(
            Operand(Apply("operator.getitem", (applied, Static(index))) if index is not None else applied, values)
        )

    def bind(self, operand: Operand) -> Variable:
        """Adds the equation that binds a variable to an expression, scaled down if it is large."""
        operand = moderate(operand)
        name = self.names.variable()
        self.frame.equations.append(Assign(name, operand.expression))
        variable = Variable(Name(name), operand.values)
        self.frame.variables.append(variable)
        return variable

    def nest(
        self, form: str, blocks: Sequence[Block], operands: tuple[Any, ...], results: Any,
        settings: tuple[tuple[str, Any], ...] = (),
    ) -> None:  # fmt: skip
        """Adds an equation with sub-programs.

        Args:
          form: one of ``forms``.
          blocks: the sub-programs.
          operands: what they are called with, a tree of tuples of expressions.
          results: a tree of tuples of operands, of which only the values matter; a list of them is a result's elements.
          settings: what else is said.
        """
        variables: list[Variable] = []

        def target(elements: Elements | list[Any]) -> Any:
            if isinstance(elements, tuple):
                return tuple([target(part) for part in elements])
            variables.append(Variable(Name(self.names.variable()), tuple(elements)))
            return self.name_of(variables[-1])

        targets = target(results)
        if not all([v.aval.size <= _LARGEST_SIZE and math.isfinite(largest(v.values)) for v in variables]):
            return
        self.frame.equations.append(Nest(targets, form, tuple(blocks), operands, settings))
        for variable in variables:
            if moderate(variable.operand) is variable.operand:
                self.frame.variables.append(variable)
            else:
                self.bind(variable.operand)

    # Functions

    def equations(self, choose: Chooser, most: int, draw: Callable[[Builder, Chooser], None] = draw_equation) -> None:
        """Adds some equations, each by ``draw``."""
        count = 0

        def one(choose: Chooser) -> bool:
            # The end is drawn after each equation, also the last one, so that shrinking can remove any of them.
            if choose.integer(0, 15) == 0 or count == most:
                return False
            # NumPy promotion may be undefined for the operands.
            with suppress(ArgumentTypeError, OverflowError):
                draw(self, choose)
            return True

        while choose.part(one):
            count += 1

    def block(
        self, choose: Chooser, parameters: Sequence[Elements | list[Elements]],
        results: Callable[[], list[Operand] | None], elements: int = 1,
        arranged: Callable[[list[str]], Any] = one_or_all, draw: Callable[[Builder, Chooser], None] = draw_equation,
    ) -> tuple[Block, list[Elements]] | None:  # fmt: skip
        """Draws a sub-program.

        Args:
          choose: draws.
          parameters: the values of its parameters, for each element; a list of them for a parameter that is a tuple.
          results: chooses the results among the variables in scope, once its equations are there.
          elements: how many elements it has for each one outside.
          arranged: makes the tree that it returns of the names of its results.
          draw: adds an equation.

        Returns:
          The sub-program and the values of its results, for each element; None if there are none.
        """
        outside = self.frame
        self.frame = Frame(outside, elements=outside.elements * elements)
        names = tuple([self._parameter(values) for values in parameters])
        try:
            self.equations(choose, max(self.settings.max_equations // (2 + self.frame.depth), 1), draw)
            chosen = results()
            if chosen is None:
                return None
            found = arranged([self.named(operand) for operand in chosen])
            block = Block(self.names.function(), names, tuple(self.frame.equations), found)
            return block, [operand.values for operand in chosen]
        finally:
            self.frame = outside

    def _parameter(self, values: Elements | list[Elements]) -> str:
        """Adds a parameter to the frame, and returns its name. The first equations unpack a tuple."""
        name = self.names.variable()
        if isinstance(values, list):
            for i, part in enumerate(values):
                element = self.names.variable()
                self.frame.equations.append(Assign(element, Apply("operator.getitem", (Name(name), Static(i)))))
                self.frame.variables.append(Variable(Name(element), part))
        else:
            self.frame.variables.append(Variable(Name(name), values))
        return name

    def named(self, operand: Operand) -> str:
        """Returns the name of a variable with an operand's value."""
        if isinstance(operand.expression, Name):
            return operand.expression.text
        name = self.names.variable()
        self.frame.equations.append(Assign(name, operand.expression))
        return name
