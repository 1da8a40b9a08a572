"""The embeddings, under the path that PyTorch gives them."""

from .embedding import *  # noqa: F403
