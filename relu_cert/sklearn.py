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
from scipy.special import expit, softmax

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise ImportError("relu_cert.sklearn needs scikit-learn 1.6 or later: pip install relu_cert[sklearn]") from error

from relu_cert.api import Number, certify
from relu_cert.network.fitted import FittedOutputs

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
    "check_classifier_not_supporting_multiclass": "more than two classes are fitted",
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

    def _certify(self, X: Floats, y: NDArray[Any], *, classes: bool = False) -> None:
        """Solve, prove and keep what was found; `classes`: y are numbers of classes, each of which has an output."""
        names = getattr(self, "feature_names_in_", None)
        found = certify(
            X,
            y,
            **self._asked(classes),
            names=None if names is None else [str(name) for name in names],
            listed=self.seconds is None and y.ndim == 1 and not classes,
            classes=classes,
        )
        self.certified_ = found
        self.certificate_ = found.certificate
        self.claims_ = dict(found.claims)
        self.network_ = found.network
        self.n_neurons_ = found.network.width
        self.lam_ = float(found.lam)
        self.value_ = float(found.value.upper)
        if self.model == "relu":
            network = found.network
            first = network.W1
            second, last = network.second
            self.coefs_ = [first[:, : X.shape[1]].T, second]
            biases = first[:, -1] if network.bias else np.zeros(len(first))
            self.intercepts_ = [biases, last]

    def _asked(self, classes: bool) -> dict[str, Any]:
        """The parameters, which are those of `certify`; two classes are one output, which has no mean to be taken."""
        asked: dict[str, Any] = self.get_params(deep=False)
        return asked | ({} if classes or "center" not in asked else {"center": False})

    def _outputs(self, X: Any) -> Floats:
        """f(x) for every row."""
        check_is_fitted(self, "network_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return self.network_.outputs(rows) if isinstance(self.network_, FittedOutputs) else self.network_.predict(rows)


class ReLUCertRegressor(RegressorMixin, _Certified):  # type: ignore[misc]
    """A two-layer ReLU or gated ReLU network, trained to its global optimum.

    minimise 1/2 |f(X) - y|^2 + lam/2 (|W1|^2 + |w2|^2)

    Parameters: see `relu_cert.certify`. Numbers are exact: the float 0.1 is a binary64 number, "1/10" is a tenth. X and
    y are taken as exact binary64; y with several columns is a network with as many outputs, for at most twelve
    features. With `bias` (the default) a column of ones is appended; its weights are penalised like the others, and
    there is no bias of the output, unless they are free: free="output-bias,biases" is the aim of scikit-learn's own
    MLPRegressor, with lam for alpha. Data of any size can be fitted: where there are too many activation patterns to be
    listed, `seconds` is the time for a network and a proved gap; with seconds=None all of them are listed, or
    TooManyPatterns is raised. With `patterns` (and `seed`) the network is trained over so many random patterns only:
    what is proved is then about these.

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
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        y = np.asarray(y, dtype=np.float64)
        self._certify(X, column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y)
        return self

    def predict(self, X: Any) -> Floats:
        """f(x) for every row of X."""
        return self._outputs(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _logistic(model: Any) -> bool:
    """Whether the outputs are logarithms of chances."""
    return bool(model.loss in ("logistic", "softmax"))


@dataclass(eq=False, repr=False, kw_only=True)
class ReLUCertClassifier(ClassifierMixin, _Certified):  # type: ignore[misc]
    """Two classes by the sign of a network that is trained on the labels -1 and 1; more of them by the largest output
    of a network with an output for each.

    The first of two classes (in sorted order) becomes -1, the second 1. More than two: an output is 1 for the rows of
    its class and 0 for others, with `center` less the mean. With `loss="squares"` (the default) the network is trained
    as a regression, and what is proved is about that regression; with `loss="logistic"` it minimises
    sum log(1 + exp(-y f)) + lambda sum |w_b|, and has `predict_proba`; so does `loss="softmax"`, for any classes. Other
    parameters and attributes are those of ReLUCertRegressor, and `classes_`.

    >>> model = ReLUCertClassifier(lam="1/10").fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"])
    >>> model.predict([[0, 1], [1, 1]]).tolist()
    ['odd', 'even']
    >>> model.set_params(loss="logistic").fit([[-1], [0], [2]], [0, 0, 1]).predict_proba([[2]]).round(3)
    array([[0.05, 0.95]])
    """

    loss: LossName = "squares"
    center: bool = False

    def fit(self, X: Any, y: Any) -> ReLUCertClassifier:
        """Train and prove. Raises TooManyPatterns where patterns have to be listed, and are too many."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("This classifier needs samples of at least 2 classes; the data has 1 class.")
        if len(self.classes_) > 2 or self.loss == "softmax":
            self._certify(X, np.asarray(numbers), classes=True)
        else:
            self._certify(X, np.asarray(2.0 * numbers - 1.0, dtype=np.float64))
        return self

    def decision_function(self, X: Any) -> Floats:
        """f(x) for every row of X: of two classes one number, positive for the second; else one for each class."""
        return self._outputs(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The second of two classes where f(x) > 0, else the first; of more that with the largest output."""
        values = self.decision_function(X)
        best = values.argmax(axis=1) if values.ndim == 2 else (values > 0).astype(int)
        chosen: NDArray[Any] = self.classes_[best]
        return chosen

    @available_if(_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """1 / (1 + exp(-f(x))) for the second class, and what is left for the first, with the logistic loss; with the
        softmax exp(f_c(x)) in parts of their sum."""
        values = self.decision_function(X)
        if values.ndim == 2:
            chances: Floats = softmax(values, axis=1)
            return chances
        second: Floats = expit(values)
        return np.column_stack([1.0 - second, second])

    def __sklearn_tags__(self) -> Any:
        """More than two classes can be fitted; the tag keeps scikit-learn's own checks to two: theirs have up to
        twenty classes in five directions, and no proof of that size ends soon."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
