"""Several processes: how they find each other, what they exchange, and a launcher of local ones."""
