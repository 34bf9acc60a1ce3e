"""ONNX models of two affine layers with a ReLU, or a leaky one, between them (an extra).

A layer is Gemm, or MatMul with or without Add; the first one may be Conv, and then outputs are averaged over positions
(GlobalAveragePool, or ReduceMean over the axes of the image). The graph must be a chain from its one input to its one
output; every other operator, and every fork, is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from relu_cert.errors import DataError, UsageError, quote
from relu_cert.network.formats.json_text import Array, assemble, exact, optional, weights
from relu_cert.network.formats.named import deep
from relu_cert.network.trained import Origin, TrainedNetwork

EXTRA = "onnx"
_CHAIN = (
    "expected Gemm, or MatMul and Add, or Conv; then Relu or LeakyRelu; after Conv GlobalAveragePool or ReduceMean and "
    "Flatten; then Gemm, or MatMul and Add"
)
_GEMM = {"alpha": Fraction(1), "beta": Fraction(1), "transA": Fraction(0), "transB": Fraction(0)}
_ONE = np.array(Fraction(1), dtype=object)
_OPSET, _IR_VERSION = 14, 8


@dataclass(frozen=True)
class _Linear:
    """x A, A (inputs x outputs); of the windows for a convolution, with its filters' shape, its stride and padding."""

    A: Array
    kernel: tuple[int, ...] = ()
    slides: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Shift:
    """x + b"""

    b: Array


@dataclass(frozen=True, eq=False)
class _Scale:
    """by x + add, entry by entry: batch normalisation, as it is at evaluation"""

    by: Array
    add: Array


@dataclass(frozen=True)
class _Relu:
    """max(x, slope x)"""

    slope: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Mean:
    """The mean over all positions."""


_Step = _Linear | _Shift | _Scale | _Relu | _Mean


def read(raw: bytes, name: str, origin: Origin) -> TrainedNetwork:
    """The network of an ONNX model."""
    onnx = optional("onnx", EXTRA, "reading ONNX")
    try:
        model = onnx.load_model_from_string(raw)
    except Exception:  # protobuf's errors have no common, importable base
        raise DataError(f"{name}: not a readable ONNX model; export it again.") from None
    if model.functions:
        raise DataError(f"{name}: a model with functions of its own; {_CHAIN}.")
    return _network(name, origin, list(_steps(name, model.graph)))


def write(network: TrainedNetwork, name: str) -> bytes:
    """Gemm, Relu, Gemm in float64, with the input `x` (rows x d) and the output `y` (rows x C)."""
    onnx = optional("onnx", EXTRA, "writing ONNX")
    helper, number = onnx.helper, onnx.TensorProto.DOUBLE
    W1, b1, w2, b2, skip, _ = weights(network, name).require_relu("an ONNX file as it is written here")
    if skip is not None:
        raise UsageError("an ONNX file here has no skip connection; write the network as .json or .npz.")
    constants = {"W1": W1, "w2": np.atleast_2d(w2)}
    first, second = ["x", "W1"], ["h", "w2"]
    if b1 is not None:
        constants["b1"] = b1
        first.append("b1")
    if b2.any():
        constants["b2"] = b2
        second.append("b2")
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", first, ["a"], transB=1),
            helper.make_node("Relu", ["a"], ["h"]),
            helper.make_node("Gemm", second, ["y"], transB=1),
        ],
        "two-layer ReLU network",
        [helper.make_tensor_value_info("x", number, ["rows", network.d])],
        [helper.make_tensor_value_info("y", number, ["rows", network.targets])],
        [onnx.numpy_helper.from_array(array, key) for key, array in constants.items()],
    )
    model = helper.make_model(
        graph, producer_name="relu_cert", opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
    )
    onnx.checker.check_model(model)
    saved: bytes = model.SerializeToString()
    return saved


def _steps(name: str, graph: Any) -> Iterator[_Step]:
    """The chain from the graph's input to its output."""
    constants = _constants(name, graph)
    inputs = [value.name for value in graph.input if value.name not in constants]
    if len(inputs) != 1 or len(graph.output) != 1:
        raise DataError(f"{name}: {len(inputs)} inputs and {len(graph.output)} outputs; expected one of each.")
    made = [value for node in graph.node for value in node.output]
    if len({*made, *inputs, *(tensor.name for tensor in graph.initializer)}) < len(made) + 1 + len(graph.initializer):
        raise DataError(f"{name}: a name is given twice; export the model again.")
    current = inputs[0]
    for node in graph.node:
        if node.op_type == "Constant":
            continue
        if node.domain not in ("", "ai.onnx"):
            raise DataError(f"{name}: unknown layer {quote(node.op_type)} of {quote(node.domain)}; {_CHAIN}.")
        others = {value for value in node.input if value and value != current}
        once = sum(value == current for value in node.input) == 1
        if len(node.output) != 1 or not once or not others <= set(constants):
            raise DataError(f"{name}: the layer {quote(node.op_type)} is not part of a chain; {_CHAIN}.")
        yield from _step(name, node, current, constants)
        current = node.output[0]
    if current != graph.output[0].name:
        raise DataError(f"{name}: the last layer is not the output; {_CHAIN}.")


def _constants(name: str, graph: Any) -> dict[str, Array]:
    onnx = optional("onnx", EXTRA, "reading ONNX")
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and len(node.attribute) == 1 and node.attribute[0].name == "value":
            tensors[node.output[0]] = node.attribute[0].t
    found: dict[str, Array] = {}
    for key, tensor in tensors.items():
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise DataError(f"{name}: {quote(key)} lies in another file; save the model as one file.")
        try:
            array = np.asarray(onnx.numpy_helper.to_array(tensor))
        except Exception:  # whatever a damaged tensor does
            raise DataError(f"{name}: the tensor {quote(key)} cannot be read; export the model again.") from None
        found[key] = array
    return found


def _step(name: str, node: Any, current: str, constants: dict[str, Array]) -> Iterator[_Step]:
    attributes = _attributes(name, node)
    match node.op_type:
        case "Identity" | "Flatten" | "Dropout":
            pass
        case "Relu":
            yield _Relu()
        case "LeakyRelu":
            yield _Relu(attributes["alpha"])
        case "GlobalAveragePool":
            yield _Mean()
        case "ReduceMean":
            axes = attributes.get("axes") or [int(a) for value in node.input[1:] for a in constants[value].ravel()]
            if [*axes] not in ([2], [2, 3], [-1], [-2, -1], [-1, -2], [3, 2]):
                raise DataError(
                    f"{name}: ReduceMean over the axes {[*axes]}; expected those of the image, [2, 3] or [2]."
                )
            yield _Mean()
        case "Conv":
            yield from _convolution(name, node, attributes, constants)
        case "Add":
            yield _Shift(_exact(constants[next(v for v in node.input if v != current)], name))
        case "BatchNormalization":
            yield _normal(name, node, attributes, constants)
        case "MatMul" | "Gemm" if node.input[0] != current or attributes.get("transA"):
            raise DataError(
                f"{name}: {node.op_type} with transA or the weights on the left; expected rows of data on the left."
            )
        case "MatMul":
            yield _Linear(_matrix(constants[node.input[1]], name))
        case "Gemm":
            A = _matrix(constants[node.input[1]], name)
            yield _Linear((A.T if attributes["transB"] else A) * attributes["alpha"])
            if len(node.input) > 2 and node.input[2]:
                yield _Shift(_exact(constants[node.input[2]], name) * attributes["beta"])
        case other:
            raise DataError(f"{name}: unknown layer {quote(other)}; {_CHAIN}.")


def _normal(name: str, node: Any, attributes: dict[str, Any], constants: dict[str, Array]) -> _Scale:
    """Batch normalisation as it is at evaluation, in doubles."""
    if attributes["training_mode"]:
        raise DataError(f"{name}: BatchNormalization in training mode; export the model after model.eval().")
    gamma, beta, mean, var = (constants[value].astype(np.float64) for value in node.input[1:])
    by = gamma / np.sqrt(var + float(attributes["epsilon"]))
    return _Scale(_exact(by, name), _exact(beta - by * mean, name))


def _convolution(name: str, node: Any, attributes: dict[str, Any], constants: dict[str, Array]) -> Iterator[_Step]:
    """A convolution with the same stride and padding along all axes, as a matrix of its windows."""
    W = constants[node.input[1]]
    strides, pads = ({*(attributes.get(key) or [usual])} for key, usual in (("strides", 1), ("pads", 0)))
    if W.ndim not in (3, 4) or len(strides) > 1 or len(pads) > 1:
        raise DataError(
            f"{name}: a convolution of shape {W.shape}, strides {strides}, pads {pads}; expected one of each."
        )
    known: dict[str, set[Any]] = {"dilations": {1}, "group": {1}, "auto_pad": {"NOTSET"}}
    for key, least in known.items():
        given = attributes.get(key)
        if given is not None and {*(given if isinstance(given, list) else [given])} - least:
            raise DataError(f"{name}: a convolution with {key} = {given}, which is not understood.")
    if (attributes.get("kernel_shape") or [*W.shape[2:]]) != [*W.shape[2:]]:
        raise DataError(f"{name}: a kernel_shape that is not that of the filters, {W.shape[2:]}.")
    yield _Linear(_exact(W.reshape(len(W), -1), name).T, W.shape[1:], (strides.pop(), pads.pop()))
    if len(node.input) > 2 and node.input[2]:
        yield _Shift(_exact(constants[node.input[2]], name))


_KNOWN: dict[str, dict[str, Any]] = {
    "Gemm": dict(_GEMM),
    "BatchNormalization": {
        "epsilon": Fraction(np.float32(1e-5).item()),
        "momentum": Fraction(0),
        "training_mode": Fraction(0),
    },
    "LeakyRelu": {"alpha": Fraction(np.float32(0.01).item())},
    "Conv": dict.fromkeys(("strides", "pads", "dilations", "group", "auto_pad", "kernel_shape")),
    "ReduceMean": dict.fromkeys(("axes", "keepdims", "noop_with_empty_axes")),
    "Flatten": {"axis": Fraction(1)},
}


def _attributes(name: str, node: Any) -> dict[str, Any]:
    """What a node is told, with its defaults; anything unknown is refused, for it may change what the node means."""
    found = dict(_KNOWN.get(node.op_type, {}))
    told = [attribute.name for attribute in node.attribute]
    if len(set(told)) < len(told) or not set(told) <= set(found):
        raise DataError(f"{name}: unknown attributes of the layer {quote(node.op_type)}; {_CHAIN}.")
    for attribute in node.attribute:
        if found[attribute.name] is None:
            found[attribute.name] = [*attribute.ints] or (attribute.s.decode() if attribute.s else attribute.i)
            continue
        if attribute.name == "axis":
            if attribute.i != 1:
                raise DataError(f"{name}: Flatten from axis {attribute.i}; expected 1, one row for each image.")
            continue
        number = attribute.i if attribute.name.startswith("tra") else attribute.f
        if not isfinite(number):
            raise DataError(f"{name}: the attribute {attribute.name} is {number}; weights must be finite.")
        found[attribute.name] = Fraction(number)
    return found


def _exact(array: Array, name: str) -> Array:
    """The same array with exact entries."""
    return np.array(exact(array.reshape(-1), name, "a constant"), dtype=object).reshape(array.shape)


def _matrix(array: Array, name: str) -> Array:
    if array.ndim != 2:
        raise DataError(f"{name}: a layer's weights have shape {array.shape}; expected a matrix.")
    return _exact(array, name)


def _network(name: str, origin: Origin, steps: list[_Step]) -> TrainedNetwork:
    """Two affine layers around one ReLU, and before them the layers in front, each with its ReLU."""
    relus = [i for i, step in enumerate(steps) if isinstance(step, _Relu)]
    linear = sum(isinstance(step, _Linear) for step in steps)
    if not relus or relus[-1] == len(steps) - 1:
        raise DataError(f"{name}: {len(relus)} ReLU layers and {linear} linear layers; {_CHAIN}.")
    if len(relus) > 1 and origin.layer < len(relus):
        raise DataError(f"{name}: {deep(linear)}.")
    if origin.layer > max(len(relus), 1) or len({steps[i] for i in relus}) > 1:
        what = (
            f"{len(relus)} ReLU layers, of {len({steps[i] for i in relus})} slopes, and layer {origin.layer} asked for"
        )
        raise DataError(f"{name}: {what}; expected one slope, and a network of two layers from there on.")
    at = [0, *(i + 1 for i in relus)]
    before = tuple(_affine(name, steps[a : b - 1]) for a, b in pairwise(at[:-1]))
    head, rest, relu = steps[at[-2] : relus[-1]], steps[relus[-1] + 1 :], steps[relus[-1]]
    A, b1 = _affine(name, head)
    first = head[0]
    kernel, slides = (first.kernel, first.slides) if isinstance(first, _Linear) else ((), None)
    if bool(kernel) != isinstance(rest[0], _Mean) or (before and kernel):
        raise DataError(f"{name}: a convolution, and a mean over the positions after its ReLU, go together; {_CHAIN}.")
    B, b2 = _affine(name, rest[bool(kernel) :])
    for one, two in pairwise((*(W.T for W, _ in before), A.T, B.T)):
        if one.shape[0] != two.shape[1]:
            raise DataError(f"{name}: layers of shapes {one.T.shape} and {two.T.shape} do not follow one another.")
    normal = sum(isinstance(step, _Scale) for step in steps)
    folded = (f"{normal} of them",) if normal > 1 else ("BatchNormalization",) * normal
    found = assemble(name, replace(origin, folded=folded), A.T, B.T, b1, b2)
    slope = relu.slope if isinstance(relu, _Relu) else Fraction(0)
    layers = tuple((W.T, b) for W, b in before)
    return replace(found, before=layers, kernel=kernel, slides=slides, slope=slope or None)


def _affine(name: str, steps: list[_Step]) -> tuple[Array, Array | None]:
    """One linear layer with its shifts, and with batch normalisation on either side."""
    A, b = None, None
    scale, shift = _ONE, None  # what is done to the inputs
    for step in steps:
        match step:
            case _Linear() if A is None and not (step.kernel and scale is not _ONE):
                A, b = scale.reshape(-1, 1) * step.A, None if shift is None else shift @ step.A
            case _Shift(value) if A is not None:
                size = A.shape[1]
                if value.size not in (1, size) or (value.ndim > 1 and value.shape[-1] != value.size):
                    what = f"a bias of shape {value.shape} after {size} outputs; expected one for each"
                    raise DataError(f"{name}: {what}.")
                row = np.broadcast_to(value.reshape(-1), (size,))
                b = row if b is None else b + row
            case _Scale(by, add) if A is None:
                scale, shift = scale * by, add if shift is None else shift * by + add
            case _Scale(by, add) if A is not None and by.shape == A.shape[1:]:
                A, b = A * by, add if b is None else b * by + add
            case _:
                raise DataError(f"{name}: the layers before or after the ReLU are not one affine layer; {_CHAIN}.")
    if A is None:
        raise DataError(f"{name}: the layers before or after the ReLU are not one affine layer; {_CHAIN}.")
    return A, b
