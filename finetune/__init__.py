"""How models are made and measured: those that ship (`python -m finetune`), and those of `tenor finetune`.

    data/ and public sets --> corpus/ --> train/ --> export/ (ONNX, int8) --> evaluate/ --> a model's folder
    rows of a dataset     --> recipes/ -> train/ --> export/ --> a candidate --> gate/ (is it better?)

`build` goes the first way from one end to the other. All but training and export runs without the extra `finetune`.
"""

from finetune.corpus.examples import LabelledText, TaggedText
from finetune.evaluate.scores import accuracy, f1_by_label, macro_f1, percentile, span_f1

__all__ = ["LabelledText", "TaggedText", "accuracy", "f1_by_label", "macro_f1", "percentile", "span_f1"]
