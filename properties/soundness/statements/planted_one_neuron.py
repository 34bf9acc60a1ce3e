"""No path of a network with one neuron on one feature is wrong."""

from __future__ import annotations

from properties.model import Claim, Property
from properties.soundness.check import check_one_neuron
from properties.soundness.one_neuron import features

STATEMENT = "No path of a network with one neuron on one feature is wrong."
CLAIM = Claim("soundness: planted one neuron", STATEMENT, Property(STATEMENT, features(), check_one_neuron))
