"""Functions of tensors: making, joining, random numbers, promotion, files."""
