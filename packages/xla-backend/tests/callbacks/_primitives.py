"""Primitives that call a Python function, with and without an effect."""

from lawful.core import Primitive

python_p = Primitive("test_python", multiple_results=True)
python_p.def_lowering(lambda ctx, *args, function: ctx.callback(function, args))
effect_p = Primitive("test_effect", multiple_results=True, effectful=True)
effect_p.def_lowering(lambda ctx, *args, function: ctx.callback(function, args))


def noting(log, label):
    return lambda *xs: log.append((label, *map(float, xs))) or []
