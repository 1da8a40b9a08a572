"""The readers of IDX and CSV files, and the toy sets."""

import gzip
import math
import struct
import tracemalloc

import pytest

import norch
from norch.utils.data import DataLoader, mnist, moons, read_csv, read_idx, sin_squared, spirals

# ---- IDX -------------------------------------------------------------------------------------------------------------


def idx(code, shape, data):
    return bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "code, letter, numbers, dtype",
    [
        (0x08, "B", [0, 1, 127, 128, 254, 255], "uint8"),
        (0x09, "b", [0, 1, 127, -128, -1, 5], "int32"),
        (0x0B, "h", [0, 1, 32767, -32768, -1, 5], "int32"),
        (0x0C, "i", [0, 1, 2**31 - 1, -(2**31), -1, 5], "int32"),
        (0x0D, "f", [0.0, 1.5, -2.25, math.inf, 1e-30, 3.0], "float32"),
        (0x0E, "d", [0.0, 0.1, -2.25, math.inf, 1e-300, 3.0], "float64"),
    ],
)
def test_idx_types(tmp_path, code, letter, numbers, dtype, compressed):
    path = tmp_path / "data"
    content = idx(code, [2, 3], struct.pack(f">6{letter}", *numbers))
    path.write_bytes(gzip.compress(content) if compressed else content)
    expected = numbers if dtype != "float32" else norch.tensor(numbers).tolist()
    tensor = read_idx(path)
    assert tensor.shape == [2, 3] and str(tensor.dtype) == f"norch.{dtype}" and tensor.reshape(-1).tolist() == expected
    tensor[0, 0] = 1  # of its own
    assert read_idx(str(path)).reshape(-1).tolist() == expected
    path.write_bytes(idx(code, [0, 5], b""))
    assert read_idx(path).shape == [0, 5]


@pytest.mark.parametrize(
    "content, words",
    [
        (b"", "magic number nothing"),
        (b"\0\0\x08", "magic number 00 00 08"),
        (b"\x89PNG....", "magic number 89 50 4e 47"),
        (bytes([0, 0, 7, 1]) + b"\0" * 8, "magic number 00 00 07 01.*08, 09"),
        (bytes([0, 0, 8, 9]) + b"\0" * 40, "9 dimensions, expected 1 to 8"),
        (bytes([0, 0, 8, 0]), "0 dimensions"),
        (bytes([0, 0, 8, 3]) + b"\0\0\0\1", "8 bytes, expected at least the 16"),
        (idx(8, [2, 3], b"12345"), r"5 bytes of data, expected 6 for shape \[2, 3\]"),
        (idx(8, [2, 3], b"1234567"), "7 bytes of data, expected 6"),
        (idx(0x0C, [2**32 - 1] * 3, b"1"), "1 bytes of data, expected"),
        (idx(0x0E, [2**31, 2**31, 0, 2**31], b""), "shape .* is too large"),
        (gzip.compress(idx(8, [2], b"12"))[:-9], "not a valid gzip"),
        (b"\x1f\x8bnonsense", "not a valid gzip"),
    ],
)
def test_idx_refuses(tmp_path, content, words):
    path = tmp_path / "broken-file"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"broken-file: .*{words}"):
        read_idx(path)
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "no such file")


@pytest.mark.parametrize("folder", ["", "MNIST/raw"])
@pytest.mark.parametrize("compressed", [False, True])
def test_mnist(tmp_path, folder, compressed):
    place = tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    for prefix, count in (("train", 5), ("t10k", 3)):
        files = {
            f"{prefix}-images-idx3-ubyte": idx(8, [count, 2, 2], bytes(range(51, 51 + 4 * count))),
            f"{prefix}-labels-idx1-ubyte": idx(8, [count], bytes(range(count))),
        }
        for name, content in files.items():
            (place / (name + ".gz" * compressed)).write_bytes(gzip.compress(content) if compressed else content)
    train, test = mnist(tmp_path), mnist(tmp_path, train=False)
    assert len(train) == 5 and len(test) == 3
    image, label = train[0]
    assert image.shape == [1, 2, 2] and image.dtype is norch.float32 and label.item() == 0
    assert image[0, 0, 0] == pytest.approx(51 / 255)
    images, labels = next(iter(DataLoader(train, batch_size=4)))
    assert images.shape == [4, 1, 2, 2] and labels.tolist() == [0, 1, 2, 3] and labels.dtype is norch.int64


def test_mnist_refuses(tmp_path):
    with pytest.raises(FileNotFoundError, match="train-images-idx3-ubyte.*MNIST/raw"):
        mnist(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(8, [2, 1, 1], b"12"))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(8, [3], b"123"))
    with pytest.raises(ValueError, match="train-labels-idx1-ubyte: 3 labels, expected one for each of 2 images"):
        mnist(tmp_path)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(8, [3, 1], b"123"))
    with pytest.raises(ValueError, match=r"labels.*\[3, 1\], expected bytes of 1 dimensions"):
        mnist(tmp_path)


# ---- CSV -------------------------------------------------------------------------------------------------------------


def table(tmp_path, text, **options):
    path = tmp_path / "data.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read_csv(path, **options)


@pytest.mark.parametrize(
    "text, options, expected",
    [
        ("a,b\n1,2\n3,4\n", {}, [[1.0, 2.0], [3.0, 4.0]]),
        ("a,b\r\n1, 2.5\r\n\r\n-3e2 ,nan_is_not_here\r\n", {"columns": ["a"]}, [[1.0], [-300.0]]),
        ("a,b\n1,2\n3,4", {"columns": ["b", "a"]}, [[2.0, 1.0], [4.0, 3.0]]),
        ("a,b\n1,2\n3,4", {"columns": [-1]}, [[2.0], [4.0]]),
        ("1;2\n3;4", {"header": False, "delimiter": ";"}, [[1.0, 2.0], [3.0, 4.0]]),
        ("1,2\n3,4", {"header": False, "columns": [1]}, [[2.0], [4.0]]),
        ("a,b\n1,2\n", {"dtype": norch.int64}, [[1, 2]]),
        ("a,b\n1,0\n", {"dtype": norch.bool}, [[True, False]]),
        ("a,b\n1,2\n", {"dtype": norch.float64}, [[1.0, 2.0]]),
        ("a,b\n1,\n", {"missing": -1}, [[1.0, -1.0]]),
        ('"a, b","c"\n"1",2\n', {"columns": ["a, b"]}, [[1.0]]),
        ("x,kind\n1,red\n2,blue\n", {"converters": {"kind": {"red": 0, "blue": 7}}}, [[1.0, 0.0], [2.0, 7.0]]),
        ("x,y\n1,0x10\n", {"converters": {1: lambda t: int(t, 16)}, "dtype": norch.int32}, [[1, 16]]),
        ("x\n50%\n", {"converters": {"x": lambda t: float(t.rstrip("%")) / 100}}, [[0.5]]),
    ],
)
def test_csv(tmp_path, text, options, expected):
    tensor = table(tmp_path, text, **options)
    assert tensor.tolist() == expected and tensor.dtype is options.get("dtype", norch.float32)


def test_csv_of_no_rows_and_of_missing_numbers(tmp_path):
    assert table(tmp_path, "a,b\n").shape == [0, 2]
    tensor = table(tmp_path, 'a\n1\n""\n', missing=math.nan)
    assert tensor[0, 0] == 1.0 and math.isnan(tensor[1, 0])
    path = tmp_path / "latin.csv"
    path.write_bytes("größe\n1\n".encode("latin-1"))
    assert read_csv(path, ["größe"], encoding="latin-1").tolist() == [[1.0]]
    with pytest.raises(ValueError, match="latin.csv: not text in utf-8"):
        read_csv(path)
    with pytest.raises(TypeError, match="converters is 2.0"):
        read_csv(path, converters=2.0)


@pytest.mark.parametrize(
    "text, options, words",
    [
        ("", {}, "data.csv: the file is empty"),
        ("a,b\n1,2\n3,x\n", {}, "data.csv, line 3: column 'b' holds 'x', expected float32"),
        ("1,2\n3,x\n", {"header": False}, "line 2: column 1 holds 'x'"),
        ("a,b\n1,2\n\n3,\n", {}, "line 4: column 'b' is empty"),
        ("a,b\n1,2\n3\n", {}, "line 3: 1 cells, expected 2"),
        ("a,b\n1,2,3\n", {}, "line 2: 3 cells, expected 2"),
        ("a,b\n1,2\n", {"columns": ["c"]}, "column 'c' is missing, expected one of a, b"),
        ("a,a\n1,2\n", {"columns": ["a"]}, "column 'a' is repeated"),
        ("a,b\n1,2\n", {"columns": [2]}, "column 2, expected a name or a position below 2"),
        ("a,b\n1,2\n", {"columns": [None]}, "column None"),
        ("a\n1.5\n", {"dtype": norch.int64}, "'1.5', expected int64"),
        ("a\n300\n", {"dtype": norch.uint8}, "'300', expected uint8"),
        ("a\n99999999999999999999\n", {"dtype": norch.int64}, "expected int64"),
        ("a\nred\n", {"converters": {"a": {"blue": 1}}}, "line 2: column 'a' holds 'red'"),
        ('a\n"1\n', {}, "line 2"),
    ],
)
def test_csv_refuses(tmp_path, text, options, words):
    with pytest.raises(ValueError, match=words):
        table(tmp_path, text, **options)


# ---- Toy sets --------------------------------------------------------------------------------------------------------


def seeded(seed):
    return norch.Generator().manual_seed(seed)


def test_sin_squared_is_the_article_s():
    x, y = sin_squared().tensors
    assert x.shape == y.shape == [51, 1]
    for i in range(51):
        assert x[i, 0].item() == pytest.approx(0.4 * i, abs=1e-5)
        assert y[i, 0].item() == pytest.approx(math.sin(0.4 * i) ** 2, abs=2e-5)
    noisy = sin_squared(2000, noise=0.5, generator=seeded(1)).tensors[1] - sin_squared(2000).tensors[1]
    assert noisy.std().item() == pytest.approx(0.5, rel=0.1) and abs(noisy.mean().item()) < 0.05


def test_moons_and_spirals_lie_where_they_should():
    points, label = moons(101, noise=0.0).tensors
    assert points.shape == [101, 2] and label.tolist() == [i % 2 for i in range(101)] and label.dtype is norch.int64
    centers = norch.where((label == 0).unsqueeze(1), norch.tensor([0.0, 0.0]), norch.tensor([1.0, 0.5]))
    radius = (points - centers).norm(dim=1)
    assert (radius - 1).abs().max().item() < 1e-5
    points, label = spirals(300, classes=3, turns=0.5, noise=0.0).tensors
    assert points.shape == [300, 2] and label.tolist() == [i % 3 for i in range(300)]
    radius = points.norm(dim=1)
    assert radius.max().item() == pytest.approx(1.0, abs=1e-5)
    for i in range(30, 300):  # the angle is the class's, and half a turn for each unit of radius
        angle = math.atan2(points[i, 1], points[i, 0]) / (2 * math.pi) - (i % 3) / 3 - 0.5 * radius[i]
        assert abs(angle - round(angle)) < 1e-4


@pytest.mark.parametrize("make", [moons, spirals, lambda **o: sin_squared(noise=0.1, **o)])
def test_toy_sets_follow_the_seed(make):
    first, again, other = (make(generator=seeded(seed)).tensors for seed in (1, 1, 2))
    assert all(a.equal(b) for a, b in zip(first, again)) and not all(a.equal(b) for a, b in zip(first, other))


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda: moons(0), "samples is 0"),
        (lambda: moons(noise=-1.0), "noise is -1.0"),
        (lambda: spirals(classes=0), "classes is 0"),
        (lambda: sin_squared(-1), "samples is -1"),
    ],
)
def test_toy_sets_refuse(use, words):
    with pytest.raises(ValueError, match=words):
        use()


def test_a_gzip_bomb_is_read_no_further_than_its_header_says(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(idx(8, [2], b"12"))
        for _ in range(256):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(ValueError, match="at least 3 bytes of data, expected 2"):
        norch.utils.data.read_idx(path)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_gzip_bomb_whose_header_claims_more_than_it_holds_is_not_read(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(idx(8, [2**31 - 1, 2**20], b""))
        for _ in range(16):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(ValueError, match="do not fit into a gzip file of this size"):
        norch.utils.data.read_idx(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
