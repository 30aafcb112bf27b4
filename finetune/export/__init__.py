"""From the trained network to the files that ship: ONNX, quantised to int8, and the model card."""
