"""D_Z, exactly: the open cells, then the cells on every totally cyclic flat, with what proves that none is missing."""

from __future__ import annotations

from relu_cert.errors import TooManyPatterns
from relu_cert.exact import Matrix
from relu_cert.patterns.arrangement import arrangement, hyperplanes
from relu_cert.patterns.cells import Engine
from relu_cert.patterns.groups import ADVICE, Groups, Progress
from relu_cert.patterns.lower import search
from relu_cert.patterns.pattern_set import PatternSet
from relu_cert.patterns.predict import predict_arrangement, surely_more


def enumerate_patterns(
    Z: Matrix, *, max_patterns: int = 10**6, progress: Progress | None = None, engine: Engine = "auto"
) -> PatternSet:
    """D_Z with a witness for every pattern and the evidence that none is missing.

    Raises TooManyPatterns when there are more than `max_patterns`: at once where the rank (r independent rows have all
    2^r signs) or a sample shows that there must be more, otherwise as soon as that many have been found (an upper bound
    is no reason to refuse).
    `progress(done, bound)` is called now and then. The engine "python" needs no compilation, "compiled" is faster
    by a factor of ten to twenty; "auto" takes the one that is done first.
    """
    a = arrangement(Z)
    planes = hyperplanes(a.rows)
    expected = predict_arrangement(a, planes)
    if expected.cells > max_patterns and (2**a.rank > max_patterns or surely_more(planes.normals, max_patterns)):
        raise TooManyPatterns(expected.general, max_patterns, ADVICE)
    groups = Groups(a, planes, expected, max_patterns, progress, engine)
    first = groups.open_cells()
    others, covers = search(planes, a.n, first, groups.on_flats)
    return PatternSet(a.n, a.d, a.rank, a.columns, (first, *others), covers)
