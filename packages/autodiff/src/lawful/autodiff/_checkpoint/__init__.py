"""``checkpoint``: its primitive, the division of programs for it, and the residuals that reverse mode saves."""
