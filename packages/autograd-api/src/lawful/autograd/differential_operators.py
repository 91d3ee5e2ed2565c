"""Gradients, Jacobians, Hessians, and products with them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from threading import local
from typing import Any

import lawful.numpy as np
from lawful import autodiff
from lawful.autograd._operators.results import as_number, flattened, summed
from lawful.autograd._operators.variables import as_result, as_variable
from lawful.autograd._tree import Flat, ordered
from lawful.autograd.core import make_jvp as _make_jvp
from lawful.autograd.core import make_vjp as _make_vjp
from lawful.autograd.core import make_vjp_of_operands
from lawful.autograd.extend import defvjp_argnum, primitive, vspace
from lawful.autograd.wrap_util import Argnum, argument_at, check_argnum, unary_to_nary, wrap_nary_f
from lawful.core import get_aval

Function = Callable[..., Any]

_make_vjp_of_operands = unary_to_nary(lambda fun, x: make_vjp_of_operands(fun, x))


@unary_to_nary
def make_vjp(fun: Function, x: Any) -> Any:
    """Returns a function that pulls cotangents of the result back to an argument, as a pair with the result.

    >>> vjp, ans = make_vjp(lambda x, y: x * y * y, 1)(2.0, 3.0)
    >>> ans, vjp(1.0)
    (np.float64(18.0), np.float64(12.0))
    """
    return _make_vjp(fun, x)


@unary_to_nary
def make_jvp(fun: Function, x: Any) -> Any:
    """Returns a function that gives the function from tangents of an argument to the result and its tangent.

    >>> make_jvp(lambda x, y: x * y * y, 1)(2.0, 3.0)(1.0)
    (np.float64(18.0), np.float64(12.0))
    """
    return _make_jvp(fun, x)


def _with_variables(args: tuple[Any, ...], argnum: Argnum) -> tuple[Any, ...]:
    """Returns arguments, with those to differentiate by as the transformations take them."""
    if argnum == 0 and len(args) == 1:
        return args if type(args[0]) is float else (as_variable(args[0]),)
    full = list(args)
    for i in (argnum,) if isinstance(argnum, int) else argnum:
        full[i] = as_variable(argument_at(full, i))
    return tuple(full)


def grad[**P](fun: Callable[P, Any], argnum: Argnum = 0) -> Callable[P, Any]:
    """Returns a function that gives the gradient of ``fun``.

    Args:
      fun: returns a real number, or a real array of one element.
      argnum: the number of the argument to differentiate by; a tuple of numbers gives a tuple of gradients.

    The gradient has the structure and shapes of the argument. By a complex argument it is the derivative by the real
    part minus ``i`` times that by the imaginary part.

    Raises:
      ArgumentTypeError: the result is no real number, or the argument is an integer.

    Source: ``autograd.grad``.

    >>> grad(lambda x, y: x * y * y, 1)(2.0, 3.0)
    np.float64(12.0)
    """
    check_argnum(argnum)

    def scalar(*args: Any, **kwargs: Any) -> Any:
        return as_number("grad", fun(*args, **kwargs))

    gradient = autodiff.grad(scalar, argnum, allow_int=True)

    @wrap_nary_f(fun, grad, argnum)
    def grad_fun(*args: Any, **kwargs: Any) -> Any:
        return as_result(gradient(*_with_variables(args, argnum), **kwargs))

    return grad_fun


class _Shapes(local):
    """The shapes of results of one element that are no scalars, of the calls of `value_and_grad` that are running."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, ...]] = []


_shapes = _Shapes()


def value_and_grad[**P](fun: Callable[P, Any], argnum: Argnum = 0) -> Callable[P, tuple[Any, Any]]:
    """Returns a function that gives the value of ``fun`` and its gradient; arguments and errors are those of `grad`.

    Source: ``autograd.value_and_grad``.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (np.float64(9.0), np.float64(6.0))
    """
    check_argnum(argnum)

    def scalar(*args: Any, **kwargs: Any) -> Any:
        result = fun(*args, **kwargs)
        number = as_number("value_and_grad", result)
        if number is not result:
            _shapes.stack.append(get_aval(result).shape)
        return number

    both = autodiff.value_and_grad(scalar, argnum, allow_int=True)

    @wrap_nary_f(fun, value_and_grad, argnum)
    def value_and_grad_fun(*args: Any, **kwargs: Any) -> Any:
        stack = _shapes.stack
        depth = len(stack)
        try:
            value, gradient = both(*_with_variables(args, argnum), **kwargs)
            shaped = np.reshape(value, stack[depth]) if len(stack) > depth else as_result(value)
            return shaped, as_result(gradient)
        finally:
            del stack[depth:]

    return value_and_grad_fun


def elementwise_grad[**P, R](fun: Callable[P, R], argnum: Argnum = 0) -> Callable[P, R]:
    """Returns a function that gives the gradient of the sum of all elements of the result of ``fun``.

    If each element of the result depends on one of the argument, these are the derivatives of the elements.

    Source: ``autograd.elementwise_grad``.

    >>> import numpy
    >>> elementwise_grad(lambda x: x * x)(numpy.array([1.0, 2.0]))
    array([2., 4.])
    """
    check_argnum(argnum)

    def scalar(*args: Any, **kwargs: Any) -> Any:
        return summed("elementwise_grad", fun(*args, **kwargs))

    gradient = autodiff.grad(scalar, argnum, allow_int=True)

    @wrap_nary_f(fun, elementwise_grad, argnum)
    def elementwise_grad_fun(*args: Any, **kwargs: Any) -> Any:
        return as_result(gradient(*_with_variables(args, argnum), **kwargs))

    return elementwise_grad_fun


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """Returns a function that gives the derivative of ``fun`` along a vector of ones, by forward mode.

    >>> import numpy
    >>> deriv(lambda x: x * x)(numpy.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _make_jvp(fun, x)(vspace(x).ones())[1]


def jacobian[**P](fun: Callable[P, Any], argnum: Argnum = 0) -> Callable[P, Any]:
    """Returns a function that gives the Jacobian of ``fun``, by reverse mode.

    Args:
      fun: returns a real array, or a pytree of them.
      argnum: the number of the argument to differentiate by; a tuple of numbers gives a tuple of Jacobians.

    Returns:
      A function whose result has the shape of the result of ``fun`` followed by that of the argument.

    Source: ``autograd.jacobian``.

    >>> import numpy
    >>> jacobian(lambda x: x * x)(numpy.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    check_argnum(argnum)
    rows = autodiff.jacrev(flattened(fun), argnum, allow_int=True)

    @wrap_nary_f(fun, jacobian, argnum)
    def jacobian_fun(*args: Any, **kwargs: Any) -> Any:
        result = rows(*_with_variables(args, argnum), **kwargs)
        return as_result(result.treedef.unflatten(result.leaves) if type(result) is Flat else result)

    return jacobian_fun


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """Returns a function that gives the complex derivative of a holomorphic function.

    >>> holomorphic_grad(lambda z: z * z)(1.0 + 2.0j)
    np.complex128(2+4j)
    """
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=3)
    return grad(lambda x: np.real(fun(x)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """Returns the gradient of a function by the positional argument of a name.

    >>> grad_named(lambda x, y: x * y * y, "y")(2.0, 3.0)
    np.float64(12.0)
    """
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


def hessian[**P](fun: Callable[P, Any], argnum: Argnum = 0) -> Callable[P, Any]:
    """Returns a function that gives the Hessian of ``fun``: the Jacobian of its Jacobian.

    Source: ``autograd.hessian``.

    >>> import numpy
    >>> hessian(lambda x: x[0] * x[0] * x[1])(numpy.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    second = jacobian(jacobian(fun, argnum), argnum)
    return wrap_nary_f(fun, hessian, argnum)(lambda *args, **kwargs: second(*args, **kwargs))


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> Any:
    """Returns the function of Hessian-vector products at a point, and the gradient there.

    >>> import numpy
    >>> hvp, gradient = make_hvp(lambda x: x[0] * x[0] * x[1])(numpy.array([1.0, 3.0]))
    >>> gradient, hvp(numpy.array([1.0, 0.0]))
    (array([6., 1.]), array([6., 2.]))
    """
    return _make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """Returns a function that gives the Hessian times a tensor, which is its last argument.

    >>> import numpy
    >>> hessian_tensor_product(lambda x: x[0] * x[0] * x[1])(numpy.array([1.0, 3.0]), numpy.array([1.0, 0.0]))
    array([6., 2.])
    """
    gradient = grad(fun, argnum)

    def dot_gradient(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(gradient(*rest, **kwargs), tensor, np.ndim(tensor))

    return grad(dot_gradient, argnum)


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """Returns a function that gives a tensor, which is its last argument, times the Jacobian.

    >>> import numpy
    >>> tensor_jacobian_product(lambda x: x * x)(numpy.array([1.0, 2.0]), numpy.array([1.0, 10.0]))
    array([ 2., 40.])
    """

    def dot_function(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(tensor, fun(*rest, **kwargs), np.ndim(tensor))

    return jacobian(dot_function, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Any:
    """Returns the function from tangents of an argument to those of the result, by two passes of reverse mode.

    >>> make_jvp_reversemode(lambda x: x * x)(3.0)(10.0)
    np.float64(60.0)
    """
    pull, ans = _make_vjp(fun, x)
    return _make_vjp(pull, vspace(ans).zeros())[0]


def _half_square(x: Any) -> Any:
    return 0.5 * np.sum(x * x, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_square, f_argnum: Argnum = 0) -> Function:
    """Returns a function of a point that gives the generalized Gauss-Newton products of ``g(f(x))`` there.

    Args:
      f: the inner function.
      g: the outer function, which returns a number; by default half of the square norm.
      f_argnum: the number of the argument of ``f`` to differentiate by.

    >>> import numpy
    >>> make_ggnvp(lambda x: x * x)(numpy.array([1.0, 2.0]))(numpy.ones(2))
    array([ 4., 16.])
    """

    @unary_to_nary
    def at_point(f: Function, x: Any) -> Any:
        pull, inner = _make_vjp(f, x)
        product, gradient = _make_vjp(grad(g), inner)
        push = _make_vjp(pull, vspace(gradient).zeros())[0]
        return lambda v: pull(product(push(v)))

    made: Function = at_point(f, f_argnum)
    return made


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> Any:
    """Returns a function that gives the gradient of the first result of ``fun``, and its second result as it is.

    >>> grad_and_aux(lambda x: (x * x, "a note"))(3.0)
    (np.float64(6.0), 'a note')
    """

    def number_and_aux(x: Any) -> Any:
        number, aux = fun(x)
        return as_number("grad_and_aux", number), ordered(aux)

    gradient, aux = autodiff.grad(number_and_aux, has_aux=True, allow_int=True)(as_variable(x))
    return as_result(gradient), aux


def multigrad_dict(fun: Function) -> Function:
    """Returns a function that gives the gradients by all arguments, in a dict by their names.

    >>> multigrad_dict(lambda x, y: x * y * y)(2.0, 3.0)
    {'x': np.float64(9.0), 'y': np.float64(12.0)}
    """
    signature = inspect.signature(fun)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()

        def by_name(arguments: dict[str, Any]) -> Any:
            given = inspect.BoundArguments(signature, arguments)
            return fun(*given.args, **given.kwargs)

        found = grad(by_name)(dict(bound.arguments))
        return {name: found[name] for name in bound.arguments}

    return gradients


def checkpoint[**P, R](fun: Callable[P, R]) -> Callable[P, R]:
    """Returns a function whose intermediate values are computed again in the backward pass, instead of kept.

    It is differentiated by its positional arguments, not by what it closes over. Python's control flow works.

    Source: ``autograd.checkpoint``.

    >>> grad(checkpoint(lambda x: np.sin(np.sin(x))))(0.0)
    np.float64(1.0)
    """
    wrapped = primitive(fun)
    defvjp_argnum(wrapped, lambda argnum, ans, args, kwargs: _make_vjp_of_operands(fun, argnum)(*args, **kwargs)[0])
    return wrapped
