"""`while_loop`, its primitive and its rules."""
