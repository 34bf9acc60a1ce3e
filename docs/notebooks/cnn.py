# %% [markdown]
# # Is my PyTorch CNN optimal?
#
# Forty images of digits, 8 x 8 pixels, zeros and sixes, from the set that comes with scikit-learn. The network is
# `Sequential(Conv2d(1, 4, 2, stride=2, bias=False), ReLU(), AdaptiveAvgPool2d(1), Flatten(), Linear(4, 1))`, trained
# with Adam and `weight_decay` on the mean of squares. So that this page needs no PyTorch, its training loop is written
# out in numpy; the weights are saved under the names of a state dict, and a `.pt` file or the module itself would do.

# %%
import csv
from statistics import median
from textwrap import fill

import numpy as np

import relu_cert
from relu_cert import examples

with examples.path("digits").open() as file:
    rows = np.array([[float(x) for x in row] for row in list(csv.reader(file))[1:]])
images, y = rows[:, :-1].reshape(-1, 1, 8, 8) / 16, rows[:, -1]
print(images.shape, "targets", sorted(set(y.tolist())))

# %%
DECAY = 0.01
windows = images.reshape(40, 4, 2, 4, 2).transpose(0, 1, 3, 2, 4).reshape(40, 16, 4)  # 2 x 2, stride 2


def train(seed, steps=4000, rate=0.01):
    """Adam on mean((f - y)^2) + DECAY/2 |all parameters|^2, as PyTorch's weight_decay has it."""
    rng = np.random.default_rng(seed)
    W, v, b = rng.uniform(-0.5, 0.5, (4, 4)), rng.uniform(-0.5, 0.5, 4), rng.uniform(-0.5, 0.5)
    p = np.concatenate([W.ravel(), v, [b]])
    first, second = np.zeros(21), np.zeros(21)
    for step in range(1, steps + 1):
        W, v, b = p[:16].reshape(4, 4), p[16:20], p[20]
        heights = windows @ W.T
        pooled = np.maximum(heights, 0).mean(axis=1)
        r = 2 / 40 * (pooled @ v + b - y)
        inner = (heights > 0) * (r[:, None] * v)[:, None, :] / 16
        g = np.concatenate([np.einsum("kpf,kpd->fd", inner, windows).ravel(), pooled.T @ r, [r.sum()]]) + DECAY * p
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g
        size = rate * (1 - step / steps)  # falls to 0
        p = p - size * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return {"0.weight": p[:16].reshape(4, 1, 2, 2), "4.weight": p[16:20].reshape(1, 4), "4.bias": p[20:]}


state = train(seed=0)

# %% [markdown]
# A filter of 2 x 2 has four weights, so that the optimum over networks with *any number* of filters can be proved in
# seconds. `penalty="pytorch"` is PyTorch's objective, in which the output bias is decayed, too:

# %%
found = relu_cert.certify_network(state, images, y, str(DECAY), penalty="pytorch", conv="2x2:stride=2")
print(fill(found.headline))
for name in ("network-optimal", "network-balanced"):
    print(fill(f"{found.claims[name].verdict} {name} - {found.claims[name].detail}"))

# %% [markdown]
# So much for one start. What do others reach? All are compared with the same proved lower bound.


# %%
def objective(state):
    """PyTorch's objective times n/2, which is the one that was proved."""
    W, v, b = state["0.weight"].reshape(4, 4), state["4.weight"][0], state["4.bias"]
    f = np.maximum(windows @ W.T, 0).mean(axis=1) @ v + b
    return 20 * (np.mean((f - y) ** 2) + DECAY / 2 * sum((x**2).sum() for x in state.values()))


best = float(found.value.lower)
above = sorted(100 * (objective(train(seed)) / best - 1) for seed in range(10))
print(f"10 starts are {above[0]:.1g} % (best) and {median(above):.1g} % (median) above the optimum")

# %% [markdown]
# The best network itself: how many filters it has, whether it is the only one, and the filters.

# %%
optimal = relu_cert.certify(images, y, found.lam, conv="2x2:stride=2", decayed_bias=True)
print(fill(optimal.headline))
for neuron in optimal.network.neurons:
    print("+" if neuron.sign > 0 else "-", np.array([float(x) for x in neuron.w]).reshape(2, 2).round(3).tolist())

# %% [markdown]
# Everything above is a certificate that a program of its own checks again in exact arithmetic, from the raw numbers on:
# `found.save("cnn.cert.json", data="digits.csv")`, then `python -m verify cnn.cert.json --data digits.csv`.
