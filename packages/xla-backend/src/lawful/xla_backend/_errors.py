"""The errors and warnings of the XLA backend, each with its cause and its cure."""

from __future__ import annotations

from lawful.core import LawfulError


class XlaError(LawfulError, RuntimeError):
    """XLA or its runtime refused a program, or failed while it ran (out of memory, for example).

    Cause: named by the compiler's own text, which the message ends with.

    >>> from lawful.staging import jit
    >>> jit(lambda x: x + 1.0, backend="xla").lower(2.0).compile({"no_such_option": True})
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.XlaError: ...No such compile option: 'no_such_option'...
    """


class LoweringError(LawfulError, TypeError):
    """The lowering rule of a primitive built a StableHLO operation that is not well typed.

    Cure: the message names the primitive and the user's line; its rule, defined with ``def_lowering``, has to
    give values of the types in ``ctx.avals_out``.

    >>> from lawful.core import Primitive
    >>> from lawful.staging import jit
    >>> half_p = Primitive("half")
    >>> _ = half_p.def_abstract_eval(lambda x: x)
    >>> _ = half_p.def_lowering(lambda ctx, x: 0.5)
    >>> jit(half_p.bind, backend="xla")(3.0)
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.LoweringError: ...expected the rule of 'half' to give ~f64[], got 0.5; ...
    """


class DeletedArrayError(LawfulError, RuntimeError):
    """An ``Array`` was used whose memory is gone: it was donated to a compiled function, or deleted.

    Cure: use the function's result instead, donate ``x.copy()``, or leave the argument out of ``donate_argnums``.

    >>> from lawful.xla_backend import device_put
    >>> x = device_put(1.0)
    >>> x.delete()
    >>> float(x)
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.DeletedArrayError: ...
    """


class ForkedProcessError(LawfulError, RuntimeError):
    """XLA was used in a process forked from one that already used it: its threads do not live on in the child.

    Cure: start processes with ``multiprocessing.get_context("spawn")``.

    >>> from lawful.xla_backend._runtime import fork
    >>> fork.refuse()  # what a compiled function calls in the child
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.ForkedProcessError: ...expected a process that started afresh, got one forked ...
    """


class RuntimeStartedError(LawfulError, RuntimeError):
    """The number of CPU devices was set, or other processes joined, after devices were first used.

    Cure: call ``set_cpu_device_count`` and ``initialize`` at the start of the program, or set ``LAWFUL_CPU_DEVICES``.

    >>> from lawful.xla_backend import devices, set_cpu_device_count
    >>> _ = devices("cpu")
    >>> set_cpu_device_count(4)
    Traceback (most recent call last):
        ...
    lawful.xla_backend._errors.RuntimeStartedError: ...
    """


class PluginWarning(UserWarning):
    """There is a device, such as one of NVIDIA's, and the plugin for it cannot be used: programs run on the CPU.

    Cause: the plugin is for another version of jaxlib. Cure: the message says which version to install.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", PluginWarning)  # what a program does that is for the CPU in any case
    ...     from lawful.xla_backend import devices
    ...
    ...     devices("cpu")[0].platform
    'cpu'
    """


class CompilationCacheWarning(UserWarning):
    """A program was compiled although a folder of compiled programs is in use, or it was not stored there.

    Cause: a file of the folder is damaged or of something else, or the folder cannot be read or written; the message
    names it. It is told once. Cure: what the message says; the program itself is right in any case.

    >>> import tempfile, warnings
    >>> from lawful.staging import jit
    >>> from lawful.xla_backend import set_cache_dir
    >>> with tempfile.NamedTemporaryFile() as file, warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     set_cache_dir(file.name)  # a file, and no folder
    ...     _ = jit(lambda x: x * 2.0, backend="xla")(3.0)
    >>> [each.category.__name__ for each in caught]
    ['CompilationCacheWarning']
    >>> set_cache_dir(None)
    """
