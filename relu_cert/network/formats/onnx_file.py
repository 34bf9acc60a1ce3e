"""ONNX models of two affine layers with a ReLU between them (an extra).

A layer is Gemm, or MatMul with or without Add. The graph must be a chain from its one input to its one output; every
other operator, and every fork, is refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from relu_cert.errors import DataError, UsageError
from relu_cert.messages import shown
from relu_cert.network.formats.arrays import Array, assemble, exact, optional, weights
from relu_cert.network.trained import Origin, TrainedNetwork

EXTRA = "onnx"
_CHAIN = "expected Gemm or MatMul and Add, then Relu, then Gemm or MatMul and Add"
_GEMM = {"alpha": Fraction(1), "beta": Fraction(1), "transA": Fraction(0), "transB": Fraction(0)}
_OPSET, _IR_VERSION = 14, 8


@dataclass(frozen=True)
class _Linear:
    """x A, A (inputs x outputs)."""

    A: Array


@dataclass(frozen=True)
class _Shift:
    """x + b"""

    b: Array


@dataclass(frozen=True)
class _Relu:
    """(x)_+"""


_Step = _Linear | _Shift | _Relu


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
    """Gemm, Relu, Gemm in float64, with the input `x` (rows x d) and the output `y` (rows x 1)."""
    onnx = optional("onnx", EXTRA, "writing ONNX")
    helper, number = onnx.helper, onnx.TensorProto.DOUBLE
    W1, b1, w2, b2, skip, _ = weights(network, name).require_relu("an ONNX file as it is written here")
    if skip is not None:
        raise UsageError("an ONNX file here has no skip connection; write the network as .json or .npz.")
    constants = {"W1": W1, "w2": w2.reshape(1, -1)}
    first, second = ["x", "W1"], ["h", "w2"]
    if b1 is not None:
        constants["b1"] = b1
        first.append("b1")
    if b2:
        constants["b2"] = np.array([b2])
        second.append("b2")
    graph = helper.make_graph(
        [
            helper.make_node("Gemm", first, ["a"], transB=1),
            helper.make_node("Relu", ["a"], ["h"]),
            helper.make_node("Gemm", second, ["y"], transB=1),
        ],
        "two-layer ReLU network",
        [helper.make_tensor_value_info("x", number, ["rows", network.d])],
        [helper.make_tensor_value_info("y", number, ["rows", 1])],
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
            raise DataError(f"{name}: unknown layer {shown(node.op_type)} of {shown(node.domain)}; {_CHAIN}.")
        others = {value for value in node.input if value and value != current}
        once = sum(value == current for value in node.input) == 1
        if len(node.output) != 1 or not once or not others <= set(constants):
            raise DataError(f"{name}: the layer {shown(node.op_type)} is not part of a chain; {_CHAIN}.")
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
            raise DataError(f"{name}: {shown(key)} lies in another file; save the model as one file.")
        try:
            array = np.asarray(onnx.numpy_helper.to_array(tensor))
        except Exception:  # whatever a damaged tensor does
            raise DataError(f"{name}: the tensor {shown(key)} cannot be read; export the model again.") from None
        found[key] = array
    return found


def _step(name: str, node: Any, current: str, constants: dict[str, Array]) -> Iterator[_Step]:
    attributes = _attributes(name, node)
    match node.op_type:
        case "Identity":
            return
        case "Relu":
            yield _Relu()
        case "Add":
            yield _Shift(_exact(constants[next(v for v in node.input if v != current)], name))
        case "MatMul":
            if node.input[0] != current:
                raise DataError(f"{name}: MatMul with the weights on the left; expected rows of data on the left.")
            yield _Linear(_matrix(constants[node.input[1]], name))
        case "Gemm":
            if node.input[0] != current or attributes["transA"]:
                raise DataError(f"{name}: Gemm with transA or the weights on the left; expected rows of data there.")
            A = _matrix(constants[node.input[1]], name)
            yield _Linear((A.T if attributes["transB"] else A) * attributes["alpha"])
            if len(node.input) > 2 and node.input[2]:
                yield _Shift(_exact(constants[node.input[2]], name) * attributes["beta"])
        case other:
            raise DataError(f"{name}: unknown layer {shown(other)}; {_CHAIN}.")


def _attributes(name: str, node: Any) -> dict[str, Fraction]:
    """What a node is told, with its defaults; anything unknown is refused, for it may change what the node means."""
    found = dict(_GEMM) if node.op_type == "Gemm" else {}
    told = [attribute.name for attribute in node.attribute]
    if len(set(told)) < len(told) or not set(told) <= set(found):
        raise DataError(f"{name}: unknown attributes of the layer {shown(node.op_type)}; {_CHAIN}.")
    for attribute in node.attribute:
        number = attribute.i if attribute.name.startswith("trans") else attribute.f
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
    """Two affine layers around one ReLU."""
    relus = [i for i, step in enumerate(steps) if isinstance(step, _Relu)]
    if len(relus) != 1:
        layers = sum(isinstance(step, _Linear) for step in steps)
        raise DataError(f"{name}: {len(relus)} ReLU layers and {layers} linear layers; {_CHAIN}.")
    A, b1 = _affine(name, steps[: relus[0]])
    B, b2 = _affine(name, steps[relus[0] + 1 :])
    if A.shape[1] != B.shape[0]:
        raise DataError(f"{name}: layers of shapes {A.shape} and {B.shape} do not follow one another.")
    if B.shape[1] != 1:
        raise DataError(f"{name}: a network with several outputs ({B.shape[1]}); only one output is understood.")
    return assemble(name, origin, A.T, B.T, b1, b2)


def _affine(name: str, steps: list[_Step]) -> tuple[Array, Array | None]:
    match steps:
        case [_Linear(A)]:
            return A, None
        case [_Linear(A), _Shift(b)]:
            if b.size not in (1, A.shape[1]) or (b.ndim > 1 and b.shape[-1] != b.size):
                raise DataError(f"{name}: a bias of shape {b.shape} after {A.shape[1]} outputs; expected one for each.")
            return A, np.broadcast_to(b.reshape(-1), (A.shape[1],))
        case _:
            raise DataError(f"{name}: the layers before or after the ReLU are not one affine layer; {_CHAIN}.")
