"""Handwritten digits by convolutions, on scikit-learn's 1,797 images of 8x8.

    python examples/digits_cnn.py

99.7% of the test images are named rightly after 6 s on 2 cores; the same in torch: 99.2%.
"""

from __future__ import annotations

from common import compiled, drawing, finish, load_classes, read_options, save_picture

import norch
from norch import nn, optim
from norch.utils.data import DataLoader


class Network(nn.Module):
    """Two convolutions for 8x8, one for 4x4, and a linear layer for what is left."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            *block(1, 16), *block(16, 32), nn.MaxPool2d(2), nn.Dropout2d(0.1), *block(32, 64), nn.AdaptiveAvgPool2d(2)
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(4 * 64, 10))

    def forward(self, rows):
        """Rows [N, 64] to scores of the ten classes [N, 10]."""
        return self.classifier(self.features(rows.reshape(-1, 1, 8, 8)))


def block(channels_in, channels_out):
    """The layers of a convolution that keeps the size of its image."""
    return nn.Conv2d(channels_in, channels_out, 3, padding=1, bias=False), nn.BatchNorm2d(channels_out), nn.ReLU()


def training_step(model, optimizer):
    """The function that learns from a batch and returns its loss."""

    def step(images, labels):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def train(step, model, loader, scheduler):
    """One epoch; returns the mean loss."""
    model.train()
    total = 0.0
    for images, labels in loader:
        loss = step(images, labels)
        scheduler.step()
        total += loss.item() * len(labels)
    return total / len(loader.dataset)


def test(model, dataset):
    """The share of images that the model names rightly, and the probability that it gives to each right name."""
    model.eval()
    images, labels = dataset.tensors
    with norch.no_grad():
        scores = model(images)
    right = scores.softmax(1).gather(1, labels.unsqueeze(1)).squeeze(1)
    return (scores.argmax(1) == labels).float().mean().item(), right


def draw(pyplot, options, dataset, right, losses):
    """The loss of each epoch, and the test images that were the hardest."""
    images, labels = (tensor.cpu() for tensor in dataset.tensors)
    figure, axes = pyplot.subplots(1, 6, figsize=(12, 2.4))
    axes[0].plot(losses)
    axes[0].set(title="Loss", xlabel="epoch", yscale="log")
    for axis, i in zip(axes[1:], right.argsort().tolist()):
        axis.axis("off")
        axis.imshow(images[i].reshape(8, 8).tolist(), cmap="gray_r")
        axis.set_title(f"a {int(labels[i])}: {float(right[i]):.0%}")
    save_picture(options, figure)


def main():
    options = read_options(__doc__, epochs=20, quick=2)
    train_set, test_set = load_classes("digits", options, scale=16)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = Network().to(options.device)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, epochs=options.epochs, steps_per_epoch=len(loader))
    step = compiled(training_step(model, optimizer), options)

    losses = []
    for epoch in range(options.epochs):
        losses.append(train(step, model, loader, scheduler))
        if (epoch + 1) % max(1, options.epochs // 5) == 0:
            print(f"Epoch {epoch + 1}: loss {losses[-1]:.4f}, test accuracy {test(model, test_set)[0]:.2%}")

    accuracy, right = test(model, test_set)
    finish(options, model, f"Test accuracy: {accuracy:.2%}")
    pyplot = drawing(options)
    if pyplot:
        draw(pyplot, options, test_set, right, losses)


if __name__ == "__main__":
    main()
