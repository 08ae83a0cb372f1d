"""
Values by numpy and scipy for reference.unit.test.ts: `python3 reference_values.py > values.json`.

Python 3.11, numpy 2.4.6, scipy 1.17.1: pip install numpy==2.4.6 scipy==1.17.1
"""

import itertools
import json

import numpy as np
from scipy.spatial.distance import cdist, jensenshannon, pdist
from scipy.stats import energy_distance, false_discovery_control


def rows(count, dimension, step, shift):
    return np.array([[np.sin(i * step + k * k) + shift * (k % 3) for k in range(dimension)] for i in range(count)])


def energy(a, b):
    return 2 * cdist(a, b).mean() - cdist(a, a).mean() - cdist(b, b).mean()


def mmd2(a, b, sigma):
    kernel = lambda x, y: np.exp(-(cdist(x, y) ** 2) / (2 * sigma**2))
    return kernel(a, a).mean() + kernel(b, b).mean() - 2 * kernel(a, b).mean()


def cohens_d(a, b):
    pooled = ((len(a) - 1) * np.var(a, ddof=1) + (len(b) - 1) * np.var(b, ddof=1)) / (len(a) + len(b) - 2)
    return (np.mean(a) - np.mean(b)) / np.sqrt(pooled)


samples = []
for m, n, dimension, shift in [(7, 9, 3, 0.4), (12, 5, 33, 0.2), (6, 6, 1, 0.5), (61, 70, 40, 0.1)]:
    a, b = rows(m, dimension, 0.7, 0.0), rows(n, dimension, 1.1, shift)
    sigma = np.median(pdist(np.vstack([a, b])))
    found = {
        "rows": [m, n],
        "dimension": dimension,
        "shift": shift,
        "energy": energy(a, b),
        "sigma": sigma,
        "mmd2": mmd2(a, b, sigma),
        "diversity": pdist(a, "cosine").mean() if dimension > 1 else None,
    }
    if dimension == 1:
        found["squared_energy_distance_of_scipy"] = energy_distance(a[:, 0], b[:, 0]) ** 2
    if m + n <= 16:
        both = np.vstack([a, b])
        divisions = [
            energy(both[list(chosen)], both[[i for i in range(m + n) if i not in chosen]])
            for chosen in itertools.combinations(range(m + n), m)
        ]
        found["exact_p_energy"] = float(np.mean(np.array(divisions) >= energy(a, b) - 1e-12))
    samples.append(found)

p_values = [0.01, 0.04, 0.03, 0.005, 0.8, 0.03]
x, y = [1, 2, 2, 3, 7, 9.5], [0, 1, 2, 4, 4]
counts = [[3, 0, 1, 5, 2], [1, 2, 1, 0, 2]]
print(
    json.dumps(
        {
            "samples": samples,
            "p_values": p_values,
            "benjamini_hochberg": false_discovery_control(p_values).tolist(),
            "x": x,
            "y": y,
            "cohens_d": cohens_d(x, y),
            "cliffs_delta": float(np.mean([[np.sign(i - j) for j in y] for i in x])),
            "quantiles": [float(np.quantile(x, p)) for p in (0.025, 0.3, 0.5, 0.975)],
            "counts": counts,
            "jensen_shannon": float(jensenshannon(*counts, base=2)),
        },
        indent=1,
    )
)
