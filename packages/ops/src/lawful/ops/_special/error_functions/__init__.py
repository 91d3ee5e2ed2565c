"""The error functions, and integrals of Gaussians made of them."""
