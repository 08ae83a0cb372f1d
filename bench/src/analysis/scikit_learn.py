"""HDBSCAN of scikit-learn: `scikit_learn.py FILE.npy MIN_CLUSTER_SIZE ALGORITHM` prints {"ms", "cpu", "labels"} as JSON."""

import json
import sys
import time

import numpy as np
from sklearn.cluster import HDBSCAN

file, min_cluster_size, algorithm = sys.argv[1:]
rows = np.load(file)
# What is loaded and started only once is none of the clustering.
HDBSCAN(min_cluster_size=3, algorithm=algorithm, copy=True).fit_predict(rows[:200])
clock, cpu = time.perf_counter(), time.process_time()
labels = HDBSCAN(min_cluster_size=int(min_cluster_size), algorithm=algorithm, copy=True).fit_predict(rows)
clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
print(json.dumps({"ms": clock * 1000, "cpu": cpu * 1000, "labels": labels.tolist()}))
