"""Images made of images: segmentation, super-resolution, denoising, style transfer."""

from copy import deepcopy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


def pictures(n, c, size, seed=0):
    return torch.tensor(np.random.RandomState(seed).rand(n, c, size, size), dtype=torch.float32)


def unet(start):
    class DoubleConv(nn.Sequential):
        def __init__(self, i, o):
            super().__init__(
                nn.Conv2d(i, o, 3, padding=1),
                nn.BatchNorm2d(o),
                nn.ReLU(inplace=True),
                nn.Conv2d(o, o, 3, padding="same"),
            )

    class UNet(nn.Module):
        def __init__(self, bilinear):
            super().__init__()
            self.down1, self.down2 = DoubleConv(1, 4), DoubleConv(4, 8)
            self.maxpool = nn.MaxPool2d(2)
            self.up = (
                nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
                if bilinear
                else nn.ConvTranspose2d(8, 8, kernel_size=2, stride=2)
            )
            self.conv = DoubleConv(12, 4)
            self.out = nn.Conv2d(4, 1, 1)

        def forward(self, x):
            x1 = self.down1(x)
            x2 = self.up(self.down2(self.maxpool(x1)))
            diffY, diffX = x1.size()[2] - x2.size()[2], x1.size()[3] - x2.size()[3]
            x2 = F.pad(x2, [diffX // 2, diffX - diffX // 2, diffY // 2, diffY - diffY // 2])
            return self.out(self.conv(torch.cat([x1, x2], dim=1)))

    def dice_loss(inputs, target, eps=1e-6):
        inputs = torch.sigmoid(inputs)
        inter = 2 * (inputs * target).sum(dim=(-1, -2))
        sets_sum = inputs.sum(dim=(-1, -2)) + target.sum(dim=(-1, -2))
        sets_sum = torch.where(sets_sum == 0, inter, sets_sum)
        return 1 - ((inter + eps) / (sets_sum + eps)).mean()

    x = pictures(3, 1, 13)
    masks = (x > 0.5).float()
    losses = []
    for bilinear in (False, True):
        model = start(UNet(bilinear))
        optimizer = optim.RMSprop(model.parameters(), lr=1e-3, weight_decay=1e-8, momentum=0.9, foreach=True)
        criterion = nn.BCEWithLogitsLoss()
        for _ in range(3):
            pred = model(x)
            loss = criterion(pred.squeeze(1), masks.squeeze(1)) + dice_loss(pred, masks)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def super_resolution(start):
    class Net(nn.Module):
        def __init__(self, upscale_factor):
            super().__init__()
            self.relu = nn.ReLU()
            self.conv1 = nn.Conv2d(1, 8, (5, 5), (1, 1), (2, 2))
            self.conv2 = nn.Conv2d(8, upscale_factor**2, (3, 3), (1, 1), (1, 1))
            self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
            self._initialize_weights()

        def forward(self, x):
            return self.pixel_shuffle(self.conv2(self.relu(self.conv1(x))))

        def _initialize_weights(self):
            nn.init.orthogonal_(self.conv1.weight, nn.init.calculate_gain("relu"))
            nn.init.orthogonal_(self.conv2.weight)

    model = start(Net(upscale_factor=2))
    x = pictures(2, 1, 8)
    target = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    losses, epoch_loss = [], 0
    for _ in range(6):
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(x), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
        losses.append(10 * np.log10(1 / loss.item()))
    return losses + [epoch_loss]


def autoencoder_denoising(start):
    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(True), nn.Conv2d(4, 8, 7))
            self.decoder = nn.Sequential(
                nn.ConvTranspose2d(8, 4, 7),
                nn.ReLU(True),
                nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1),
                nn.Sigmoid(),
            )

        def forward(self, x):
            return self.decoder(self.encoder(x))

    model = start(Autoencoder())
    x = pictures(4, 1, 28)
    noisy = (x + 0.3 * torch.tensor(np.random.RandomState(1).randn(4, 1, 28, 28)).float()).clamp_(0.0, 1.0)
    optimizer = optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
    losses = []
    for _ in range(5):
        recon = model(noisy)
        loss = nn.functional.binary_cross_entropy(recon, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def style_transfer(start):
    class ContentLoss(nn.Module):
        def __init__(self, target):
            super().__init__()
            self.target = target.detach()

        def forward(self, input):
            self.loss = F.mse_loss(input, self.target)
            return input

    def gram_matrix(input):
        a, b, c, d = input.size()
        features = input.view(a * b, c * d)
        G = torch.mm(features, features.t())
        return G.div(a * b * c * d)

    class StyleLoss(nn.Module):
        def __init__(self, target_feature):
            super().__init__()
            self.target = gram_matrix(target_feature).detach()

        def forward(self, input):
            self.loss = F.mse_loss(gram_matrix(input), self.target)
            return input

    class Normalization(nn.Module):
        def __init__(self, mean, std):
            super().__init__()
            self.mean, self.std = mean.clone().detach().view(-1, 1, 1), std.clone().detach().view(-1, 1, 1)

        def forward(self, img):
            return (img - self.mean) / self.std

    cnn = start(nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 8, 3, padding=1))).eval()
    content = pictures(1, 3, 8, seed=1)
    style = pictures(1, 3, 8, seed=2)
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    model = nn.Sequential(Normalization(mean, std))
    style_losses, content_losses = [], []
    i = 0
    for layer in deepcopy(cnn).children():
        if isinstance(layer, nn.Conv2d):
            i += 1
            name = f"conv_{i}"
        elif isinstance(layer, nn.ReLU):
            name = f"relu_{i}"
            layer = nn.ReLU(inplace=False)
        model.add_module(name, layer)
        if name == "conv_2":
            content_losses.append(ContentLoss(model(content).detach()))
            model.add_module("content_loss", content_losses[-1])
            style_losses.append(StyleLoss(model(style).detach()))
            model.add_module("style_loss", style_losses[-1])
    input_img = content.clone() * 0.5
    input_img.requires_grad_(True)
    model.eval()
    model.requires_grad_(False)
    optimizer = optim.LBFGS([input_img])
    losses, run = [], [0]
    while run[0] <= 12:

        def closure():
            with torch.no_grad():
                input_img.clamp_(0, 1)
            optimizer.zero_grad()
            model(input_img)
            style_score = sum(sl.loss for sl in style_losses) * 1000
            content_score = sum(cl.loss for cl in content_losses)
            loss = style_score + content_score
            loss.backward()
            run[0] += 1
            losses.append(loss.item())
            return style_score + content_score

        optimizer.step(closure)
    return losses[:6]
