# %% [markdown]
# # Audit a lasso
#
# A solver prints coefficients. Are they optimal, how far from it are they, and are they the only ones? The audit needs
# no trust in the solver: the floats are taken as the exact numbers they are, and what is said is proved.

# %%
from textwrap import fill

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, Lasso

import relu_cert

data = load_diabetes()
X, y = data.data[:80], data.target[:80]
loose = Lasso(alpha=0.5, tol=1e-2).fit(X, y)
tight = Lasso(alpha=0.5, tol=1e-12).fit(X, y)
print(np.count_nonzero(loose.coef_), "and", np.count_nonzero(tight.coef_), "of", X.shape[1], "coefficients are in use")

# %% [markdown]
# The model knows its alpha, its intercept and that its loss is divided by n, so nothing has to be said twice.

# %%
for model in (loose, tight):
    print(fill(relu_cert.certify_solution(X, 1, y, None, model, gap=1e-9).headline))

# %% [markdown]
# What was fitted is compared with what is asked: another lambda, or another penalty, is another problem.

# %%
for lam, model in ((0.1, tight), (0.5, ElasticNet(alpha=0.5).fit(X, y))):
    try:
        relu_cert.certify_solution(X, 1, y, lam, model)
    except relu_cert.UsageError as error:
        print(fill(str(error)))

# %% [markdown]
# Two equal columns, and the solution is no longer one: the set of all of them is known exactly.

# %%
twice = relu_cert.certify_group_lasso([[1, 1], [0, 0], [2, 2]], 1, [3, 1, 4], lam=1)
print(fill(twice.headline))
print(twice.optimal_set.alphas)
