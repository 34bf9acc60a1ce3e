# %% [markdown]
# # A group lasso
#
# A solver stops when its tolerance says so. What did it reach, and is the solution the only one? The lasso of
# scikit-learn on the diabetes data that come with it, and a group lasso with weights.

# %%
from textwrap import fill

from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso

import relu_cert

data = load_diabetes()
X, y = data.data[:60], data.target[:60] - 150
model = Lasso(alpha=0.5, tol=1e-2).fit(X, y)
found = relu_cert.certify_solution(X, 1, y, 0.5, model, intercept=float(model.intercept_), average=True)
print(found.claims["solution-optimal"].verdict, "- unique:", found.unique)
print(f"the relative gap is at most {float(found.relative_gap):.0e}")

# %% [markdown]
# With a tighter tolerance the same model is optimal to more digits, and the proof says to how many.

# %%
model = Lasso(alpha=0.5, tol=1e-12, max_iter=100_000).fit(X, y)
found = relu_cert.certify_solution(X, 1, y, 0.5, model, intercept=float(model.intercept_), average=True)
print(found.claims["solution-optimal"].verdict, float(found.relative_gap) < 1e-9)

# %% [markdown]
# Ten columns in five groups of two, each penalised with the square root of its size, and a free intercept. The
# coefficients are exact numbers with a proof, `coef_` has them in floats.

# %%
groups = relu_cert.certify_group_lasso(X, 2, y, 0.5, weights="sqrt", intercept=True, average=True)
print(fill(groups.headline))
print([round(float(x), 3) for x in groups.coef_], round(groups.intercept_, 3))

# %% [markdown]
# Two equal columns: the lasso has many solutions, and that is proved, too.

# %%
twins = relu_cert.certify_group_lasso([[1, 1, 0], [0, 0, 2]], 1, [3, 4], 1)
print(fill(twins.headline))
print(twins.optimal_set)
