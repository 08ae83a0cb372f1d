"""
Labels by scikit-learn for the data sets of shapes.ts: `node test/data-sets/main.ts` runs it and writes labels.json.

Python 3.11, scikit-learn 1.7.2, numpy 2.4.6: pip install scikit-learn==1.7.2 numpy==2.4.6

Reads data-sets.json (names and options) and 0.npy, 1.npy ... in the folder that is its only argument; prints JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN

folder = Path(sys.argv[1])
argsort = np.argsort


def first_first(values, *_, **__):
    return argsort(values, kind="stable")


def last_first(values, *_, **__):
    return len(values) - 1 - argsort(values[::-1], kind="stable")


def fit(rows, options):
    return HDBSCAN(
        min_cluster_size=options["minClusterSize"],
        min_samples=options.get("minSamples"),
        allow_single_cluster=options.get("allowSingleCluster", False),
        copy=True,
    ).fit_predict(rows)


def as_they_appear(labels):
    numbers = {-1: -1}
    for label in labels:
        numbers.setdefault(int(label), len(numbers) - 1)
    return [numbers[int(label)] for label in labels]


def in_short(labels):
    """Runs of one label: '0x12 -1x3'."""
    runs = []
    for label in labels:
        if runs and runs[-1][0] == label:
            runs[-1][1] += 1
        else:
            runs.append([label, 1])
    return " ".join(f"{label}x{count}" if count > 1 else str(label) for label, count in runs)


def labels_with(order, rows, options):
    np.argsort = order
    try:
        return as_they_appear(fit(rows, options))
    finally:
        np.argsort = argsort


found = []
for i, data_set in enumerate(json.loads((folder / "data-sets.json").read_text())):
    rows = np.load(folder / f"{i}.npy")
    labels, *others = [labels_with(order, rows, data_set["options"]) for order in (argsort, first_first, last_first)]
    # numpy's sort leaves the order of equal heights to the processor: labels that depend on it are nobody's.
    if any(other != labels for other in others):
        sys.exit(f"{data_set['name']}: the labels depend on the order of equal heights; take another seed")
    found.append({"name": data_set["name"], "labels": in_short(labels)})
print("[\n" + ",\n".join("  " + json.dumps(one) for one in found) + "\n]")
