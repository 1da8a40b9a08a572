"""Text and time series in recurrent networks: character models, translation, language models, taggers, recognition."""

import math
import random
import string
import time
import unicodedata

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.autograd import Variable
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

all_letters = string.ascii_letters + " .,;'"
n_letters = len(all_letters)
NAMES = {"a": ["Adam", "Anna", "Otto"], "b": ["Boris", "Ivan", "Olga"], "c": ["Chen", "Li", "Wang"]}


def char_rnn_classification(start):
    def unicode_to_ascii(s):
        return "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn")

    def line_to_tensor(line):
        tensor = torch.zeros(len(line), 1, n_letters)
        for li, letter in enumerate(line):
            tensor[li][0][all_letters.find(letter)] = 1
        return tensor

    class RNN(nn.Module):
        def __init__(self, input_size, hidden_size, output_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
            self.i2o = nn.Linear(input_size + hidden_size, output_size)
            self.softmax = nn.LogSoftmax(dim=1)

        def forward(self, input, hidden):
            combined = torch.cat((input, hidden), 1)
            hidden = self.i2h(combined)
            return self.softmax(self.i2o(combined)), hidden

        def initHidden(self):
            return Variable(torch.zeros(1, self.hidden_size))

    rnn = start(RNN(n_letters, 16, 3))
    criterion = nn.NLLLoss()
    categories = list(NAMES)
    losses = []
    for i in range(9):
        category = categories[i % 3]
        line = unicode_to_ascii(NAMES[category][i // 3])
        category_tensor = Variable(torch.LongTensor([categories.index(category)]))
        hidden = rnn.initHidden()
        rnn.zero_grad()
        for letter in line_to_tensor(line):
            output, hidden = rnn(letter, hidden)
        loss = criterion(output, category_tensor)
        loss.backward()
        for p in rnn.parameters():
            p.data.add_(p.grad.data, alpha=-0.005)
        top_n, top_i = output.data.topk(1)
        assert categories[top_i[0][0]] in NAMES
        losses.append(loss.item())
    return losses


def char_rnn_generation(start):
    class RNN(nn.Module):
        def __init__(self, input_size, hidden_size, output_size):
            super(RNN, self).__init__()
            self.hidden_size = hidden_size
            self.i2h = nn.Linear(input_size + hidden_size, hidden_size)
            self.i2o = nn.Linear(input_size + hidden_size, output_size)
            self.o2o = nn.Linear(hidden_size + output_size, output_size)

        def forward(self, input, hidden):
            input_combined = torch.cat((input, hidden), 1)
            hidden = self.i2h(input_combined)
            output = self.o2o(torch.cat((hidden, self.i2o(input_combined)), 1))
            return F.log_softmax(output, dim=1), hidden

    def input_tensor(line):
        tensor = torch.zeros(len(line), 1, n_letters + 1)
        for li in range(len(line)):
            tensor[li][0][all_letters.find(line[li])] = 1
        return tensor

    def target_tensor(line):
        letter_indexes = [all_letters.find(line[li]) for li in range(1, len(line))]
        letter_indexes.append(n_letters)
        return torch.LongTensor(letter_indexes)

    rnn = start(RNN(n_letters + 1, 16, n_letters + 1))
    criterion = nn.NLLLoss()
    losses = []
    for line in [name for names in NAMES.values() for name in names]:
        target_line_tensor = target_tensor(line)
        target_line_tensor.unsqueeze_(-1)
        hidden = torch.zeros(1, rnn.hidden_size)
        rnn.zero_grad()
        loss = torch.Tensor([0])
        for i in range(len(line)):
            output, hidden = rnn(input_tensor(line)[i], hidden)
            loss += criterion(output, target_line_tensor[i])
        loss.backward()
        for p in rnn.parameters():
            p.data.add_(p.grad.data, alpha=-0.0005)
        losses.append(loss.item() / len(line))
    with torch.no_grad():
        output, hidden = rnn(input_tensor("A")[0], torch.zeros(1, rnn.hidden_size))
        topv, topi = output.topk(1)
        topi = topi[0][0]
        assert topi == n_letters or all_letters[topi] in all_letters
    return losses


def seq2seq_attention(start):
    SOS_token, EOS_token, MAX_LENGTH, hidden_size, vocabulary = 0, 1, 6, 12, 9

    class EncoderRNN(nn.Module):
        def __init__(self, input_size, hidden_size):
            super().__init__()
            self.hidden_size = hidden_size
            self.embedding = nn.Embedding(input_size, hidden_size)
            self.gru = nn.GRU(hidden_size, hidden_size)

        def forward(self, input, hidden):
            embedded = self.embedding(input).view(1, 1, -1)
            return self.gru(embedded, hidden)

    class AttnDecoderRNN(nn.Module):
        def __init__(self, hidden_size, output_size):
            super().__init__()
            self.embedding = nn.Embedding(output_size, hidden_size)
            self.attn = nn.Linear(hidden_size * 2, MAX_LENGTH)
            self.attn_combine = nn.Linear(hidden_size * 2, hidden_size)
            self.gru = nn.GRU(hidden_size, hidden_size)
            self.out = nn.Linear(hidden_size, output_size)

        def forward(self, input, hidden, encoder_outputs):
            embedded = self.embedding(input).view(1, 1, -1)
            attn_weights = F.softmax(self.attn(torch.cat((embedded[0], hidden[0]), 1)), dim=1)
            attn_applied = torch.bmm(attn_weights.unsqueeze(0), encoder_outputs.unsqueeze(0))
            output = torch.cat((embedded[0], attn_applied[0]), 1)
            output = F.relu(self.attn_combine(output).unsqueeze(0))
            output, hidden = self.gru(output, hidden)
            return F.log_softmax(self.out(output[0]), dim=1), hidden, attn_weights

    encoder, decoder = start(EncoderRNN(vocabulary, hidden_size), AttnDecoderRNN(hidden_size, vocabulary))
    encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.05)
    decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.05)
    criterion = nn.NLLLoss()
    pairs = [([2, 3, 4, 1], [5, 6, 1]), ([4, 7, 1], [8, 2, 3, 1])] * 3
    losses = []
    for n, (source, target) in enumerate(pairs):
        input_tensor = torch.tensor(source, dtype=torch.long).view(-1, 1)
        target_tensor = torch.tensor(target, dtype=torch.long).view(-1, 1)
        encoder_hidden = torch.zeros(1, 1, hidden_size)
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        encoder_outputs = torch.zeros(MAX_LENGTH, hidden_size)
        loss = 0
        for ei in range(input_tensor.size(0)):
            encoder_output, encoder_hidden = encoder(input_tensor[ei], encoder_hidden)
            encoder_outputs[ei] = encoder_output[0, 0]
        decoder_input = torch.tensor([[SOS_token]])
        decoder_hidden = encoder_hidden
        for di in range(target_tensor.size(0)):
            decoder_output, decoder_hidden, attention = decoder(decoder_input, decoder_hidden, encoder_outputs)
            loss += criterion(decoder_output, target_tensor[di])
            if n % 2:
                decoder_input = target_tensor[di]
            else:
                topv, topi = decoder_output.topk(1)
                decoder_input = topi.squeeze().detach()
                if decoder_input.item() == EOS_token:
                    break
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        losses.append(loss.item() / target_tensor.size(0))
    return losses


def repackage_hidden(h):
    """Wraps hidden states in new tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def word_language_model(start):
    class RNNModel(nn.Module):
        def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, tie_weights=False):
            super().__init__()
            self.ntoken, self.rnn_type, self.nhid, self.nlayers = ntoken, rnn_type, nhid, nlayers
            self.drop = nn.Dropout(0.0)
            self.encoder = nn.Embedding(ntoken, ninp)
            if rnn_type in ["LSTM", "GRU"]:
                self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=0.0)
            else:
                self.rnn = nn.RNN(ninp, nhid, nlayers, nonlinearity={"RNN_TANH": "tanh"}[rnn_type])
            self.decoder = nn.Linear(nhid, ntoken)
            if tie_weights:
                self.decoder.weight = self.encoder.weight
            initrange = 0.1
            nn.init.uniform_(self.encoder.weight, -initrange, initrange)
            nn.init.zeros_(self.decoder.bias)

        def forward(self, input, hidden):
            emb = self.drop(self.encoder(input))
            self.rnn.flatten_parameters()
            output, hidden = self.rnn(emb, hidden)
            decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
            return F.log_softmax(decoded, dim=1), hidden

        def init_hidden(self, bsz):
            weight = next(self.parameters())
            if self.rnn_type == "LSTM":
                return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))
            return weight.new(self.nlayers, bsz, self.nhid).zero_()

    def batchify(data, bsz):
        nbatch = data.size(0) // bsz
        data = data.narrow(0, 0, nbatch * bsz)
        return data.view(bsz, -1).t().contiguous()

    ids = torch.tensor(np.random.RandomState(0).randint(0, 11, 85)).type(torch.int64)
    train_data = batchify(ids, 4)
    losses = []
    for kind in ("LSTM", "GRU", "RNN_TANH"):
        model = start(RNNModel(kind, 11, 8, 8, 2, tie_weights=True))
        criterion = nn.NLLLoss()
        hidden = model.init_hidden(4)
        lr, total_loss, start_time = 20 / 10, 0.0, time.time()
        for i in range(0, train_data.size(0) - 1, 5):
            seq_len = min(5, len(train_data) - 1 - i)
            data, targets = train_data[i : i + seq_len], train_data[i + 1 : i + 1 + seq_len].view(-1)
            model.zero_grad()
            hidden = repackage_hidden(hidden)
            output, hidden = model(data, hidden)
            loss = criterion(output, targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
            total_loss += loss.item()
            losses.append(math.exp(loss))
        assert time.time() >= start_time and total_loss > 0
    return losses


def time_sequence_prediction(start):
    class Sequence(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm1 = nn.LSTMCell(1, 8)
            self.lstm2 = nn.LSTMCell(8, 8)
            self.linear = nn.Linear(8, 1)

        def forward(self, input, future=0):
            outputs = []
            h_t = torch.zeros(input.size(0), 8, dtype=torch.double)
            c_t = torch.zeros(input.size(0), 8, dtype=torch.double)
            h_t2 = torch.zeros(input.size(0), 8, dtype=torch.double)
            c_t2 = torch.zeros(input.size(0), 8, dtype=torch.double)
            for input_t in input.split(1, dim=1):
                h_t, c_t = self.lstm1(input_t, (h_t, c_t))
                h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
                output = self.linear(h_t2)
                outputs += [output]
            for i in range(future):
                h_t, c_t = self.lstm1(output, (h_t, c_t))
                h_t2, c_t2 = self.lstm2(h_t, (h_t2, c_t2))
                output = self.linear(h_t2)
                outputs += [output]
            return torch.cat(outputs, dim=1)

    data = np.sin(np.arange(20)[None] / 3.0 + np.arange(3)[:, None]).astype("float64")
    input, target = torch.from_numpy(data[:, :-1]), torch.from_numpy(data[:, 1:])
    seq = start(Sequence().double())
    criterion = nn.MSELoss()
    optimizer = optim.LBFGS(seq.parameters(), lr=0.8, max_iter=5)
    losses = []
    for i in range(2):

        def closure():
            optimizer.zero_grad()
            loss = criterion(seq(input), target)
            losses.append(loss.item())
            loss.backward()
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        pred = seq(input, future=4)
        losses.append(criterion(pred[:, :-4], target).item())
        assert pred.detach().numpy().shape == (3, 23)
    return losses


def lstm_tagger(start):
    training_data = [
        ("The dog ate the apple".split(), ["DET", "NN", "V", "DET", "NN"]),
        ("Everybody read that book".split(), ["NN", "V", "DET", "NN"]),
    ]
    word_to_ix, tag_to_ix = {}, {"DET": 0, "NN": 1, "V": 2}
    for sent, _ in training_data:
        for word in sent:
            word_to_ix.setdefault(word, len(word_to_ix))

    class LSTMTagger(nn.Module):
        def __init__(self, embedding_dim, hidden_dim, vocab_size, tagset_size):
            super().__init__()
            self.hidden_dim = hidden_dim
            self.word_embeddings = nn.Embedding(vocab_size, embedding_dim)
            self.lstm = nn.LSTM(embedding_dim, hidden_dim)
            self.hidden2tag = nn.Linear(hidden_dim, tagset_size)

        def forward(self, sentence):
            embeds = self.word_embeddings(sentence)
            lstm_out, _ = self.lstm(embeds.view(len(sentence), 1, -1))
            return F.log_softmax(self.hidden2tag(lstm_out.view(len(sentence), -1)), dim=1)

    model = start(LSTMTagger(6, 6, len(word_to_ix), len(tag_to_ix)))
    loss_function = nn.NLLLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for epoch in range(5):
        for sentence, tags in training_data:
            model.zero_grad()
            sentence_in = torch.tensor([word_to_ix[w] for w in sentence], dtype=torch.long)
            targets = torch.tensor([tag_to_ix[t] for t in tags], dtype=torch.long)
            loss = loss_function(model(sentence_in), targets)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def snli_classifier(start):
    class Bottle(nn.Module):
        def forward(self, input):
            if len(input.size()) <= 2:
                return super(Bottle, self).forward(input)
            size = input.size()[:2]
            out = super(Bottle, self).forward(input.view(size[0] * size[1], -1))
            return out.view(size[0], size[1], -1)

    class Linear(Bottle, nn.Linear):
        pass

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(input_size=6, hidden_size=5, num_layers=1, bidirectional=True)

        def forward(self, inputs):
            batch_size = inputs.size()[1]
            h0 = c0 = inputs.new_zeros((2, batch_size, 5))
            outputs, (ht, ct) = self.rnn(inputs, (h0, c0))
            return ht[-2:].transpose(0, 1).contiguous().view(batch_size, -1)

    class SNLIClassifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(15, 7)
            self.projection = Linear(7, 6)
            self.encoder = Encoder()
            seq = [Linear(20, 20), nn.ReLU(), nn.Dropout(p=0.0), Linear(20, 3)]
            self.out = nn.Sequential(*seq)

        def forward(self, premise, hypothesis):
            embeds = [self.embed(x).detach() for x in (premise, hypothesis)]
            p, h = (self.encoder(F.relu(self.projection(e))) for e in embeds)
            return self.out(torch.cat([p, h], 1))

    model = start(SNLIClassifier())
    opt = optim.Adam(model.parameters(), lr=0.01)
    r = np.random.RandomState(0)
    p, h = torch.tensor(r.randint(0, 15, (6, 4))), torch.tensor(r.randint(0, 15, (5, 4)))
    label = torch.tensor([0, 1, 2, 1])
    losses = []
    for _ in range(5):
        model.train()
        opt.zero_grad()
        answer = model(p, h)
        n_correct = (torch.max(answer, 1)[1].view(label.size()) == label).sum().item()
        loss = nn.CrossEntropyLoss()(answer, label)
        loss.backward()
        opt.step()
        losses += [loss.item(), n_correct]
    return losses


def packed_sentiment(start):
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(12, 6, padding_idx=0)
            self.rnn = nn.GRU(6, 5, batch_first=True, bidirectional=True)
            self.fc = nn.Linear(10, 1)

        def forward(self, text, lengths):
            packed = pack_padded_sequence(self.embedding(text), lengths.cpu(), batch_first=True, enforce_sorted=False)
            output, hidden = self.rnn(packed)
            output, output_lengths = pad_packed_sequence(output, batch_first=True)
            assert output_lengths.tolist() == lengths.tolist()
            return self.fc(torch.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1)).squeeze(1) + output.sum() * 0.01

    sentences = [torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6, 7, 8]), torch.tensor([9, 10])]
    text = pad_sequence(sentences, batch_first=True, padding_value=0)
    lengths = torch.tensor([len(s) for s in sentences])
    labels = torch.Tensor([1, 0, 1])
    model = start(Classifier())
    optimizer = optim.Adagrad(model.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        predictions = model(text, lengths)
        loss = nn.BCEWithLogitsLoss()(predictions, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rounded = torch.round(torch.sigmoid(predictions))
        losses += [loss.item(), (rounded == labels).float().sum().item() / len(labels)]
    return losses


def ctc_recognition(start):
    class CRNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(4, 8, 3, padding=1)
            self.rnn = nn.LSTM(8, 6, bidirectional=True, batch_first=True)
            self.fc = nn.Linear(12, 5)

        def forward(self, x):
            x = F.leaky_relu(self.conv(x), 0.2).permute(0, 2, 1)
            x, _ = self.rnn(x)
            return self.fc(x).log_softmax(2)

    model = start(CRNN())
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    x = torch.tensor(np.random.RandomState(0).randn(2, 4, 10)).float()
    targets = torch.tensor([1, 2, 2, 3, 4], dtype=torch.int32)
    losses = []
    for _ in range(5):
        log_probs = model(x).transpose(0, 1)
        loss = F.ctc_loss(log_probs, targets, torch.IntTensor([10, 9]), torch.IntTensor([3, 2]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    random.seed(0)
    return losses
