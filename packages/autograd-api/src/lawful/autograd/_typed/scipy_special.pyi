"""The names that `lawful.autograd.scipy.special` looks up. Written by `python -m tools.typed_names`."""

from collections.abc import Callable
from typing import Any

SpecialFunctionError: Any
SpecialFunctionWarning: Any
agm: Any
ai_zeros: Callable[..., Any]
airy: Any
airye: Any
assoc_laguerre: Callable[..., Any]
assoc_legendre_p: Any
assoc_legendre_p_all: Any
bdtr: Any
bdtrc: Any
bdtri: Any
bdtrik: Any
bdtrin: Any
bei: Any
bei_zeros: Callable[..., Any]
beip: Any
beip_zeros: Callable[..., Any]
ber: Any
ber_zeros: Callable[..., Any]
bernoulli: Callable[..., Any]
berp: Any
berp_zeros: Callable[..., Any]
bessel_jn: Callable[..., Any]
besselpoly: Any
beta: Callable[..., Any]
betainc: Callable[..., Any]
betaincc: Any
betainccinv: Any
betaincinv: Any
betaln: Callable[..., Any]
bi_zeros: Callable[..., Any]
binom: Any
boxcox: Callable[..., Any]
boxcox1p: Callable[..., Any]
btdtria: Any
btdtrib: Any
c_roots: Callable[..., Any]
cbrt: Any
cg_roots: Callable[..., Any]
chdtr: Any
chdtrc: Any
chdtri: Any
chdtriv: Any
chebyc: Callable[..., Any]
chebys: Callable[..., Any]
chebyt: Callable[..., Any]
chebyu: Callable[..., Any]
chndtr: Any
chndtridf: Any
chndtrinc: Any
chndtrix: Any
comb: Callable[..., Any]
cosdg: Any
cosm1: Any
cotdg: Any
dawsn: Callable[..., Any]
digamma: Callable[..., Any]
diric: Callable[..., Any]
ellip_harm: Callable[..., Any]
ellip_harm_2: Callable[..., Any]
ellip_normal: Callable[..., Any]
ellipe: Any
ellipeinc: Any
ellipj: Any
ellipk: Any
ellipkinc: Any
ellipkm1: Any
elliprc: Any
elliprd: Any
elliprf: Any
elliprg: Any
elliprj: Any
entr: Callable[..., Any]
erf: Callable[..., Any]
erf_zeros: Callable[..., Any]
erfc: Callable[..., Any]
erfcinv: Callable[..., Any]
erfcx: Callable[..., Any]
erfi: Any
erfinv: Callable[..., Any]
errstate: Any
euler: Callable[..., Any]
eval_chebyc: Any
eval_chebys: Any
eval_chebyt: Any
eval_chebyu: Any
eval_gegenbauer: Any
eval_genlaguerre: Any
eval_hermite: Any
eval_hermitenorm: Any
eval_jacobi: Any
eval_laguerre: Any
eval_legendre: Any
eval_sh_chebyt: Any
eval_sh_chebyu: Any
eval_sh_jacobi: Any
eval_sh_legendre: Any
exp1: Callable[..., Any]
exp10: Any
exp2: Any
expi: Callable[..., Any]
expit: Callable[..., Any]
expm1: Any
expn: Callable[..., Any]
exprel: Any
factorial: Callable[..., Any]
factorial2: Callable[..., Any]
factorialk: Callable[..., Any]
fdtr: Any
fdtrc: Any
fdtri: Any
fdtridfd: Any
fresnel: Callable[..., Any]
fresnel_zeros: Callable[..., Any]
fresnelc_zeros: Callable[..., Any]
fresnels_zeros: Callable[..., Any]
gamma: Callable[..., Any]
gammainc: Callable[..., Any]
gammaincc: Callable[..., Any]
gammainccinv: Any
gammaincinv: Any
gammaln: Callable[..., Any]
gammasgn: Callable[..., Any]
gdtr: Any
gdtrc: Any
gdtria: Any
gdtrib: Any
gdtrix: Any
gegenbauer: Callable[..., Any]
genlaguerre: Callable[..., Any]
geterr: Any
h1vp: Callable[..., Any]
h2vp: Callable[..., Any]
h_roots: Callable[..., Any]
hankel1: Any
hankel1e: Any
hankel2: Any
hankel2e: Any
he_roots: Callable[..., Any]
hermite: Callable[..., Any]
hermitenorm: Callable[..., Any]
huber: Any
hyp0f1: Any
hyp1f1: Callable[..., Any]
hyp2f1: Callable[..., Any]
hyperu: Any
i0: Callable[..., Any]
i0e: Callable[..., Any]
i1: Callable[..., Any]
i1e: Callable[..., Any]
inv_boxcox: Any
inv_boxcox1p: Any
it2i0k0: Any
it2j0y0: Any
it2struve0: Any
itairy: Any
iti0k0: Any
itj0y0: Any
itmodstruve0: Any
itstruve0: Any
iv: Callable[..., Any]
ive: Callable[..., Any]
ivp: Callable[..., Any]
j0: Callable[..., Any]
j1: Callable[..., Any]
j_roots: Callable[..., Any]
jacobi: Callable[..., Any]
jn: Callable[..., Any]
jn_zeros: Callable[..., Any]
jnjnp_zeros: Callable[..., Any]
jnp_zeros: Callable[..., Any]
jnyn_zeros: Callable[..., Any]
js_roots: Callable[..., Any]
jv: Callable[..., Any]
jve: Any
jvp: Callable[..., Any]
k0: Any
k0e: Any
k1: Any
k1e: Any
kei: Any
kei_zeros: Callable[..., Any]
keip: Any
keip_zeros: Callable[..., Any]
kelvin: Any
kelvin_zeros: Callable[..., Any]
ker: Any
ker_zeros: Callable[..., Any]
kerp: Any
kerp_zeros: Callable[..., Any]
kl_div: Callable[..., Any]
kn: Any
kolmogi: Any
kolmogorov: Any
kv: Callable[..., Any]
kve: Callable[..., Any]
kvp: Callable[..., Any]
l_roots: Callable[..., Any]
la_roots: Callable[..., Any]
laguerre: Callable[..., Any]
lambertw: Callable[..., Any]
legendre: Callable[..., Any]
legendre_p: Any
legendre_p_all: Any
lmbda: Callable[..., Any]
log1p: Any
log_expit: Any
log_ndtr: Callable[..., Any]
log_softmax: Callable[..., Any]
log_wright_bessel: Any
loggamma: Callable[..., Any]
logit: Callable[..., Any]
logsumexp: Callable[..., Any]
lpmv: Any
lqmn: Callable[..., Any]
lqn: Callable[..., Any]
mathieu_a: Any
mathieu_b: Any
mathieu_cem: Any
mathieu_even_coef: Callable[..., Any]
mathieu_modcem1: Any
mathieu_modcem2: Any
mathieu_modsem1: Any
mathieu_modsem2: Any
mathieu_odd_coef: Callable[..., Any]
mathieu_sem: Any
modfresnelm: Any
modfresnelp: Any
modstruve: Any
multigammaln: Callable[..., Any]
nbdtr: Any
nbdtrc: Any
nbdtri: Any
nbdtrik: Any
nbdtrin: Any
ncfdtr: Any
ncfdtri: Any
ncfdtridfd: Any
ncfdtridfn: Any
ncfdtrinc: Any
nctdtr: Any
nctdtridf: Any
nctdtrinc: Any
nctdtrit: Any
ndtr: Callable[..., Any]
ndtri: Callable[..., Any]
ndtri_exp: Any
nrdtrimn: Any
nrdtrisd: Any
obl_ang1: Any
obl_ang1_cv: Any
obl_cv: Any
obl_cv_seq: Callable[..., Any]
obl_rad1: Any
obl_rad1_cv: Any
obl_rad2: Any
obl_rad2_cv: Any
owens_t: Callable[..., Any]
p_roots: Callable[..., Any]
pbdn_seq: Callable[..., Any]
pbdv: Any
pbdv_seq: Callable[..., Any]
pbvv: Any
pbvv_seq: Callable[..., Any]
pbwa: Any
pdtr: Any
pdtrc: Any
pdtri: Any
pdtrik: Any
perm: Callable[..., Any]
poch: Callable[..., Any]
polygamma: Callable[..., Any]
powm1: Any
pro_ang1: Any
pro_ang1_cv: Any
pro_cv: Any
pro_cv_seq: Callable[..., Any]
pro_rad1: Any
pro_rad1_cv: Any
pro_rad2: Any
pro_rad2_cv: Any
ps_roots: Callable[..., Any]
pseudo_huber: Any
psi: Callable[..., Any]
radian: Any
rel_entr: Callable[..., Any]
rgamma: Callable[..., Any]
riccati_jn: Callable[..., Any]
riccati_yn: Callable[..., Any]
roots_chebyc: Callable[..., Any]
roots_chebys: Callable[..., Any]
roots_chebyt: Callable[..., Any]
roots_chebyu: Callable[..., Any]
roots_gegenbauer: Callable[..., Any]
roots_genlaguerre: Callable[..., Any]
roots_hermite: Callable[..., Any]
roots_hermitenorm: Callable[..., Any]
roots_jacobi: Callable[..., Any]
roots_laguerre: Callable[..., Any]
roots_legendre: Callable[..., Any]
roots_sh_chebyt: Callable[..., Any]
roots_sh_chebyu: Callable[..., Any]
roots_sh_jacobi: Callable[..., Any]
roots_sh_legendre: Callable[..., Any]
round: Any
s_roots: Callable[..., Any]
seterr: Any
sh_chebyt: Callable[..., Any]
sh_chebyu: Callable[..., Any]
sh_jacobi: Callable[..., Any]
sh_legendre: Callable[..., Any]
shichi: Any
sici: Callable[..., Any]
sinc: Any
sindg: Any
smirnov: Any
smirnovi: Any
softmax: Callable[..., Any]
softplus: Callable[..., Any]
spence: Callable[..., Any]
sph_harm_y: Callable[..., Any]
sph_harm_y_all: Any
sph_legendre_p: Any
sph_legendre_p_all: Any
spherical_in: Callable[..., Any]
spherical_jn: Callable[..., Any]
spherical_kn: Callable[..., Any]
spherical_yn: Callable[..., Any]
stats: Any
stdtr: Any
stdtridf: Any
stdtrit: Any
stirling2: Callable[..., Any]
struve: Any
t_roots: Callable[..., Any]
tandg: Any
tklmbda: Any
ts_roots: Callable[..., Any]
u_roots: Callable[..., Any]
us_roots: Callable[..., Any]
voigt_profile: Any
wofz: Callable[..., Any]
wright_bessel: Any
wrightomega: Any
xlog1py: Callable[..., Any]
xlogy: Callable[..., Any]
y0: Callable[..., Any]
y0_zeros: Callable[..., Any]
y1: Callable[..., Any]
y1_zeros: Callable[..., Any]
y1p_zeros: Callable[..., Any]
yn: Callable[..., Any]
yn_zeros: Callable[..., Any]
ynp_zeros: Callable[..., Any]
yv: Callable[..., Any]
yve: Any
yvp: Callable[..., Any]
zeta: Callable[..., Any]
zetac: Any
