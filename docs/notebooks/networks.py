# %% [markdown]
# # All the best networks
#
# Four points on a cross, and one more network than expected: which networks are optimal, all of them?

# %%
import numpy as np

import relu_cert

Z, y = [[3, 0], [-3, 0], [0, 4], [0, -4]], [10, 10, 17, 17]
found = relu_cert.certify(Z, y, 5)
print(found.headline)

# %% [markdown]
# Every one of them is a mixture of the minimal ones, and here these are:

# %%
for one in found.networks():
    print(one.width, [f"{neuron.sign:+d} {[str(x) for x in neuron.w]}" for neuron in one.neurons])

# %% [markdown]
# They agree at the data, and nowhere else have to:

# %%
X = np.array([[1, 1], [1, -1], [-2, 1]])
for one in found.networks():
    print(one.predict(Z), one.predict(X))

# %% [markdown]
# Between two networks of this width there is no way without a loss; with two neurons more there is:

# %%
print(found.claims["connected"].detail)

# %% [markdown]
# And with another lambda the best network is one again, all along an interval:

# %%
print(relu_cert.path([[1], [2], [-1]], [1, 3, 2], low="0.1max", high="max").headline)
