"""The certifier against what is known beforehand: planted truth, metamorphic relations, floats, flipped verdicts.

A verdict other than UNDECIDED that is wrong is a failure, and so is a certificate that the checker does not accept, or
one that it accepts with the opposite verdict. `python -m properties soundness` runs the statements of
`properties.soundness.statements` like any campaign: in parallel, resumable, failing instances stored and shrunk.
"""

from relu_cert.checker import load as _load

_load()  # `import verify` below this package means the checker that was installed with it
