"""The names that `lawful.autograd.numpy` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

from lawful.autograd.numpy import fft as fft
from lawful.autograd.numpy import linalg as linalg
from lawful.autograd.numpy import numpy_boxes as numpy_boxes
from lawful.autograd.numpy import numpy_vjps as numpy_vjps
from lawful.autograd.numpy import numpy_vspaces as numpy_vspaces
from lawful.autograd.numpy import random as random
from numpy import bool as bool
from numpy import bool_ as bool_
from numpy import broadcast as broadcast
from numpy import busdaycalendar as busdaycalendar
from numpy import byte as byte
from numpy import bytes_ as bytes_
from numpy import cdouble as cdouble
from numpy import character as character
from numpy import clongdouble as clongdouble
from numpy import complex128 as complex128
from numpy import complex256 as complex256
from numpy import complex64 as complex64
from numpy import complexfloating as complexfloating
from numpy import csingle as csingle
from numpy import datetime64 as datetime64
from numpy import double as double
from numpy import dtype as dtype
from numpy import errstate as errstate
from numpy import finfo as finfo
from numpy import flatiter as flatiter
from numpy import flexible as flexible
from numpy import float128 as float128
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import floating as floating
from numpy import generic as generic
from numpy import half as half
from numpy import iinfo as iinfo
from numpy import inexact as inexact
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
from numpy import intp as intp
from numpy import long as long
from numpy import longdouble as longdouble
from numpy import longlong as longlong
from numpy import matrix as matrix
from numpy import memmap as memmap
from numpy import ndarray as ndarray
from numpy import ndenumerate as ndenumerate
from numpy import ndindex as ndindex
from numpy import nditer as nditer
from numpy import number as number
from numpy import object_ as object_
from numpy import poly1d as poly1d
from numpy import recarray as recarray
from numpy import record as record
from numpy import short as short
from numpy import signedinteger as signedinteger
from numpy import single as single
from numpy import str_ as str_
from numpy import timedelta64 as timedelta64
from numpy import ubyte as ubyte
from numpy import ufunc as ufunc
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from numpy import unsignedinteger as unsignedinteger
from numpy import ushort as ushort
from numpy import void as void

False_: Any
ScalarType: Any
True_: Any
abs: Callable[..., Any]
absolute: Callable[..., Any]
acos: Callable[..., Any]
acosh: Callable[..., Any]
add: Callable[..., Any]
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
array2string: Any
array_equal: Callable[..., Any]
array_equiv: Callable[..., Any]
array_repr: Any
array_split: Callable[..., Any]
array_str: Any
asanyarray: Callable[..., Any]
asarray_chkfinite: Callable[..., Any]
ascontiguousarray: Callable[..., Any]
asfortranarray: Callable[..., Any]
asin: Callable[..., Any]
asinh: Callable[..., Any]
asmatrix: Callable[..., Any]
astype: Callable[..., Any]
atan: Callable[..., Any]
atan2: Callable[..., Any]
atanh: Callable[..., Any]
atleast_1d: Callable[..., Any]
atleast_2d: Callable[..., Any]
atleast_3d: Callable[..., Any]
average: Callable[..., Any]
bartlett: Callable[..., Any]
base_repr: Callable[..., Any]
binary_repr: Callable[..., Any]
bincount: Callable[..., Any]
bitwise_and: Callable[..., Any]
bitwise_count: Callable[..., Any]
bitwise_invert: Callable[..., Any]
bitwise_left_shift: Callable[..., Any]
bitwise_not: Callable[..., Any]
bitwise_or: Callable[..., Any]
bitwise_right_shift: Callable[..., Any]
bitwise_xor: Callable[..., Any]
blackman: Callable[..., Any]
block: Callable[..., Any]
bmat: Callable[..., Any]
broadcast_arrays: Callable[..., Any]
broadcast_shapes: Callable[..., Any]
broadcast_to: Callable[..., Any]
busday_count: Any
busday_offset: Any
can_cast: Callable[..., Any]
cbrt: Callable[..., Any]
ceil: Callable[..., Any]
char: Any
choose: Callable[..., Any]
clip: Callable[..., Any]
column_stack: Callable[..., Any]
common_type: Callable[..., Any]
compress: Callable[..., Any]
concat: Callable[..., Any]
concatenate: Callable[..., Any]
conj: Callable[..., Any]
conjugate: Callable[..., Any]
convolve: Callable[..., Any]
copy: Callable[..., Any]
copysign: Callable[..., Any]
copyto: Any
core: Any
corrcoef: Callable[..., Any]
correlate: Callable[..., Any]
cos: Callable[..., Any]
cosh: Callable[..., Any]
count_nonzero: Callable[..., Any]
cov: Callable[..., Any]
cross: Callable[..., Any]
ctypeslib: Any
cumprod: Callable[..., Any]
cumsum: Callable[..., Any]
cumulative_prod: Callable[..., Any]
cumulative_sum: Callable[..., Any]
datetime_as_string: Any
datetime_data: Callable[..., Any]
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
dtypes: Any
e: Any
ediff1d: Callable[..., Any]
einsum: Callable[..., Any]
einsum_path: Callable[..., Any]
emath: Any
empty: Callable[..., Any]
empty_like: Callable[..., Any]
equal: Callable[..., Any]
euler_gamma: Any
exceptions: Any
exp: Callable[..., Any]
exp2: Callable[..., Any]
expand_dims: Callable[..., Any]
expm1: Callable[..., Any]
extract: Callable[..., Any]
eye: Callable[..., Any]
f2py: Any
fabs: Callable[..., Any]
fill_diagonal: Callable[..., Any]
fix: Callable[..., Any]
flatnonzero: Callable[..., Any]
flip: Callable[..., Any]
fliplr: Callable[..., Any]
flipud: Callable[..., Any]
float_power: Callable[..., Any]
floor: Callable[..., Any]
floor_divide: Callable[..., Any]
fmax: Callable[..., Any]
fmin: Callable[..., Any]
fmod: Callable[..., Any]
format_float_positional: Callable[..., Any]
format_float_scientific: Callable[..., Any]
frexp: Callable[..., Any]
from_dlpack: Callable[..., Any]
frombuffer: Callable[..., Any]
fromfile: Callable[..., Any]
fromfunction: Callable[..., Any]
fromiter: Callable[..., Any]
frompyfunc: Callable[..., Any]
fromregex: Callable[..., Any]
fromstring: Callable[..., Any]
full: Callable[..., Any]
full_like: Callable[..., Any]
gcd: Callable[..., Any]
genfromtxt: Callable[..., Any]
geomspace: Callable[..., Any]
get_include: Callable[..., Any]
get_printoptions: Callable[..., Any]
getbufsize: Callable[..., Any]
geterr: Callable[..., Any]
geterrcall: Callable[..., Any]
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
imag: Callable[..., Any]
index_exp: Any
indices: Callable[..., Any]
inf: Any
info: Callable[..., Any]
inner: Callable[..., Any]
insert: Callable[..., Any]
interp: Callable[..., Any]
intersect1d: Callable[..., Any]
invert: Callable[..., Any]
is_busday: Any
isclose: Callable[..., Any]
iscomplex: Callable[..., Any]
iscomplexobj: Callable[..., Any]
isdtype: Callable[..., Any]
isfinite: Callable[..., Any]
isfortran: Callable[..., Any]
isin: Callable[..., Any]
isinf: Callable[..., Any]
isnan: Callable[..., Any]
isnat: Any
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
lib: Any
linspace: Callable[..., Any]
little_endian: Any
load: Callable[..., Any]
loadtxt: Callable[..., Any]
log: Callable[..., Any]
log10: Callable[..., Any]
log1p: Callable[..., Any]
log2: Callable[..., Any]
logaddexp: Callable[..., Any]
logaddexp2: Callable[..., Any]
logical_and: Callable[..., Any]
logical_not: Callable[..., Any]
logical_or: Callable[..., Any]
logical_xor: Callable[..., Any]
logspace: Callable[..., Any]
ma: Any
mask_indices: Callable[..., Any]
matmul: Callable[..., Any]
matrix_transpose: Callable[..., Any]
matvec: Callable[..., Any]
max: Callable[..., Any]
maximum: Callable[..., Any]
may_share_memory: Any
mean: Callable[..., Any]
median: Callable[..., Any]
meshgrid: Callable[..., Any]
mgrid: Any
min: Callable[..., Any]
min_scalar_type: Any
minimum: Callable[..., Any]
mintypecode: Callable[..., Any]
mod: Callable[..., Any]
modf: Callable[..., Any]
moveaxis: Callable[..., Any]
multiply: Callable[..., Any]
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
negative: Callable[..., Any]
nested_iters: Callable[..., Any]
newaxis: Any
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
polynomial: Any
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
putmask: Any
quantile: Callable[..., Any]
rad2deg: Callable[..., Any]
radians: Callable[..., Any]
ravel: Callable[..., Any]
ravel_multi_index: Callable[..., Any]
real: Callable[..., Any]
real_if_close: Callable[..., Any]
rec: Any
reciprocal: Callable[..., Any]
remainder: Callable[..., Any]
repeat: Callable[..., Any]
require: Callable[..., Any]
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
row_stack: Callable[..., Any]
s_: Any
save: Any
savetxt: Any
savez: Any
savez_compressed: Any
sctypeDict: Any
searchsorted: Callable[..., Any]
select: Callable[..., Any]
set_printoptions: Callable[..., Any]
setbufsize: Callable[..., Any]
setdiff1d: Callable[..., Any]
seterr: Callable[..., Any]
seterrcall: Callable[..., Any]
setxor1d: Callable[..., Any]
shape: Callable[..., Any]
shares_memory: Any
show_config: Callable[..., Any]
show_runtime: Callable[..., Any]
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
strings: Any
subtract: Callable[..., Any]
sum: Callable[..., Any]
swapaxes: Callable[..., Any]
take: Callable[..., Any]
take_along_axis: Callable[..., Any]
tan: Callable[..., Any]
tanh: Callable[..., Any]
tensordot: Callable[..., Any]
test: Any
testing: Any
tile: Callable[..., Any]
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
typecodes: Any
typename: Callable[..., Any]
typing: Any
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
vsplit: Callable[..., Any]
vstack: Callable[..., Any]
zeros: Callable[..., Any]
zeros_like: Callable[..., Any]
