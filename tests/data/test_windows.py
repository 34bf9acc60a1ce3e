"""Windows of signals and images, and bags of rows: exactly the rows that a loop over all positions finds."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from relu_cert.bags import EACH, Bags
from relu_cert.data.arrays import dataset_from_arrays
from relu_cert.data.dataset import Dataset
from relu_cert.data.read import read_csv_bytes
from relu_cert.data.windows import read_windows
from relu_cert.errors import DataError, UsageError

Window = tuple[Fraction, ...]


def looped(image: np.ndarray, kernel: tuple[int, ...], stride: int, padding: int) -> list[Window]:
    """The windows of an image (channels first), position by position, entry by entry."""
    sizes = image.shape[1:]
    found = []
    for at in product(*(range(0, n + 2 * padding - k + 1, stride) for n, k in zip(sizes, kernel, strict=True))):
        window = []
        for channel in range(image.shape[0]):
            for step in product(*map(range, kernel)):
                place = [a + s - padding for a, s in zip(at, step, strict=True)]
                inside = all(0 <= p < n for p, n in zip(place, sizes, strict=True))
                window.append(Fraction(int(image[(channel, *place)])) if inside else Fraction(0))
        found.append(tuple(window))
    return found


def counted(data: Dataset) -> list[tuple[Counter[Window], Fraction]]:
    """The rows of every bag, as often as they are in it, and its scale."""
    assert isinstance(data.bags, Bags)
    parts = zip(data.bags.rows, data.bags.times, data.bags.scale, strict=True)
    return [(Counter({data.Z[k]: m for k, m in zip(rows, times, strict=True)}), s) for rows, times, s in parts]


@pytest.mark.parametrize(
    ("shape", "kernel", "stride", "padding"),
    [((1, 7), (3,), 2, 0), ((2, 5), (2,), 1, 1), ((1, 4, 6), (2, 2), 2, 0), ((3, 3, 4), (2, 3), 1, 1)],
)
@pytest.mark.parametrize("bias", [False, True])
def test_windows_are_those_of_a_loop(
    shape: tuple[int, ...], kernel: tuple[int, ...], stride: int, padding: int, bias: bool
) -> None:
    """Every bag has the windows of its image, counted; rows are distinct; zero windows count in the mean only."""
    images = np.random.default_rng(0).integers(-1, 2, (5, *shape))
    images[3] = 0
    rule = "x".join(map(str, kernel)) + f":stride={stride}:padding={padding}"
    data, _ = dataset_from_arrays(images, range(5), conv=rule, bias=bias)
    one = (Fraction(1),) * bias
    for image, (rows, scale) in zip(images, counted(data), strict=True):
        every = looped(image, kernel, stride, padding)
        assert rows == Counter((*w, *one) for w in every if bias or any(w))
        assert scale == Fraction(1, len(every))
    assert len(set(data.Z)) == len(data.Z)
    assert data.d == len(data.Z[0])


def test_rows_are_in_the_order_in_which_they_appear() -> None:
    """Bag after bag, and in a bag as its rows come."""
    data, _ = dataset_from_arrays([[2, 1, 2], [3, 1, 0]], [0, 1], conv="1d:1")
    assert data.Z == ((2,), (1,), (3,))
    assert isinstance(data.bags, Bags)
    assert data.bags.rows == ((0, 1), (1, 2))
    assert data.bags.times == ((2, 1), (1, 1))
    assert data.bags.scale == (Fraction(1, 3), Fraction(1, 3))


def test_bags_are_rows_with_one_label() -> None:
    """Bags are in the order of their labels, their column is no feature, and equal rows are one."""
    raw = b"set,x,y\nb,1,5\na,2,7\nb,1,5\na,0,7\n"
    data = read_csv_bytes(raw, "sets.csv", bags="set", pool="sum")
    assert (data.Z, data.y, data.names) == (((1,), (2,)), (5, 7), ("x",))
    assert counted(data) == [(Counter({(1,): 2}), 1), (Counter({(2,): 1}), 1)]
    assert (data.source.bags, data.source.pool) == ("set", "sum")
    assert counted(read_csv_bytes(raw, "sets.csv", bags="set"))[1][1] == Fraction(1, 2)


def test_labels_in_the_first_record_are_no_header() -> None:
    """A column of labels that is named by its index does not make a header of the first row."""
    data = read_csv_bytes(b"a,1,5\nb,2,7\n", "sets.csv", bags="0")
    assert data.n == 2
    assert not data.source.header
    assert data.source.bags == "0"


def test_lists_of_tables_are_bags() -> None:
    """A list of tables is the same as its rows with labels."""
    tables, y = [[[1, 2], [3, 4]], [[3, 4]]], [1, 2]
    listed, raw = dataset_from_arrays(tables, y)
    rows, labels = [[1, 2], [3, 4], [3, 4]], ["0", "0", "1"]
    labelled, other = dataset_from_arrays(rows, [1, 1, 2], bags=labels)
    assert raw == other
    assert counted(listed) == counted(labelled)


def test_a_table_has_no_bags() -> None:
    """Without windows and labels every row is a data point."""
    assert dataset_from_arrays([[1, 2], [3, 4]], [1, 2])[0].bags is EACH


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1d:3", "1d:3"),
        ("2d:4x5:2x1:padding=0:stride=2", "2d:4x5:2x1:stride=2"),
        ("1d:2:channels=3", "1d:2:channels=3"),
    ],
)
def test_rules_are_read_and_written(text: str, canonical: str) -> None:
    """A rule has one text."""
    assert read_windows(text).text == canonical
    assert read_windows(canonical) == read_windows(text)


@pytest.mark.parametrize(
    "text",
    ["3", "3d:2", "1d:", "1d:0", "2d:4x4", "2d:4:2x2", "1d:2:stride=0", "1d:2:stride=1:stride=2", "1d:2:dilation=2"],
)
def test_bad_rules_are_refused(text: str) -> None:
    """A rule that is none gets a sentence."""
    with pytest.raises(UsageError, match="--conv"):
        read_windows(text)


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("2d:2x2:3x1", "a window of 3x1 is larger than an image of 2x2"),
        ("1d:3:stride=2", "no multiple of the stride 2"),
        ("2d:3x3:2x2", "images of 3x3 have 9 entries, but there are 4"),
        ("1d:1:channels=3", "4 columns of features cannot be signals in 3 channels"),
    ],
)
def test_windows_that_do_not_fit_are_refused(rule: str, sentence: str) -> None:
    """The sentence says what does not fit."""
    with pytest.raises(DataError, match=sentence):
        read_csv_bytes(b"1,2,3,4,0\n5,6,7,8,1\n", "images.csv", conv=rule)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"b,x,y\na,1,2\nc,1,2\na,1,3\n", "within the bag 'a': it is 2 in row 2 and 3 in row 4"),
        (b"b,x,y\na,1,2\na,3,2\n", "there is one bag only"),
        (b"b,x,y\na,1,2\n,3,2\n", "row 3 names no bag in column 1"),
        (b"b,x,y\na,0,2\nc,0,1\n", "all rows that a neuron sees are zero"),
    ],
)
def test_bad_bags_are_refused(raw: bytes, sentence: str) -> None:
    """The sentence names the bag, and the rows where there are two."""
    with pytest.raises(DataError, match=sentence):
        read_csv_bytes(raw, "sets.csv", bags="b")


def test_other_misuse_is_refused() -> None:
    """Options that do not go together, an empty bag, a shape that is not that of the rule."""
    raw = b"b,x,y\na,1,2\nc,1,2\n"
    with pytest.raises(UsageError, match="give one of them"):
        read_csv_bytes(raw, "sets.csv", bags="b", conv="1d:1")
    with pytest.raises(UsageError, match="--pool is for"):
        read_csv_bytes(raw, "sets.csv", pool="sum")
    with pytest.raises(DataError, match="both the target and"):
        read_csv_bytes(raw, "sets.csv", bags="y")
    with pytest.raises(DataError, match="empty bag"):
        dataset_from_arrays([[[1]], np.zeros((0, 1))], [1, 2])
    with pytest.raises(DataError, match="not that of conv"):
        dataset_from_arrays(np.zeros((2, 1, 2, 3)), [1, 2], conv="2d:3x2:1x1")


def test_a_million_windows_are_one_row_for_each_kind() -> None:
    """Memory follows the distinct windows: 40 images of 160 x 160 with two grey values have 16 windows of 2 x 2."""
    images = np.random.default_rng(0).integers(0, 2, (40, 25600))
    rows = read_windows("2d:160x160:2x2").of(images.astype(np.int32), 0)
    assert rows.size == 40 * 159 * 159 * 4
    from relu_cert.data.windows import bags_of

    flat = rows.reshape(-1, 4)
    Z, bags = bags_of(flat, np.repeat(np.arange(40), 159 * 159), [Fraction(0), Fraction(1)], False, "mean")
    assert len(Z) == 15
    assert all(len(rows) == 15 for rows in bags.rows)
