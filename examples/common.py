"""What the examples on real data share: their options, scikit-learn's sets, pictures.

Replace `norch` by `torch` in this file and in an example, and PyTorch trains the same model.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the folder of norch, if it is not installed

import norch  # noqa: E402
from norch.utils.data import TensorDataset  # noqa: E402


def read_options(description, epochs, quick, unit="epochs"):
    """The options that every example has; `quick` is how long --quick trains, `epochs` how long it does otherwise."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    script = Path(parser.prog)
    parser.add_argument("--epochs", type=int, help=f"how long to train (default: {epochs} {unit})")
    parser.add_argument("--quick", action="store_true", help=f"a short form, which learns less: {quick} {unit}")
    parser.add_argument("--seed", type=int, default=0, help="of the split, the initial weights, the order (default: 0)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--compile", action="store_true", help="record a step once and replay it")
    parser.add_argument("--save", metavar="PATH", help="where to save the trained weights")
    parser.add_argument("--picture", metavar="PATH", default=script.with_suffix(".png").name, help="where to draw")
    parser.add_argument("--no-plot", action="store_true", help="draw nothing")
    options = parser.parse_args()
    if options.epochs is None:
        options.epochs = quick if options.quick else epochs
    if options.epochs < 1:
        parser.error(f"--epochs is {options.epochs}, expected at least 1")
    norch.manual_seed(options.seed)
    return options


def scikit_learn(module):
    """A module of scikit-learn, by its name, or the end of the program with what to install."""
    try:
        return __import__(f"sklearn.{module}", fromlist=[module])
    except ImportError:
        sys.exit('This example needs scikit-learn for its data: pip install "scikit-learn>=1.3"')


def load_classes(name, options, scale=1.0):
    """One of scikit-learn's sets of classes, as (training set, test set): four fifths of each class, and the rest.

    Inputs are float32 [N, features], divided by `scale`; labels are int64 [N].
    """
    inputs, labels = getattr(scikit_learn("datasets"), f"load_{name}")(return_X_y=True)
    split = scikit_learn("model_selection").train_test_split
    parts = split(inputs / scale, labels, test_size=0.2, stratify=labels, random_state=options.seed)
    train_x, test_x, train_y, test_y = (norch.from_numpy(part).to(options.device) for part in parts)
    return TensorDataset(train_x.float(), train_y), TensorDataset(test_x.float(), test_y)


def compiled(step, options):
    """A step of training, recorded and replayed where asked to."""
    return norch.compile(step) if options.compile else step


def finish(options, model, figure):
    """Prints the final figure with the time that the program took, and saves the weights where asked to."""
    print(f"{figure} ({time.process_time():.1f} s of processor time)")
    if options.save:
        norch.save(model.state_dict(), options.save)
        print(f"Weights: {options.save}")


def drawing(options):
    """matplotlib's pyplot; None where it is not installed or nothing is to be drawn."""
    if options.no_plot:
        return None
    try:
        import matplotlib
    except ImportError:
        print("No picture: matplotlib is not installed (pip install matplotlib).")
        return None
    matplotlib.use("Agg")  # draws into the file, without a screen
    from matplotlib import pyplot

    return pyplot


def save_picture(options, figure):
    figure.tight_layout()
    figure.savefig(options.picture)
    print(f"Picture: {options.picture}")


def draw_losses(options, losses, title, xlabel):
    """The picture of an example that has nothing else to show."""
    pyplot = drawing(options)
    if pyplot:
        figure, axes = pyplot.subplots(figsize=(5, 3))
        axes.plot(losses)
        axes.set(title=title, xlabel=xlabel, yscale="log")
        save_picture(options, figure)
