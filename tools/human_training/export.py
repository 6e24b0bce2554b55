"""A network → ONNX with its weights in half precision; they become single precision once, when a session opens."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from .net import N_PLANES, HumanNet

BATCH = 8  # any: the batch is a free dimension of the file


def export(net: HumanNet, path: Path) -> None:
    """Write the network as it is used: planes in, maps and underpromotion terms out."""
    net = copy.deepcopy(net).float().cpu().eval()
    example = torch.zeros(BATCH, N_PLANES, 8, 8)
    with warnings.catch_warnings():  # the exporter that traces is called old, but needs no further package
        warnings.simplefilter("ignore")
        torch.onnx.export(
            net,
            (example,),
            str(path),
            input_names=["planes"],
            output_names=["maps", "under"],
            dynamic_axes={"planes": {0: "batch"}, "maps": {0: "batch"}, "under": {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load(str(path))
    halve(model)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString())


def halve(model: onnx.ModelProto) -> None:
    """Keep every weight in half precision; it becomes single precision when a session opens."""
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT:
            continue
        name, value = tensor.name, numpy_helper.to_array(tensor)
        tensor.CopyFrom(numpy_helper.from_array(value.astype(np.float16), name + "_half"))
        casts.append(helper.make_node("Cast", [name + "_half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
