"""The names that `lawful.jax.scipy` looks up. Written by `python -m tools.typed_names`."""

from lawful.jax.scipy import cluster as cluster
from lawful.jax.scipy import fft as fft
from lawful.jax.scipy import integrate as integrate
from lawful.jax.scipy import interpolate as interpolate
from lawful.jax.scipy import linalg as linalg
from lawful.jax.scipy import ndimage as ndimage
from lawful.jax.scipy import optimize as optimize
from lawful.jax.scipy import signal as signal
from lawful.jax.scipy import sparse as sparse
from lawful.jax.scipy import spatial as spatial
from lawful.jax.scipy import special as special
from lawful.jax.scipy import stats as stats
