"""Estimators for scikit-learn (the extra `sklearn`): fit to the global optimum, and carry the certificate.

>>> from relu_cert.sklearn import ReLUCertRegressor
>>> model = ReLUCertRegressor(lambda_ratio="1/10").fit([[-2.0], [-1.0], [0.0], [1.0], [2.0]], [2, 1, 0, 1, 2])
>>> str(model.claims_["optimal"].verdict), model.n_neurons_
('PROVED', 2)
>>> model.predict([[3.0]]).round(2)
array([2.55])

The proofs need every activation pattern of the data, and there are about 2 n^(d-1) / (d-1)! of them for n points with d
features (the bias counts). Data with more than `max_patterns` patterns are refused with TooManyPatterns, before any
long work, unless `seconds` says how long a proof without the list may take; `patterns=N` takes N of them at random.
scikit-learn's own `check_estimator` passes but for the checks that fit larger data than that; they are listed, with the
reason, in `EXPECTED_FAILED_CHECKS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("relu_cert.sklearn needs scikit-learn 1.6 or later: pip install relu_cert[sklearn]") from error

from relu_cert.api import Number, certify

if TYPE_CHECKING:
    from relu_cert.problem.loss import LossName

Floats = NDArray[np.float64]

_LARGE = "fits data with more than a million activation patterns"
EXPECTED_FAILED_CHECKS: dict[str, str] = {
    "check_positive_only_tag_during_fit": _LARGE,
    "check_dtype_object": _LARGE,
    "check_regressors_train": _LARGE,
    "check_regressor_data_not_an_array": _LARGE,
    "check_regressors_int": _LARGE,
}
"""The checks of scikit-learn's `check_estimator` that cannot pass with seconds=None, where every fit is the same
however busy the machine is: pass this as its `expected_failed_checks`."""


@dataclass(eq=False, repr=False)
class _Certified(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: parameters, the fit and what it leaves behind."""

    lam: Number | None = None
    _: KW_ONLY
    lambda_ratio: Number | None = None
    model: Literal["relu", "gated"] = "relu"
    bias: bool = True
    gap: Number = 1e-9
    patterns: int | None = None
    seed: int | None = None
    l2: Number | None = None
    free: str | Sequence[str] | None = None
    claims: Sequence[str] | None = None
    max_patterns: int = 100_000
    seconds: float | None = 60.0
    verify: bool = True

    def _certify(self, X: Floats, y: Floats) -> None:
        """Solve, prove and keep what was found."""
        names = getattr(self, "feature_names_in_", None)
        found = certify(
            X,
            y,
            **self.get_params(deep=False),  # the parameters are those of `certify`
            names=None if names is None else [str(name) for name in names],
            listed=self.seconds is None,
        )
        self.certified_ = found
        self.certificate_ = found.certificate
        self.claims_ = dict(found.claims)
        self.network_ = found.network
        self.n_neurons_ = found.network.width
        self.lam_ = float(found.lam)
        self.value_ = float(found.value.upper)
        if self.model == "relu":
            first, bias = found.network.W1, found.network.bias
            self.coefs_ = [first[:, : X.shape[1]].T, found.network.w2[:, None]]
            self.intercepts_ = [first[:, -1] if bias else np.zeros(len(first)), np.array([float(found.network.b2)])]

    def _outputs(self, X: Any) -> Floats:
        """f(x) for every row."""
        check_is_fitted(self, "network_")
        return self.network_.predict(validate_data(self, X, dtype=np.float64, reset=False))


class ReLUCertRegressor(RegressorMixin, _Certified):  # type: ignore[misc]
    """A two-layer ReLU or gated ReLU network, trained to its global optimum.

    minimise 1/2 |f(X) - y|^2 + lam/2 (|W1|^2 + |w2|^2)

    Parameters: see `relu_cert.certify`. Numbers are exact: the float 0.1 is a binary64 number, "1/10" is a tenth. X and
    y are taken as exact binary64. With `bias` (the default) a column of ones is appended; its weights are penalised
    like the others, and there is no bias of the output, unless they are free: free="output-bias,biases" is the aim
    of scikit-learn's own MLPRegressor, with lam for alpha. Data of any size can be fitted: where there are too many
    activation patterns to be listed, `seconds` is the time for a network and a proved gap; with seconds=None all of
    them are listed, or TooManyPatterns is raised. With `patterns` (and `seed`) the network is trained over so many
    random patterns only: what is proved is then about these.

    Attributes after `fit`:

    `certified_`    the `relu_cert.Certified` object; `certified_.save(...)` writes certificate and data
    `certificate_`  the certificate, a JSON text for `python -m verify`
    `claims_`       claim -> Result with `verdict`, `evidence`, `detail`
    `network_`      the network, exactly; `n_neurons_` its width
    `coefs_`, `intercepts_`  its weights as floats, shaped as in MLPRegressor (ReLU only)
    `lam_`, `value_`  lambda and the proved upper bound on the optimal value, as floats
    """

    def fit(self, X: Any, y: Any) -> ReLUCertRegressor:
        """Train and prove. Raises TooManyPatterns where patterns have to be listed, and are too many."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._certify(X, np.asarray(y, dtype=np.float64))
        return self

    def predict(self, X: Any) -> Floats:
        """f(x) for every row of X."""
        return self._outputs(X)


def _logistic(model: Any) -> bool:
    """Whether the outputs are log odds."""
    return bool(model.loss == "logistic")


@dataclass(eq=False, repr=False, kw_only=True)
class ReLUCertClassifier(ClassifierMixin, _Certified):  # type: ignore[misc]
    """Two classes by the sign of a network that is trained on the labels -1 and 1.

    The first of the two classes (in sorted order) becomes -1, the second 1. With `loss="squares"` (the default) the
    network is trained as a regression, and what is proved is about that regression; with `loss="logistic"` it minimises
    sum log(1 + exp(-y f)) + lambda sum |w_b|, and has `predict_proba`. Other parameters and attributes are those of
    ReLUCertRegressor, and `classes_`.

    >>> model = ReLUCertClassifier(lam="1/10").fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"])
    >>> model.predict([[0, 1], [1, 1]]).tolist()
    ['odd', 'even']
    >>> model.set_params(loss="logistic").fit([[-1], [0], [2]], [0, 0, 1]).predict_proba([[2]]).round(3)
    array([[0.05, 0.95]])
    """

    loss: LossName = "squares"

    def fit(self, X: Any, y: Any) -> ReLUCertClassifier:
        """Train and prove. Raises TooManyPatterns where patterns have to be listed, and are too many."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"This classifier needs samples of 2 classes; the data has {len(self.classes_)} class.")
        self._certify(X, np.asarray(2.0 * numbers - 1.0, dtype=np.float64))
        return self

    def decision_function(self, X: Any) -> Floats:
        """f(x) for every row of X: positive for the second class."""
        return self._outputs(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The second class where f(x) > 0, else the first."""
        values = self.decision_function(X)
        chosen: NDArray[Any] = self.classes_[(values > 0).astype(int)]
        return chosen

    @available_if(_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """1 / (1 + exp(-f(x))) for the second class, and what is left for the first; for the logistic loss only."""
        second: Floats = expit(self.decision_function(X))
        return np.column_stack([1.0 - second, second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
