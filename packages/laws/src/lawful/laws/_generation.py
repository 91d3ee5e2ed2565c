"""Drawing programs: equations over declared ops, at values for which they mean something.

A program is built together with the value of each of its variables. An operand outside of its op's domain is brought
inside, a result that grows large is scaled down, and an equation at a kink is not taken. So hardly any program has
to be rejected afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, Interval, ShapedArray, get_aval, is_inexact
from lawful.laws._catalogue import Catalogue, our_catalogue
from lawful.laws._choose import Chooser
from lawful.laws._operands import adapted, squashed
from lawful.laws._program import Apply, Assign, Block, Name, Nest, Program, Static
from lawful.laws._scope import Frame, Names, Operand, Variable
from lawful.laws._smooth import is_smooth
from lawful.laws._source import resolve
from lawful.laws._values import array_in

# Values are kept below these, so that no equation multiplies a rounding error without bounds.
_LARGEST_FLOAT, _LARGEST_INTEGER, _LARGEST_SIZE = 16.0, 100, 64

float64, int64, boolean = np.dtype(np.float64), np.dtype(np.int64), np.dtype(bool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What programs are drawn.

    Attributes:
      dtypes: those of inputs and constants; promotion may give others.
      max_equations: the number of equations of the outermost function.
      max_inputs: how many inputs there are at most.
      max_depth: how deep sub-programs are nested.
      smooth: whether to keep away from kinks and jumps, for laws that take finite differences.
      weak: whether Python scalars are among inputs and constants.
      backend: that of nested ``jit``s; None for the default one.
      catalogue: the ops; those of lawful by default.
    """

    dtypes: tuple[np.dtype[Any], ...] = (float64, int64, boolean)
    max_equations: int = 8
    max_inputs: int = 3
    max_depth: int = 2
    smooth: bool = True
    weak: bool = True
    backend: str | None = "numpy"
    catalogue: Catalogue | None = None


class Builder:
    """A program under construction."""

    def __init__(self, choose: Chooser, settings: Generation) -> None:
        self.settings = settings
        self.catalogue = settings.catalogue or our_catalogue()
        self.names = Names()
        self.seed = choose.integer(0, 2**16)
        self.random = np.random.default_rng(self.seed)
        self.frame = Frame(None)
        self.inputs: list[Variable] = []
        self.constants: list[Variable] = []

    # Variables

    def visible(self, accept: Callable[[Variable], bool] = lambda variable: True) -> list[Variable]:
        """Returns the variables in scope that are accepted, the newest first."""
        return [variable for variable in self.frame.visible() if accept(variable)]

    def new_value(self, aval: ShapedArray, interval: Interval, *, as_input: bool) -> Variable:
        """Adds an input, or a constant that the program closes over, and returns it."""
        # A generator of its own, so that no value changes when another one is shrunk away.
        random = np.random.default_rng((self.seed, len(self.inputs), len(self.constants)))
        value = array_in(random, aval, interval)
        if not as_input and isinstance(value, np.ndarray):
            value.flags.writeable = False  # what shares memory with it must not be written into by laws
        variable = Variable(self.names.variable(), value)
        (self.inputs if as_input else self.constants).append(variable)
        self.outermost.variables.append(variable)
        return variable

    @property
    def outermost(self) -> Frame:
        """The frame of the program itself."""
        frame = self.frame
        while frame.outer is not None:
            frame = frame.outer
        return frame

    def draw_input(self, choose: Chooser, *, first: bool) -> None:
        """Adds an input; the first one is a floating array, so that there is something to differentiate by."""
        dtypes = self.settings.dtypes
        if first:
            dtype = next((dtype for dtype in dtypes if is_inexact(dtype)), dtypes[0])
            self.new_value(ShapedArray(choose.shape(), dtype), Interval(), as_input=True)
            return
        scalars = [dtype for dtype in dtypes if dtype in (float64, int64, boolean)]
        weak = self.settings.weak and bool(scalars) and choose.integer(0, 4) == 4
        dtype = choose.one_of(scalars if weak else dtypes)
        self.new_value(ShapedArray(() if weak else choose.shape(), dtype, weak), Interval(), as_input=True)

    # Operands

    def operand(self, choose: Chooser, aval: ShapedArray, interval: Interval) -> Operand | None:
        """Returns a value of exactly a shape and dtype, within an interval: a variable, or made of one."""
        same = self.visible(lambda v: v.aval.shape == aval.shape and v.aval.dtype == aval.dtype)
        others = self.visible(lambda v: v.aval.dtype == aval.dtype and v.aval.shape != aval.shape)
        index = choose.integer(0, len(same) + min(len(others), 2))
        if index < len(same):
            return squashed(same[index].operand, interval)
        if index < len(same) + min(len(others), 2):
            return squashed(adapted(others[index - len(same)], aval.shape), interval)
        if aval.size > _LARGEST_SIZE:
            return None
        as_input = len(self.inputs) < self.settings.max_inputs and choose.integer(0, 1) == 0
        variable = self.new_value(ShapedArray(aval.shape, aval.dtype), interval, as_input=as_input)
        return variable.operand

    # Equations

    def assign(
        self, function: str, operands: Sequence[Operand], *, listed: bool = False, constant: bool = False, **params: Any
    ) -> Variable | None:
        """Adds the equation of a call, if its value there is finite and moderate, and it is smooth there.

        Args:
          function: what is called.
          operands: its positional arguments.
          listed: whether these are one argument, a list.
          constant: whether its derivative is said to be zero.
          params: its keyword arguments.
        """

        def call(*values: Any) -> Any:
            return resolve(function)(*([list(values)] if listed else values), **params)

        values = [operand.value for operand in operands]
        value = call(*values)
        if not _is_finite(value) or np.size(value) > _LARGEST_SIZE:
            return None
        if self.settings.smooth and not is_smooth(call, values, self.random, constant=constant):
            return None
        expressions = tuple(operand.expression for operand in operands)
        result = Operand(Apply(function, (expressions,) if listed else expressions, tuple(params.items())), value)
        if _is_large(value):
            result = _scaled(result)
        variable = Variable(self.names.variable(), result.value)
        self.frame.equations.append(Assign(variable.name, result.expression))
        self.frame.variables.append(variable)
        return variable

    def nest(
        self, form: str, blocks: Sequence[Block], operands: Sequence[Variable], values: Sequence[Any],
        settings: tuple[tuple[str, Any], ...],
    ) -> None:  # fmt: skip
        """Adds an equation with sub-programs, whose results have these values."""
        variables = [Variable(self.names.variable(), value) for value in values]
        targets = tuple(variable.name for variable in variables)
        expressions = tuple(variable.operand.expression for variable in operands)
        self.frame.equations.append(Nest(targets, form, tuple(blocks), expressions, settings))
        self.frame.variables.extend(variables)

    # Functions

    def equations(self, choose: Chooser, most: int) -> None:
        """Adds some equations."""
        from lawful.laws._equations import draw_equation

        def one(choose: Chooser) -> bool:
            if choose.integer(0, 15) == 0:
                return False
            # Promotion may have no meaning for the operands, as in NumPy.
            with suppress(ArgumentTypeError, OverflowError):
                draw_equation(self, choose)
            return True

        for _ in range(most):
            if not choose.part(one):
                break

    def block(
        self, choose: Chooser, operands: Sequence[Variable], results: Callable[[], list[Operand] | None]
    ) -> tuple[Block, list[Any]] | None:
        """Draws a sub-program.

        Args:
          choose: draws.
          operands: what it is called with.
          results: chooses the results among the variables in scope, once its equations are there.

        Returns:
          The sub-program and the values of its results; None if there are none.
        """
        outside = self.frame
        self.frame = Frame(outside, [Variable(self.names.variable(), operand.value) for operand in operands])
        parameters = tuple(variable.name for variable in self.frame.variables)
        try:
            self.equations(choose, max(self.settings.max_equations // (2 + self.frame.depth), 1))
            chosen = results()
            if chosen is None:
                return None
            names = tuple([self._named(operand) for operand in chosen])
            block = Block(
                self.names.function(), parameters, tuple(self.frame.equations), names[0] if len(names) == 1 else names
            )
            return block, [operand.value for operand in chosen]
        finally:
            self.frame = outside

    def _named(self, operand: Operand) -> str:
        """Returns the name of a variable with an operand's value."""
        if isinstance(operand.expression, Name):
            return operand.expression.text
        name = self.names.variable()
        self.frame.equations.append(Assign(name, operand.expression))
        return name


def _is_finite(value: Any) -> bool:
    return all(
        not is_inexact(get_aval(x).dtype) or bool(np.all(np.isfinite(np.asarray(x)))) for x in tree.leaves(value)
    )


def _is_large(value: Any) -> bool:
    x = np.asarray(value)
    if not x.size or x.dtype.kind == "b":
        return False
    largest = max(abs(float(np.max(np.abs(x)))), 0.0)
    return largest > (_LARGEST_FLOAT if is_inexact(x.dtype) else _LARGEST_INTEGER)


def _scaled(operand: Operand) -> Operand:
    """Returns a large value made moderate: divided by a power of two, or an integer's remainder."""
    x = np.asarray(operand.value)
    if is_inexact(x.dtype):
        power = 2.0 ** -int(np.ceil(np.log2(float(np.max(np.abs(x))) / _LARGEST_FLOAT)) + 2)
        return operand.wrapped("ops.mul", Static(power))
    return operand.wrapped("ops.rem", Static(7))


def draw_program(choose: Chooser, settings: Generation | None = None) -> Program:
    """Returns a program, drawn together with an example of its inputs.

    Args:
      choose: where choices come from; ``RandomChoose(seed)`` for the fast way without shrinking.
      settings: what programs are drawn.

    >>> from lawful.laws import RandomChoose
    >>> program = draw_program(RandomChoose(1))
    >>> _ = program(*program.args)
    """
    settings = settings or Generation()
    with np.errstate(all="ignore"):
        builder = Builder(choose, settings)
        for number in range(choose.integer(1, settings.max_inputs)):
            builder.draw_input(choose, first=number == 0)
        builder.equations(choose, settings.max_equations)
        results = draw_results(builder, choose)
    block = Block("program", tuple(v.name for v in builder.inputs), tuple(builder.frame.equations), results)
    return Program(
        block,
        tuple((v.name, v.value) for v in builder.constants),
        tuple(v.value for v in builder.inputs),
        choose.integer(0, 2**16),
    )


def draw_results(builder: Builder, choose: Chooser) -> Any:
    """Returns the tree of a program's results: the newest variable, or several."""
    constants = {variable.name for variable in builder.constants}
    variables = builder.visible(lambda v: v.name not in constants)
    # There is always something to differentiate, if only the first input.
    floating = [v for v in variables if is_inexact(v.aval.dtype)] or variables
    chosen = [floating[choose.integer(0, min(len(floating) - 1, 5))].name]
    chosen += [variables[choose.integer(0, min(len(variables) - 1, 5))].name for _ in range(choose.integer(0, 2))]
    if len(chosen) == 1:
        return chosen[0]
    shape = choose.integer(0, 3)
    if shape == 0:
        return tuple(chosen)
    if shape == 1:
        return list(chosen)
    return {"p": chosen[0], "q": tuple(chosen[1:]) if shape == 2 else chosen[1:][0]}
