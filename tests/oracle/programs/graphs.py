"""Networks on graphs and sets."""

import math
from itertools import chain

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


def gcn_kipf(start):
    class GraphConvolution(Module):
        def __init__(self, in_features, out_features, bias=True):
            super(GraphConvolution, self).__init__()
            self.in_features, self.out_features = in_features, out_features
            self.weight = Parameter(torch.FloatTensor(in_features, out_features))
            if bias:
                self.bias = Parameter(torch.FloatTensor(out_features))
            else:
                self.register_parameter("bias", None)
            self.reset_parameters()

        def reset_parameters(self):
            stdv = 1.0 / math.sqrt(self.weight.size(1))
            self.weight.data.uniform_(-stdv, stdv)
            if self.bias is not None:
                self.bias.data.uniform_(-stdv, stdv)

        def forward(self, input, adj):
            support = torch.mm(input, self.weight)
            output = torch.spmm(adj, support)
            return output + self.bias if self.bias is not None else output

        def __repr__(self):
            return self.__class__.__name__ + " (" + str(self.in_features) + " -> " + str(self.out_features) + ")"

    class GCN(nn.Module):
        def __init__(self, nfeat, nhid, nclass, dropout):
            super(GCN, self).__init__()
            self.gc1 = GraphConvolution(nfeat, nhid)
            self.gc2 = GraphConvolution(nhid, nclass)
            self.dropout = dropout

        def forward(self, x, adj):
            x = F.relu(self.gc1(x, adj))
            x = F.dropout(x, self.dropout, training=self.training)
            return F.log_softmax(self.gc2(x, adj), dim=1)

    r = np.random.RandomState(0)
    a = (r.rand(12, 12) < 0.3).astype(np.float32)
    a = np.maximum(a, a.T) + np.eye(12, dtype=np.float32)
    a = a / a.sum(1, keepdims=True)
    rows, cols = np.nonzero(a)
    indices = torch.from_numpy(np.vstack((rows, cols)).astype(np.int64))
    adj = torch.sparse_coo_tensor(indices, torch.from_numpy(a[rows, cols]), torch.Size(a.shape))
    features, labels = torch.FloatTensor(r.rand(12, 5)), torch.LongTensor(r.randint(0, 3, 12))
    idx_train = torch.LongTensor(range(8))
    model = start(GCN(5, 8, 3, dropout=0.0))
    optimizer = optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4)
    losses = []
    for epoch in range(6):
        model.train()
        optimizer.zero_grad()
        output = model(features, adj)
        loss_train = F.nll_loss(output[idx_train], labels[idx_train])
        preds = output[idx_train].max(1)[1].type_as(labels)
        correct = preds.eq(labels[idx_train]).double().sum() / len(idx_train)
        loss_train.backward()
        optimizer.step()
        losses += [loss_train.item(), correct.item()]
    assert "GraphConvolution (5 -> 8)" in str(model)
    return losses


def gat(start):
    class GraphAttentionLayer(nn.Module):
        def __init__(self, in_features, out_features, alpha, concat=True):
            super().__init__()
            self.out_features, self.concat = out_features, concat
            self.W = nn.Parameter(torch.empty(size=(in_features, out_features)))
            nn.init.xavier_uniform_(self.W.data, gain=1.414)
            self.a = nn.Parameter(torch.empty(size=(2 * out_features, 1)))
            nn.init.xavier_uniform_(self.a.data, gain=1.414)
            self.leakyrelu = nn.LeakyReLU(alpha)

        def forward(self, h, adj):
            Wh = torch.mm(h, self.W)
            Wh1 = torch.matmul(Wh, self.a[: self.out_features, :])
            Wh2 = torch.matmul(Wh, self.a[self.out_features :, :])
            e = self.leakyrelu(Wh1 + Wh2.T)
            zero_vec = -9e15 * torch.ones_like(e)
            attention = F.softmax(torch.where(adj > 0, e, zero_vec), dim=1)
            h_prime = torch.matmul(attention, Wh)
            return F.elu(h_prime) if self.concat else h_prime

    class GAT(nn.Module):
        def __init__(self):
            super().__init__()
            self.attentions = [GraphAttentionLayer(5, 4, 0.2) for _ in range(2)]
            for i, attention in enumerate(self.attentions):
                self.add_module("attention_{}".format(i), attention)
            self.out_att = GraphAttentionLayer(8, 3, 0.2, concat=False)

        def forward(self, x, adj):
            x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
            return F.log_softmax(F.elu(self.out_att(x, adj)), dim=1)

    r = np.random.RandomState(1)
    adj = torch.FloatTensor((r.rand(10, 10) < 0.4) + np.eye(10))
    x, y = Variable(torch.FloatTensor(r.rand(10, 5))), Variable(torch.LongTensor(r.randint(0, 3, 10)))
    model = start(GAT())
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x, adj), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.data.item())
    return losses


def deep_sets(start):
    phi, rho = start(
        nn.Sequential(nn.Linear(1, 8), nn.ELU()), nn.Sequential(nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 1))
    )
    optimizer = optim.NAdam(chain(phi.parameters(), rho.parameters()), lr=0.01)
    x = torch.from_numpy(np.random.RandomState(0).randint(0, 10, (12, 5, 1))).float() / 10
    y = x.sum(dim=1)
    losses = []
    for _ in range(5):
        out = rho(phi(x).sum(dim=1))
        loss = F.l1_loss(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
