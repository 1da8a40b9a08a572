"""Images: convolutional classifiers, residual networks, transformers, pairs of images, transfer of what was learned."""

from collections import OrderedDict
from copy import deepcopy

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR

if torch.cuda.is_available():
    torch.backends.cudnn.deterministic = True
cudnn.benchmark = True


def images(n, c=1, size=28, classes=10, seed=0):
    r = np.random.RandomState(seed)
    return torch.tensor(r.rand(n, c, size, size), dtype=torch.float32), torch.tensor(r.randint(0, classes, n))


def mnist_basic(start):
    class Net(nn.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, 1)
            self.conv2 = nn.Conv2d(8, 16, 3, 1)
            self.dropout1 = nn.Dropout(0.0)
            self.fc1 = nn.Linear(2304, 32)
            self.fc2 = nn.Linear(32, 10)

        def forward(self, x):
            x = F.relu(self.conv1(x))
            x = F.relu(self.conv2(x))
            x = F.max_pool2d(x, 2)
            x = self.dropout1(x)
            x = torch.flatten(x, 1)
            x = F.relu(self.fc1(x))
            return F.log_softmax(self.fc2(x), dim=1)

    use_accel = torch.accelerator.is_available()
    device = torch.accelerator.current_accelerator() if use_accel else torch.device("cpu")
    model = start(Net()).to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    x, y = images(12, size=28)
    losses = []
    for epoch in range(1, 4):
        model.train()
        for i in range(0, 12, 6):
            data, target = x[i : i + 6].to(device), y[i : i + 6].to(device)
            optimizer.zero_grad()
            output = model(data)
            loss = F.nll_loss(output, target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        correct = 0
        with torch.no_grad():
            output = model(x)
            losses.append(F.nll_loss(output, y, reduction="sum").item())
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(y.view_as(pred)).sum().item()
        scheduler.step()
    return losses


def cifar_tutorial(start):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 6, 5)
            self.pool = nn.MaxPool2d(2, 2)
            self.conv2 = nn.Conv2d(6, 16, 5)
            self.fc1 = nn.Linear(16 * 5 * 5, 120)
            self.fc2 = nn.Linear(120, 84)
            self.fc3 = nn.Linear(84, 10)

        def forward(self, x):
            x = self.pool(F.relu(self.conv1(x)))
            x = self.pool(F.relu(self.conv2(x)))
            x = x.view(-1, self.num_flat_features(x))
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

        def num_flat_features(self, x):
            size = x.size()[1:]
            num_features = 1
            for s in size:
                num_features *= s
            return num_features

    net = start(Net())
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    x, y = images(8, 3, 32)
    losses = []
    for step in range(5):
        optimizer.zero_grad()
        outputs = net(x)
        loss = criterion(outputs, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    _, predicted = torch.max(outputs, 1)
    classes = list("abcdefghij")
    assert len(" ".join(f"{classes[predicted[j]]:5s}" for j in range(4))) == 23
    correct_pred = {classname: 0 for classname in classes}
    for label, prediction in zip(y, predicted):
        if label == prediction:
            correct_pred[classes[label]] += 1
    return losses + [sum(correct_pred.values())]


def resnet(start):
    def conv3x3(in_channels, out_channels, stride=1):
        return nn.Conv2d(in_channels, out_channels, kernel_size=3, stride=stride, padding=1, bias=False)

    class ResidualBlock(nn.Module):
        def __init__(self, in_channels, out_channels, stride=1, downsample=None):
            super().__init__()
            self.conv1 = conv3x3(in_channels, out_channels, stride)
            self.bn1 = nn.BatchNorm2d(out_channels)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = conv3x3(out_channels, out_channels)
            self.bn2 = nn.BatchNorm2d(out_channels)
            self.downsample = downsample

        def forward(self, x):
            residual = x
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            if self.downsample:
                residual = self.downsample(x)
            out += residual
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self, block, layers, num_classes=10):
            super().__init__()
            self.in_channels = 8
            self.conv = conv3x3(3, 8)
            self.bn = nn.BatchNorm2d(8)
            self.layer1 = self.make_layer(block, 8, layers[0])
            self.layer2 = self.make_layer(block, 16, layers[1], 2)
            self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
            self.fc = nn.Linear(16, num_classes)
            for m in self.modules():
                if isinstance(m, nn.Conv2d):
                    nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
                elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                    nn.init.constant_(m.weight, 1)
                    nn.init.constant_(m.bias, 0)

        def make_layer(self, block, out_channels, blocks, stride=1):
            downsample = None
            if (stride != 1) or (self.in_channels != out_channels):
                downsample = nn.Sequential(
                    conv3x3(self.in_channels, out_channels, stride=stride), nn.BatchNorm2d(out_channels)
                )
            layers = [block(self.in_channels, out_channels, stride, downsample)]
            self.in_channels = out_channels
            for i in range(1, blocks):
                layers.append(block(out_channels, out_channels))
            return nn.Sequential(*layers)

        def forward(self, x):
            out = F.relu(self.bn(self.conv(x)))
            out = self.avgpool(self.layer2(self.layer1(out)))
            return self.fc(out.view(out.size(0), -1))

    def update_lr(optimizer, lr):
        for param_group in optimizer.param_groups:
            param_group["lr"] = lr

    model = start(nn.DataParallel(ResNet(ResidualBlock, [2, 2])))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001, betas=(0.9, 0.99), weight_decay=1e-4)
    x, y = images(8, 3, 16)
    losses = []
    for step in range(4):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        update_lr(optimizer, 0.001 / (step + 1))
        losses.append(loss.item())
    model.eval()
    with torch.inference_mode():
        losses.append(criterion(model(x), y).item())
    assert sum(p.numel() for p in model.parameters() if p.requires_grad) > 1000
    return losses


def vision_transformer(start):
    class Patches(nn.Module):
        def __init__(self, dim=16):
            super().__init__()
            self.proj = nn.Conv2d(3, dim, kernel_size=4, stride=4)
            self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
            self.pos = nn.Parameter(torch.zeros(1, 17, dim))
            nn.init.trunc_normal_(self.pos, std=0.02)

        def forward(self, x):
            x = self.proj(x).flatten(2).transpose(1, 2)
            cls = self.cls_token.expand(x.shape[0], -1, -1)
            return torch.cat((cls, x), dim=1) + self.pos

    class Attention(nn.Module):
        def __init__(self, dim, heads=4):
            super().__init__()
            self.heads, self.scale = heads, (dim // heads) ** -0.5
            self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
            self.to_out = nn.Linear(dim, dim)

        def forward(self, x):
            b, n, d = x.shape
            q, k, v = self.to_qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
            dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
            out = torch.einsum("bhij,bhjd->bhid", dots.softmax(dim=-1), v)
            return self.to_out(out.transpose(1, 2).reshape(b, n, d))

    class Block(nn.Module):
        def __init__(self, dim):
            super().__init__()
            self.norm1, self.attn = nn.LayerNorm(dim), Attention(dim)
            self.norm2 = nn.LayerNorm(dim)
            self.mlp = nn.Sequential(
                OrderedDict([("fc1", nn.Linear(dim, 32)), ("act", nn.GELU()), ("fc2", nn.Linear(32, dim))])
            )

        def forward(self, x):
            x = x + self.attn(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    model = start(nn.Sequential(Patches(), *[Block(16) for _ in range(2)], nn.LayerNorm(16)))
    head = start(nn.Linear(16, 10))
    optimizer = optim.AdamW([*model.parameters(), *head.parameters()], lr=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
    x, y = images(6, 3, 16)
    losses = []
    for _ in range(6):
        loss = F.cross_entropy(head(model(x)[:, 0]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses += [loss.item(), scheduler.get_last_lr()[0]]
    return losses


def siamese(start):
    class SiameseNetwork(nn.Module):
        def __init__(self):
            super().__init__()
            self.cnn = nn.Sequential(
                nn.ReflectionPad2d(1), nn.Conv2d(1, 4, kernel_size=3), nn.ReLU(inplace=True), nn.BatchNorm2d(4)
            )
            self.fc = nn.Sequential(nn.Linear(4 * 8 * 8, 16), nn.ReLU(inplace=True), nn.Linear(16, 5))
            self.apply(self.init_weights)

        def init_weights(self, m):
            if isinstance(m, nn.Linear):
                torch.nn.init.xavier_uniform_(m.weight)
                m.bias.data.fill_(0.01)

        def forward_once(self, x):
            out = self.cnn(x)
            return self.fc(out.view(out.size()[0], -1))

        def forward(self, a, b):
            return self.forward_once(a), self.forward_once(b)

    class ContrastiveLoss(torch.nn.Module):
        def __init__(self, margin=2.0):
            super().__init__()
            self.margin = margin

        def forward(self, output1, output2, label):
            d = F.pairwise_distance(output1, output2, keepdim=True)
            return torch.mean(
                (1 - label) * torch.pow(d, 2) + label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2)
            )

    net = start(SiameseNetwork())
    a, _ = images(6, 1, 8, seed=1)
    b, _ = images(6, 1, 8, seed=2)
    label = torch.from_numpy(np.array([[0], [1], [0], [1], [1], [0]], dtype=np.float32))
    optimizer = optim.Adam(net.parameters(), lr=0.005)
    triplet = nn.TripletMarginLoss(margin=1.0, p=2)
    losses = []
    for _ in range(5):
        o1, o2 = net(a, b)
        optimizer.zero_grad()
        loss = (
            ContrastiveLoss()(o1, o2, label)
            + triplet(o1, o2, o1.flip(0))
            + nn.CosineEmbeddingLoss()(o1, o2, 1 - 2 * label.squeeze())
        )
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def transfer_learning(start):
    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU6(), nn.AdaptiveMaxPool2d(2))
            self.fc = nn.Linear(32, 1000)

        def forward(self, x):
            return self.fc(torch.flatten(self.features(x), start_dim=1))

    model = Backbone()
    for param in model.parameters():
        param.requires_grad = False
    num_ftrs = model.fc.in_features
    model.fc = nn.Linear(num_ftrs, 2)
    model._modules["fc"] = nn.Sequential(nn.Dropout(p=0.0), nn.Linear(num_ftrs, 3))
    start(model)
    optimizer = optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1, momentum=0.9)
    scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    x, y = images(8, 3, 10, classes=3)
    losses, best_acc, best = [], 0.0, None
    for epoch in range(5):
        for phase in ["train", "val"]:
            model.train(phase == "train")
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(x)
                _, preds = torch.max(outputs, 1)
                loss = nn.CrossEntropyLoss()(outputs, y)
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
            losses.append(loss.item())
            epoch_acc = torch.sum(preds == y.data).double() / len(y)
        if epoch_acc > best_acc:
            best_acc, best = epoch_acc, deepcopy(model.state_dict())
        scheduler.step()
    assert best is not None or best_acc == 0
    return losses


def spatial_transformer(start):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.localization = nn.Sequential(nn.Conv2d(1, 4, kernel_size=5), nn.MaxPool2d(2, stride=2), nn.ReLU(True))
            self.fc_loc = nn.Sequential(nn.Linear(4 * 4 * 4, 8), nn.ReLU(True), nn.Linear(8, 3 * 2))
            self.fc = nn.Linear(144, 10)
            self.fc_loc[2].weight.data.zero_()
            self.fc_loc[2].bias.data.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))

        def stn(self, x):
            xs = self.localization(x)
            theta = self.fc_loc(xs.view(-1, 4 * 4 * 4)).view(-1, 2, 3)
            grid = F.affine_grid(theta, x.size(), align_corners=False)
            return F.grid_sample(x, grid, align_corners=False)

        def forward(self, x):
            return F.log_softmax(self.fc(self.stn(x).flatten(1)), dim=-1)

    model = start(Net())
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    x, y = images(6, 1, 12)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
