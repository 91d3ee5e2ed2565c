"""The names that `lawful.jax.numpy` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.jax._support.numpy.scalar_types import bfloat16 as bfloat16
from lawful.jax._support.numpy.scalar_types import bool_ as bool_
from lawful.jax._support.numpy.scalar_types import cdouble as cdouble
from lawful.jax._support.numpy.scalar_types import complex_ as complex_
from lawful.jax._support.numpy.scalar_types import csingle as csingle
from lawful.jax._support.numpy.scalar_types import double as double
from lawful.jax._support.numpy.scalar_types import float_ as float_
from lawful.jax._support.numpy.scalar_types import int_ as int_
from lawful.jax._support.numpy.scalar_types import single as single
from lawful.jax._support.numpy.scalar_types import uint as uint
from lawful.jax.numpy import fft as fft
from lawful.jax.numpy import linalg as linalg
from ml_dtypes import float4_e2m1fn as float4_e2m1fn
from ml_dtypes import float6_e2m3fn as float6_e2m3fn
from ml_dtypes import float6_e3m2fn as float6_e3m2fn
from ml_dtypes import float8_e3m4 as float8_e3m4
from ml_dtypes import float8_e4m3 as float8_e4m3
from ml_dtypes import float8_e4m3b11fnuz as float8_e4m3b11fnuz
from ml_dtypes import float8_e4m3fn as float8_e4m3fn
from ml_dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from ml_dtypes import float8_e5m2 as float8_e5m2
from ml_dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from ml_dtypes import float8_e8m0fnu as float8_e8m0fnu
from ml_dtypes import int1 as int1
from ml_dtypes import uint1 as uint1
from numpy import character as character
from numpy import complexfloating as complexfloating
from numpy import dtype as dtype
from numpy import flexible as flexible
from numpy import floating as floating
from numpy import generic as generic
from numpy import inexact as inexact
from numpy import integer as integer
from numpy import number as number
from numpy import object_ as object_
from numpy import signedinteger as signedinteger
from numpy import unsignedinteger as unsignedinteger

abs: Callable[..., Any]
absolute: Callable[..., Any]
acos: Callable[..., Any]
acosh: Callable[..., Any]
add: Any
all: Callable[..., Any]
allclose: Callable[..., Any]
amax: Callable[..., Any]
amin: Callable[..., Any]
angle: Callable[..., Any]
any: Callable[..., Any]
append: Callable[..., Any]
apply_along_axis: Callable[..., Any]
apply_over_axes: Callable[..., Any]
arange: Callable[..., Any]
arccos: Callable[..., Any]
arccosh: Callable[..., Any]
arcsin: Callable[..., Any]
arcsinh: Callable[..., Any]
arctan: Callable[..., Any]
arctan2: Callable[..., Any]
arctanh: Callable[..., Any]
argmax: Callable[..., Any]
argmin: Callable[..., Any]
argpartition: Callable[..., Any]
argsort: Callable[..., Any]
argwhere: Callable[..., Any]
around: Callable[..., Any]
array: Callable[..., Any]
array_equal: Callable[..., Any]
array_equiv: Callable[..., Any]
array_repr: Callable[..., Any]
array_split: Callable[..., Any]
array_str: Callable[..., Any]
asarray: Callable[..., Any]
asin: Callable[..., Any]
asinh: Callable[..., Any]
astype: Callable[..., Any]
atan: Callable[..., Any]
atan2: Callable[..., Any]
atanh: Callable[..., Any]
atleast_1d: Callable[..., Any]
atleast_2d: Callable[..., Any]
atleast_3d: Callable[..., Any]
average: Callable[..., Any]
bartlett: Callable[..., Any]
bincount: Callable[..., Any]
bitwise_and: Any
bitwise_count: Callable[..., Any]
bitwise_invert: Callable[..., Any]
bitwise_left_shift: Callable[..., Any]
bitwise_not: Callable[..., Any]
bitwise_or: Any
bitwise_right_shift: Callable[..., Any]
bitwise_xor: Any
blackman: Callable[..., Any]
block: Callable[..., Any]
bool: Any
broadcast_arrays: Callable[..., Any]
broadcast_shapes: Callable[..., Any]
broadcast_to: Callable[..., Any]
c_: Any
can_cast: Callable[..., Any]
cbrt: Callable[..., Any]
ceil: Callable[..., Any]
choose: Callable[..., Any]
clip: Callable[..., Any]
column_stack: Callable[..., Any]
complex128: Any
complex64: Any
compress: Callable[..., Any]
concat: Callable[..., Any]
concatenate: Callable[..., Any]
conj: Callable[..., Any]
conjugate: Callable[..., Any]
convolve: Callable[..., Any]
copy: Callable[..., Any]
copysign: Callable[..., Any]
corrcoef: Callable[..., Any]
correlate: Callable[..., Any]
cos: Callable[..., Any]
cosh: Callable[..., Any]
count_nonzero: Callable[..., Any]
cov: Callable[..., Any]
cross: Callable[..., Any]
cumprod: Callable[..., Any]
cumsum: Callable[..., Any]
cumulative_prod: Callable[..., Any]
cumulative_sum: Callable[..., Any]
deg2rad: Callable[..., Any]
degrees: Callable[..., Any]
delete: Callable[..., Any]
diag: Callable[..., Any]
diag_indices: Callable[..., Any]
diag_indices_from: Callable[..., Any]
diagflat: Callable[..., Any]
diagonal: Callable[..., Any]
diff: Callable[..., Any]
digitize: Callable[..., Any]
divide: Callable[..., Any]
divmod: Callable[..., Any]
dot: Callable[..., Any]
dsplit: Callable[..., Any]
dstack: Callable[..., Any]
e: Any
ediff1d: Callable[..., Any]
einsum: Callable[..., Any]
einsum_path: Callable[..., Any]
empty: Callable[..., Any]
empty_like: Callable[..., Any]
equal: Callable[..., Any]
euler_gamma: Any
exp: Callable[..., Any]
exp2: Callable[..., Any]
expand_dims: Callable[..., Any]
expm1: Callable[..., Any]
extract: Callable[..., Any]
eye: Callable[..., Any]
fabs: Callable[..., Any]
fill_diagonal: Callable[..., Any]
finfo: Callable[..., Any]
flatnonzero: Callable[..., Any]
flip: Callable[..., Any]
fliplr: Callable[..., Any]
flipud: Callable[..., Any]
float16: Any
float32: Any
float64: Any
float_power: Callable[..., Any]
floor: Callable[..., Any]
floor_divide: Callable[..., Any]
fmax: Callable[..., Any]
fmin: Callable[..., Any]
fmod: Callable[..., Any]
frexp: Callable[..., Any]
from_dlpack: Callable[..., Any]
frombuffer: Callable[..., Any]
fromfile: Callable[..., Any]
fromfunction: Callable[..., Any]
fromiter: Callable[..., Any]
fromstring: Callable[..., Any]
full: Callable[..., Any]
full_like: Callable[..., Any]
gcd: Callable[..., Any]
geomspace: Callable[..., Any]
get_printoptions: Callable[..., Any]
gradient: Callable[..., Any]
greater: Callable[..., Any]
greater_equal: Callable[..., Any]
hamming: Callable[..., Any]
hanning: Callable[..., Any]
heaviside: Callable[..., Any]
histogram: Callable[..., Any]
histogram2d: Callable[..., Any]
histogram_bin_edges: Callable[..., Any]
histogramdd: Callable[..., Any]
hsplit: Callable[..., Any]
hstack: Callable[..., Any]
hypot: Callable[..., Any]
i0: Callable[..., Any]
identity: Callable[..., Any]
iinfo: Callable[..., Any]
imag: Callable[..., Any]
index_exp: Any
indices: Callable[..., Any]
inf: Any
inner: Callable[..., Any]
insert: Callable[..., Any]
int16: Any
int2: Any
int32: Any
int4: Any
int64: Any
int8: Any
interp: Callable[..., Any]
intersect1d: Callable[..., Any]
invert: Callable[..., Any]
isclose: Callable[..., Any]
iscomplex: Callable[..., Any]
iscomplexobj: Callable[..., Any]
isdtype: Callable[..., Any]
isfinite: Callable[..., Any]
isin: Callable[..., Any]
isinf: Callable[..., Any]
isnan: Callable[..., Any]
isneginf: Callable[..., Any]
isposinf: Callable[..., Any]
isreal: Callable[..., Any]
isrealobj: Callable[..., Any]
isscalar: Callable[..., Any]
issubdtype: Callable[..., Any]
iterable: Callable[..., Any]
ix_: Callable[..., Any]
kaiser: Callable[..., Any]
kron: Callable[..., Any]
lcm: Callable[..., Any]
ldexp: Callable[..., Any]
left_shift: Callable[..., Any]
less: Callable[..., Any]
less_equal: Callable[..., Any]
lexsort: Callable[..., Any]
linspace: Callable[..., Any]
load: Callable[..., Any]
log: Callable[..., Any]
log10: Callable[..., Any]
log1p: Callable[..., Any]
log2: Callable[..., Any]
logaddexp: Any
logaddexp2: Any
logical_and: Any
logical_not: Callable[..., Any]
logical_or: Any
logical_xor: Any
logspace: Callable[..., Any]
mask_indices: Callable[..., Any]
matmul: Callable[..., Any]
matrix_transpose: Callable[..., Any]
matvec: Callable[..., Any]
max: Callable[..., Any]
maximum: Any
mean: Callable[..., Any]
median: Callable[..., Any]
meshgrid: Callable[..., Any]
mgrid: Any
min: Callable[..., Any]
minimum: Any
minmax: Callable[..., Any]
mod: Callable[..., Any]
modf: Callable[..., Any]
moveaxis: Callable[..., Any]
multiply: Any
nan: Any
nan_to_num: Callable[..., Any]
nanargmax: Callable[..., Any]
nanargmin: Callable[..., Any]
nancumprod: Callable[..., Any]
nancumsum: Callable[..., Any]
nanmax: Callable[..., Any]
nanmean: Callable[..., Any]
nanmedian: Callable[..., Any]
nanmin: Callable[..., Any]
nanpercentile: Callable[..., Any]
nanprod: Callable[..., Any]
nanquantile: Callable[..., Any]
nanstd: Callable[..., Any]
nansum: Callable[..., Any]
nanvar: Callable[..., Any]
ndim: Callable[..., Any]
negative: Any
nextafter: Callable[..., Any]
nonzero: Callable[..., Any]
not_equal: Callable[..., Any]
ogrid: Any
ones: Callable[..., Any]
ones_like: Callable[..., Any]
outer: Callable[..., Any]
packbits: Callable[..., Any]
pad: Callable[..., Any]
partition: Callable[..., Any]
percentile: Callable[..., Any]
permute_dims: Callable[..., Any]
pi: Any
piecewise: Callable[..., Any]
place: Callable[..., Any]
poly: Callable[..., Any]
polyadd: Callable[..., Any]
polyder: Callable[..., Any]
polydiv: Callable[..., Any]
polyfit: Callable[..., Any]
polyint: Callable[..., Any]
polymul: Callable[..., Any]
polysub: Callable[..., Any]
polyval: Callable[..., Any]
positive: Callable[..., Any]
pow: Callable[..., Any]
power: Callable[..., Any]
printoptions: Callable[..., Any]
prod: Callable[..., Any]
promote_types: Callable[..., Any]
ptp: Callable[..., Any]
put: Callable[..., Any]
put_along_axis: Callable[..., Any]
quantile: Callable[..., Any]
r_: Any
rad2deg: Callable[..., Any]
radians: Callable[..., Any]
ravel: Callable[..., Any]
ravel_multi_index: Callable[..., Any]
real: Callable[..., Any]
reciprocal: Callable[..., Any]
remainder: Callable[..., Any]
repeat: Callable[..., Any]
reshape: Callable[..., Any]
resize: Callable[..., Any]
result_type: Callable[..., Any]
right_shift: Callable[..., Any]
rint: Callable[..., Any]
roll: Callable[..., Any]
rollaxis: Callable[..., Any]
roots: Callable[..., Any]
rot90: Callable[..., Any]
round: Callable[..., Any]
s_: Any
save: Callable[..., Any]
savez: Callable[..., Any]
searchsorted: Callable[..., Any]
select: Callable[..., Any]
set_printoptions: Callable[..., Any]
setdiff1d: Callable[..., Any]
setxor1d: Callable[..., Any]
shape: Callable[..., Any]
sign: Callable[..., Any]
signbit: Callable[..., Any]
sin: Callable[..., Any]
sinc: Callable[..., Any]
sinh: Callable[..., Any]
size: Callable[..., Any]
sort: Callable[..., Any]
sort_complex: Callable[..., Any]
spacing: Callable[..., Any]
split: Callable[..., Any]
sqrt: Callable[..., Any]
square: Callable[..., Any]
squeeze: Callable[..., Any]
stack: Callable[..., Any]
std: Callable[..., Any]
subtract: Any
sum: Callable[..., Any]
swapaxes: Callable[..., Any]
take: Callable[..., Any]
take_along_axis: Callable[..., Any]
tan: Callable[..., Any]
tanh: Callable[..., Any]
tensordot: Callable[..., Any]
tile: Callable[..., Any]
top_k: Callable[..., Any]
trace: Callable[..., Any]
transpose: Callable[..., Any]
trapezoid: Callable[..., Any]
tri: Callable[..., Any]
tril: Callable[..., Any]
tril_indices: Callable[..., Any]
tril_indices_from: Callable[..., Any]
trim_zeros: Callable[..., Any]
triu: Callable[..., Any]
triu_indices: Callable[..., Any]
triu_indices_from: Callable[..., Any]
true_divide: Callable[..., Any]
trunc: Callable[..., Any]
uint16: Any
uint2: Any
uint32: Any
uint4: Any
uint64: Any
uint8: Any
union1d: Callable[..., Any]
unique: Callable[..., Any]
unique_all: Callable[..., Any]
unique_counts: Callable[..., Any]
unique_inverse: Callable[..., Any]
unique_values: Callable[..., Any]
unpackbits: Callable[..., Any]
unravel_index: Callable[..., Any]
unstack: Callable[..., Any]
unwrap: Callable[..., Any]
vander: Callable[..., Any]
var: Callable[..., Any]
vdot: Callable[..., Any]
vecdot: Callable[..., Any]
vecmat: Callable[..., Any]
vectorize: Callable[..., Any]
vsplit: Callable[..., Any]
vstack: Callable[..., Any]
where: Callable[..., Any]
zeros: Callable[..., Any]
zeros_like: Callable[..., Any]
