"""Sentiment, intent and slots: how good against VADER and TextBlob, how fast against a plain torch pipeline.

    python -m benchmarks.language.sentences [--data FOLDER] [--full FOLDER]

`--data` names the public sets (MELD, Harper Valley, NLU++, HWU64; default: TENOR_BENCH_DATA); without them only our
frozen sentences are measured. `--full` names the same model in full precision, which `python -m finetune language`
writes beside the one that ships. VADER, TextBlob and torch come with the extra `bench`. Everything runs on one thread,
in turns, so that a busy machine slows all alike.

What a model reaches that is trained on BANKING77 or CLINC150 is told by the command that trains it:
`python -m finetune intents TRAIN --test TEST`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are imported

from benchmarks.services import DATA
from finetune.corpus import datasets
from finetune.evaluate.report import Scores, all_scores, sentiment_scores
from finetune.evaluate.scores import percentile
from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import open_model

TARGETS = {
    "own macro-F1": 0.75,
    "task of a call (text)": 0.85,
    "task of a call (recognised)": 0.85,
}
MOST_NOT_NEUTRAL, OVER_VADER, P95_MS, FASTER, KEPT = 0.2, 0.08, 10.0, 3.0, 0.99
ROUNDS = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=DATA if DATA.is_dir() else None, help="folder of the public sets")
    parser.add_argument("--full", type=Path, help="the model in full precision")
    options, _ = parser.parse_known_args()
    model = open_model()
    figures = all_scores(model, options.data)
    others = {name: sentiment_scores(answer, options.data) for name, answer in lexicons().items()}
    quality(figures, others)
    if options.full is not None:
        precision(figures, all_scores(open_model(options.full), options.data))
    speed(LocalBackend(model))


def quality(figures: Scores, others: dict[str, Scores]) -> None:
    width = max(map(len, figures))
    print(f"{'in percent':{width}} {'ours':>8}" + "".join(f"{name:>10}" for name in others))
    for name, value in figures.items():
        line = f"{name:{width}} {100 * value:8.1f}"
        line += "".join(f"{100 * one[name]:10.1f}" if name in one else f"{'':10}" for one in others.values())
        if name in TARGETS:
            line += verdict(value >= TARGETS[name], f"at least {100 * TARGETS[name]:.0f}")
        if name == "routine not neutral":
            line += verdict(value <= MOST_NOT_NEUTRAL, f"at most {100 * MOST_NOT_NEUTRAL:.0f}")
        if name == "MELD dev macro-F1" and "VADER" in others:
            ahead = value - others["VADER"][name]
            line += verdict(ahead >= OVER_VADER, f"{100 * ahead:+.1f} over VADER, at least {100 * OVER_VADER:+.0f}")
        print(line)


def precision(small: Scores, full: Scores) -> None:
    """Of every figure where more is better: what int8 keeps of it."""
    kept = {name: small[name] / full[name] for name in small if name != "routine not neutral" and full[name]}
    worst = min(kept, key=kept.__getitem__)
    mean = sum(kept.values()) / len(kept)
    print(f"int8 keeps {100 * mean:.2f} % of full precision on average, {100 * kept[worst]:.1f} % of {worst}", end="")
    print(verdict(mean >= KEPT, f"at least {100 * KEPT:.0f} %"))


def speed(backend: LocalBackend) -> None:
    texts = [row["text"] for name in ("sentiment", "intents") for row in datasets.evaluation(name)]
    for text in texts[:20]:
        backend.analyze([text])
    wall, cpu = [], []
    for number in range(ROUNDS):
        began, used = time.perf_counter(), time.process_time()
        backend.analyze([texts[number % len(texts)]])
        wall.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - used))
    print(f"one sentence: p50 {percentile(wall, 0.5):.1f} ms, p95 {percentile(wall, 0.95):.1f} ms by the clock", end="")
    print(verdict(percentile(wall, 0.95) < P95_MS, f"under {P95_MS:.0f} ms"), end="")
    print(f"; processor p50 {percentile(cpu, 0.5):.1f} ms, p95 {percentile(cpu, 0.95):.1f} ms")
    plain = torch_pipeline()
    ours_s, plain_s, batched_s = 0.0, 0.0, 0.0
    for _ in range(3):
        ours_s += processor_time(lambda: backend.analyze(texts))
        if plain is not None:
            plain_s += processor_time(lambda: plain(texts))
            batched_s += processor_time(lambda: plain(texts, batch_size=32))
    print(f"in batches: {3 * len(texts) / ours_s:.0f} sentences a second of processor time", end="")
    if plain is None:
        print("; torch is not installed, so no comparison")
        return
    print(f"; a plain transformers pipeline {3 * len(texts) / plain_s:.0f}, ratio {plain_s / ours_s:.1f}", end="")
    print(verdict(plain_s / ours_s >= FASTER, f"at least {FASTER:.0f}"), end="")
    print(f"; with batch_size=32 {3 * len(texts) / batched_s:.0f}, ratio {batched_s / ours_s:.1f}")


def processor_time(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def lexicons() -> dict[str, Callable[[Sequence[str]], list[str]]]:
    """Word lists that tell sentiment without a model, those that are installed."""
    found: dict[str, Callable[[Sequence[str]], list[str]]] = {}
    if find_spec("vaderSentiment"):
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        vader = SentimentIntensityAnalyzer()
        # 0.05 is what its authors name.
        found["VADER"] = lambda texts: [label(vader.polarity_scores(text)["compound"], 0.05) for text in texts]
    if find_spec("textblob"):
        from textblob import TextBlob

        found["TextBlob"] = lambda texts: [label(TextBlob(text).sentiment.polarity, 1e-9) for text in texts]
    if not found:
        print("VADER and TextBlob are not installed, so no comparison", file=sys.stderr)
    return found


def label(polarity: float, least: float) -> str:
    return "positive" if polarity >= least else "negative" if polarity <= -least else "neutral"


def torch_pipeline() -> Callable[..., object] | None:
    """The same encoder as most people run it, with one head of three labels; its weights do not change its speed."""
    if not find_spec("torch") or not find_spec("transformers"):
        return None
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification, pipeline

    from finetune.train.encoders import minilm_folder

    torch.set_num_threads(1)
    folder = minilm_folder()
    network = BertForSequenceClassification.from_pretrained(folder, num_labels=3).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return pipeline("text-classification", model=network, tokenizer=tokenizer, device="cpu")  # type: ignore[no-any-return]


def verdict(good: bool, wanted: str) -> str:
    return f"  ({wanted}: {'yes' if good else 'NO'})"


if __name__ == "__main__":
    main()
