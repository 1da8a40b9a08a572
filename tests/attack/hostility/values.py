"""Hostile values by kind, as the Python text that makes each. The classes are a part of a printed finding."""

from __future__ import annotations


class Refusal(Exception):
    """What a hostile object raises; it may reach the caller."""


class Lying:
    """Has the length, the elements and the numbers that it is told; an exception among them is raised."""

    def __init__(self, **answers):
        self.answers = answers

    def answer(self, name, default):
        found = self.answers.get(name, default)
        if isinstance(found, type) and issubclass(found, BaseException):
            raise found(f"the hostile {name}")
        return found


class LyingSequence(Lying):
    def __len__(self):
        return self.answer("len", 2)

    def __getitem__(self, index):
        if index > 9:  # Python itself iterates until this
            raise IndexError
        return self.answer("getitem", 1.0)


class LyingNumber(Lying):
    def __index__(self):
        return self.answer("index", 1)

    def __float__(self):
        return self.answer("float", 1.0)


class LyingIterable(Lying):
    def __iter__(self):
        return self.answer("iter", iter((1, 2)))


class LyingArray(Lying):
    @property
    def __array_interface__(self):
        whole = {"version": 3, "shape": (2,), "typestr": "<f4", "data": bytes(8)}
        return self.answer("interface", {**whole, **self.answers})


class LyingCapsule(Lying):
    def __dlpack__(self, *arguments, **named):
        return self.answer("dlpack", None)

    def __dlpack_device__(self):
        return self.answer("device", (1, 0))


class LyingTensor(Lying):
    """Has the attributes of an array, and nothing behind them."""

    shape = (2, 2)
    ndim = 2
    dtype = "float32"


class Changing:
    """A number that changes the list in which it stands whenever somebody asks for its value."""

    def __init__(self, change):
        self.change = change

    def __index__(self):
        self.change()
        return 1

    __float__ = __index__


def growing():
    found = []
    found.append(Changing(lambda: found.append(found[0]) if len(found) < 10**6 else None))
    return found


def shrinking():
    found = [1, 1, 1]
    found.insert(1, Changing(found.clear))
    return found


def lying(kind, value, **answers):
    """A value of a class derived from a builtin one, some of whose methods give what they are told, or raise it."""

    def telling(found):
        def method(*arguments):
            if isinstance(found, type) and issubclass(found, BaseException):
                raise found("a hostile method")
            return found

        return method

    methods = {f"__{name}__": telling(found) for name, found in answers.items()}
    return type(f"Lying{kind.__name__}", (kind,), methods)(value)


def recursive():
    """A list that holds itself."""
    found = []
    found.append(found)
    return found


def deep(depth=2000):
    """A list in a list in a list ..."""
    found = [1.0]
    for _ in range(depth):
        found = [found]
    return found


HOSTILE = {
    "type": """
        None; 'a'; ''; b'a'; object(); [None]; ['a', 'b']; {'a': 1}; {1, 2}; 1j; int; norch.Tensor; nn.Module; print;
        nn.Linear(2, 2); (lambda *a, **k: None); slice(None); Ellipsis; NotImplemented; {}; bytearray(8); range(3);
        norch.float32; 'cpu'; (i for i in range(3)); iter([1, 2]); Exception; norch; [[1], [1, 2]]; [1, [2]]; [[]];
        norch.no_grad(); norch.Generator(); norch.Size([2]); frozenset(); memoryview(b'abc'); [1.0, None]
    """,
    "flag": "True; False; 'False'; 'a'; None; 2; -1; 1.0; []; object(); norch.tensor(True); norch.ones(2); 2**64",
    "float": "1.5; 2.0; -0.5; 1e300; -1e300; 1e-320; float('nan'); float('inf'); -float('inf'); 0.0; -0.0",
    "integer": """
        0; -1; 1; 3; 7; -3; 100; 2**31; 2**31 - 1; -2**31; -2**31 - 1; 2**32; 2**32 + 1; -2**32 + 1; 2**62; 2**63 - 1;
        2**63; -2**63; -2**63 - 1; 2**64; 2**64 + 3; 2**64 - 1; 2**40; 10**400; 2**128 + 1
    """,
    "sizes": """
        (); (0,); (-1,); (2, -3); (2**31, 2**31); (2**63, 1); (2**64 + 2,); [2**40, 2**40]; [1.5, 2]; [True, False];
        (1,) * 9; [0] * 1000; [-1, -1]; [2**32 + 1]; (2, 'a'); (None,); [0, 0]; [-2**63]; ((1, 2), (3, 4)); (1, (2,))
    """,
    "tensor": """
        norch.empty(0); norch.tensor(2.5); norch.tensor([1.5]); norch.tensor(3); norch.tensor([[1, 2], [3, 4]]);
        norch.arange(6.).reshape(2, 3).T; norch.ones(1).expand(2, 3); norch.ones(2, 2, 2)[:, 1]; norch.ones(4)[::2];
        norch.tensor([True, False]); norch.ones(2, dtype=norch.float64); norch.ones(2, 3, dtype=norch.float16);
        norch.ones(3, dtype=norch.bfloat16); norch.tensor([250, 3], dtype=norch.uint8); norch.tensor(2**62);
        norch.tensor([float('nan'), 1.0]); norch.tensor([float('inf'), -float('inf')]); norch.empty(0, 3);
        norch.empty(2, 0, 3); norch.ones(2, requires_grad=True); norch.tensor([-1, 5]);
        norch.tensor([2**63 - 1, -2**63]);
        norch.ones((1,) * 8); norch.eye(2).to_sparse(); norch.ones(2, dtype=norch.int8); norch.empty(3, 0).T;
        norch.ones(1).expand(2**40); norch.ones(2, 3, requires_grad=True) * 1; norch.tensor(float('nan'));
        norch.ones(2, 3, device='cpu'); norch.empty(0, dtype=norch.int64); norch.zeros(1, 1, 1, 1)
    """,
    "liar": """
        LyingSequence(len=-1); LyingSequence(len=Refusal); LyingSequence(len=2**70);
        LyingSequence(len=3, getitem=Refusal);
        LyingSequence(len=2, getitem='a'); LyingSequence(len=2, getitem=IndexError); LyingSequence(len='a');
        LyingNumber(index=2**70); LyingNumber(index=Refusal, float=Refusal); LyingNumber(index='a', float='a');
        LyingNumber(index=-2**63 - 1, float=float('nan')); LyingNumber(index=TypeError, float=ValueError);
        LyingIterable(iter=Refusal); LyingIterable(iter=None); LyingIterable(); recursive(); deep();
        LyingArray(shape=(-1,)); LyingArray(shape=(2**62, 4)); LyingArray(typestr='<f3'); LyingArray(typestr=4);
        LyingArray(data=None); LyingArray(data=(0, False)); LyingArray(shape=None); LyingArray(strides=(2**62,));
        LyingArray(interface=Refusal); LyingArray(interface=None); LyingArray(interface={}); LyingArray(shape=(3,));
        LyingArray(data=bytes(3)); LyingArray(shape=('a',)); LyingArray(strides='ab'); LyingArray(typestr='|O8');
        LyingCapsule(); LyingCapsule(dlpack=Refusal); LyingCapsule(device=(99, 0)); LyingCapsule(device='a');
        LyingTensor(); growing(); shrinking(); [growing()]; (shrinking(), 1); [[1, 2], shrinking()];
        lying(int, 3, index=Refusal, int=Refusal, float=Refusal); lying(int, 2**70, index=1, float=1.0);
        lying(int, 2, index='a', eq=True, hash=0); lying(int, 1, lt=Refusal, le=Refusal, ge=Refusal, gt=Refusal);
        lying(float, 1.5, float='a', int=Refusal); lying(float, float('nan'), eq=True, lt=True, hash=0);
        lying(list, [1.0, 2.0], len=3); lying(list, [1.0, 2.0], len=-1); lying(list, [1, 2], iter=Refusal);
        lying(list, [1, 2], getitem=Refusal, bool=Refusal); lying(tuple, (2, 3), len=1, iter=None);
        lying(tuple, (2, 3), eq=True, hash=0); lying(str, 'cpu', eq=True, hash=0); lying(str, 'mean', eq=Refusal);
        lying(dict, {}, getitem=Refusal, iter=Refusal); lying(bytes, b'abcd', len=2**40)
    """,
}
HOSTILE = {kind: [" ".join(value.split()) for value in text.split(";")] for kind, text in HOSTILE.items()}
