"""Meshes of devices, and the shardings of arrays over them."""
