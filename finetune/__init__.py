"""How the language models that ship are made and measured: `python -m finetune`.

    data/ and public sets --> corpus/ --> train/ --> export/ (ONNX, int8) --> evaluate/ --> a model's folder

`build` goes this way from one end to the other. All but training and export runs without the extra `finetune`.
"""

from finetune.corpus.examples import LabelledText, TaggedText
from finetune.evaluate.scores import accuracy, f1_by_label, macro_f1, percentile, span_f1

__all__ = ["LabelledText", "TaggedText", "accuracy", "f1_by_label", "macro_f1", "percentile", "span_f1"]
