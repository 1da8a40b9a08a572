"""Looking at tensors and graphs: printing, notebooks, pictures."""
