"""What the holes of options are filled with: of layers, of types and of optimizers; see holes.py."""

from __future__ import annotations

import contextlib

import torch

from .holes import Holes, Nothing


class OptionHoles(Holes):
    """All holes."""

    def padding(self) -> str:
        return self.rng.choice(["'zeros'", "'zeros'", "'reflect'", "'replicate'", "'circular'"])

    def padding_of(self) -> str:
        return self.rng.choice(["'constant'", "'reflect'", "'replicate'", "'circular'"])

    def padded(self) -> str:
        return self.rng.choice(["'same'", "'valid'", "1", "2"])

    def pads(self) -> str:
        return repr(tuple(self.rng.choice([0, 1, 2, -1]) for _ in range(self.rng.choice([2, 2, 4, 4, 6]))))

    def momentum(self) -> str:
        return self.rng.choice(["0.1", "None", "0.5", "1.0"])

    def scaled(self) -> str:
        return self.rng.choice(["'nearest'", "'nearest-exact'", "'bilinear'", "'bicubic'", "'area'"])

    def scaled_line(self) -> str:
        return self.rng.choice(["'nearest'", "'nearest-exact'", "'linear'", "'area'"])

    def scaled_room(self) -> str:
        return self.rng.choice(["'nearest'", "'nearest-exact'", "'trilinear'", "'area'"])

    def flag_or_none(self) -> str:
        return self.rng.choice(["True", "False", "None"])

    def sampling(self) -> str:
        return self.rng.choice(["'bilinear'", "'nearest'", "'bicubic'"])

    def outside(self) -> str:
        return self.rng.choice(["'zeros'", "'border'", "'reflection'"])

    def activation_word(self) -> str:
        return self.rng.choice(["'tanh'", "'relu'"])

    def gating(self) -> str:
        return self.rng.choice(["'relu'", "'gelu'", "lib.nn.functional.silu"])

    def side(self) -> str:
        return self.rng.choice(["'left'", "'right'"])

    def floating(self) -> str:
        return self.rng.choice(["lib.float64", "lib.float32", "None", "lib.bfloat16"])

    def all_reductions(self) -> str:
        return self.rng.choice(["'mean'", "'sum'", "'none'", "'batchmean'"])

    def qr_mode(self) -> str:
        return self.rng.choice(["'reduced'", "'complete'"])

    def uplo(self) -> str:
        return self.rng.choice(["'L'", "'U'"])

    def equation(self) -> str:
        words = ["bij,jk->bik", "bij,kj->k", "bij,ij->b", "bij,ii->bj", "...ij,jk", "bij,jk", "bii,ij->j", "bij,ij"]
        return repr(self.rng.choice(words))

    def interpolation(self) -> str:
        return self.rng.choice(["'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'"])

    def rounding(self) -> str:
        return self.rng.choice(["'floor'", "'trunc'", "None"])

    def any_dtype(self) -> str:
        kinds = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]
        return f"lib.{self.rng.choice(kinds)}"

    def sparse_function(self) -> str:
        return self.rng.choice("abs sign sin tanh floor relu expm1 asinh trunc deg2rad square neg ceil erf".split())

    def integer_function(self) -> str:
        kinds = (
            "abs() neg() sum() prod() cumsum(0) max() argmin() sort()[0] float() sign() mul(2) add(1) sub(2) double()"
        )
        more = "floor_divide(2) remainder(5) pow(2) square() diff() bitwise_not() unique() bfloat16() eq(255)"
        return self.rng.choice(f"{kinds} {more} lt(-1) div(2) clamp(-5,200) mean(dtype=lib.double)".split())

    def power(self) -> str:
        return self.rng.choice(["31", "53", "62", "63", "64"])

    def out(self) -> str:
        """What a result is written to: a tensor of the shape and dtype of {x}, or one that must grow."""
        shape, dtype, memory = self.last.shape, self.last.dtype, self.last.untyped_storage().data_ptr()

        def fits(x: torch.Tensor) -> bool:
            return x.shape == shape and x.dtype is dtype and x.untyped_storage().data_ptr() != memory

        with contextlib.suppress(Nothing):
            if self.rng.random() < 0.6:
                return self.program.one(fits)
        return f"lib.empty(0, dtype=lib.{self._dtype()})"

    def edge(self) -> str:
        return self.rng.choice(["8", "9", "10"])

    def optimizer_with_options(self) -> str:
        leaf, rate, number = f"[{self.leaf()}]", self.rate(), self.factor()
        flag, decay = self.flag(), self.rng.choice(["0", "0.1", "0.01"])
        common = f"weight_decay={decay}, maximize={flag}, foreach={self.flag()}"
        kinds = [
            f"SGD({leaf}, {rate}, {number}, {self.rng.choice(['0', number])}, {common})",
            f"SGD({leaf}, {rate}, {number}, 0, {decay}, True, maximize={flag})",
            f"Adam({leaf}, {rate}, ({number}, 0.9), 1e-4, amsgrad={self.flag()}, {common})",
            f"AdamW({leaf}, {rate}, (0.8, {number}), amsgrad={self.flag()}, {common})",
            f"Adagrad({leaf}, {rate}, {number}, initial_accumulator_value={number}, {common})",
            f"Adadelta({leaf}, {rate}, {number}, 1e-3, {common})",
            f"Adamax({leaf}, {rate}, ({number}, 0.9), 1e-3, {common})",
            f"RMSprop({leaf}, {rate}, {number}, 1e-3, momentum={number}, centered={self.flag()}, {common})",
            f"NAdam({leaf}, {rate}, momentum_decay={number}, decoupled_weight_decay={self.flag()}, {common})",
            f"RAdam({leaf}, {rate}, decoupled_weight_decay={self.flag()}, {common})",
            f"Rprop({leaf}, {rate}, (0.5, 1.2), (1e-3, {number}), maximize={flag})",
            f"ASGD({leaf}, {rate}, {number}, {number}, {self.integer()}, {common})",
            f"Adafactor({leaf}, {rate}, -0.8, weight_decay={decay}, maximize={flag})",
            f"Muon({leaf}, {rate}, {decay}, {number}, {self.flag()})",
        ]
        return self.rng.choice(kinds)
