# %% [markdown]
# # A PyTorch network on real data
#
# Forty patients of the diabetes data that come with scikit-learn, two features (body mass index and blood pressure),
# the progression of the disease as the target. A network of six neurons is trained with Adam and weight decay; how far
# is it from the best network of any width?

# %%
from textwrap import fill

import numpy as np
import torch
from sklearn.datasets import load_diabetes

import relu_cert

data = load_diabetes(scaled=False)
Z = np.round((data.data[:40, 2:4] - data.data[:40, 2:4].mean(0)) / data.data[:40, 2:4].std(0), 2)
y = np.round((data.target[:40] - data.target[:40].mean()) / data.target[:40].std(), 2)
Z, y = Z.tolist(), y.tolist()
print(len(Z), "points;", len(relu_cert.patterns(Z, bias=True)), "activation patterns")

# %% [markdown]
# Training: the mean of squares, `weight_decay` inside the loss (not AdamW's decoupled one), biases in the first layer
# only.

# %%
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1, bias=False)).double()
weight_decay = 0.05
optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=weight_decay)
inputs, targets = torch.tensor(Z, dtype=torch.float64), torch.tensor(y, dtype=torch.float64)
for _ in range(3000):
    optimiser.zero_grad()
    loss = ((model(inputs)[:, 0] - targets) ** 2).mean()
    loss.backward()
    optimiser.step()

# %% [markdown]
# The exact objective of the trained network, against a proved lower bound for all networks:

# %%
decimal = [[str(x) for x in row] for row in Z], [str(t) for t in y]  # 0.1 is one tenth, as in a CSV file
found = relu_cert.certify_network(model, *decimal, lam=str(weight_decay), penalty="pytorch", bias=True)
print(f"at most {float(found.objective / found.value.lower - 1):.1%} above the best possible objective, proved")
for name in ("network-merged", "network-prune"):
    print(fill(f"{found.claims[name].verdict} {name} - {found.claims[name].detail}"))

# %% [markdown]
# The best network itself, and whether it is the only one:

# %%
best = relu_cert.certify(*decimal, found.lam, bias=True)
print(fill(best.headline))
