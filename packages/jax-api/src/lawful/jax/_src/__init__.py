"""``jax._src``: the few internal modules of JAX that libraries import, and a refusal of all others."""

import sys as _sys
import typing as _typing

from lawful.jax._src import ad_util as ad_util
from lawful.jax._src import compiler as compiler
from lawful.jax._src import core as core
from lawful.jax._src import dispatch as dispatch
from lawful.jax._src import dtypes as dtypes
from lawful.jax._src import flatten_util as flatten_util
from lawful.jax._src import traceback_util as traceback_util
from lawful.jax._src import xla_bridge as xla_bridge


def __getattr__(name: str) -> _typing.NoReturn:
    message = (
        f"import jax._src.{name}: expected a public module of JAX that lawful.jax has, got another; "
        "docs/coming_from_jax.md lists what there is"
    )
    # ``from jax._src import name`` asks in the frames of importlib, which hide the text of an AttributeError.
    by_import = _sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap"
    raise ModuleNotFoundError(message) if by_import else AttributeError(message)
