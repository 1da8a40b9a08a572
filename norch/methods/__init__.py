"""The families of Tensor methods, one mixin class a file."""
