# %% [markdown]
# # A theorist's small data set
#
# Exclusive or, with a column of ones: four points, fourteen activation patterns. What is the best two-layer network
# with weight decay, is it the only one, and how does it change with lambda?

# %%
from textwrap import fill

import relu_cert

Z, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
found = relu_cert.certify(Z, y, "1/10", bias=True)
print(fill(found.headline))

# %% [markdown]
# Every claim has a verdict and a reason. The convex program has more than one solution although the network is unique:
# a neuron that is zero at a data point can be carried by two patterns.

# %%
for name in ("optimal", "p-unique", "convex-unique", "connected", "sensitivity"):
    print(fill(f"{found.claims[name].verdict} {name} - {found.claims[name].detail}"))

# %% [markdown]
# In a notebook the result shows its pictures.

# %%
found

# %% [markdown]
# The path in lambda, with every breakpoint enclosed:

# %%
along = relu_cert.path(Z, y, bias=True, low="1/10")
print(fill(along.headline))
for one in along.breakpoints:
    print(f"{float(one.hi):.12f}", one.kind, one.above, "->", one.below)

# %% [markdown]
# The paper conjectures that the solution of least norm always moves continuously. A group lasso with three columns
# refutes it, and the certificate proves the jump.

# %%
jump = relu_cert.certify_group_lasso(
    [[0, 1, 1], [1, 1, 1]], [[0, 1], [2]], [2, 1], lam=1, interval=("1/2", 2), claims=["min-norm-continuous"]
)
print(fill(f"{jump.claims['min-norm-continuous'].verdict} - {jump.claims['min-norm-continuous'].detail}"))

# %% [markdown]
# Both files can be handed to anybody; `python -P -m verify xor.cert.json --data xor.csv` re-checks them.

# %%
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
found.save(folder / "xor.cert.json", data=folder / "xor.csv")
print(sorted(path.name for path in folder.iterdir()))
