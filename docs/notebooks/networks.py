# %% [markdown]
# # All the best networks
#
# Four points on a cross, and one more network than expected: which networks are optimal, all of them?

# %%
from textwrap import fill

import numpy as np

import relu_cert

Z, y = [[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17]
found = relu_cert.certify(Z, y, 5)
print(fill(found.headline))

# %% [markdown]
# Every one of them is a mixture of the minimal ones, and here these are:

# %%
for one in found.networks():
    print(one.width, [f"{neuron.sign:+d} {[str(x) for x in neuron.w]}" for neuron in one.neurons])

# %% [markdown]
# They agree at the data, and need not agree anywhere else:

# %%
X = np.array([[1, 1], [1, -1], [-2, 1]])
for one in found.networks():
    print(one.predict(Z), one.predict(X))

# %% [markdown]
# Between two networks of this width there is no way without a loss; with two neurons more there is:

# %%
print(fill(found.claims["connected"].detail))

# %% [markdown]
# As lambda changes the set of best networks moves with it. That it never jumps is proved, piece by piece:

# %%
print(fill(relu_cert.path(Z, y, low="0.1max", high="max").headline))
