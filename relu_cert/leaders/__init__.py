"""The leaders: a lower bound of p* over networks of any width, without any pattern (verify/FORMAT.md, `leaders`)."""

from relu_cert.leaders.find import Neuron as Neuron
from relu_cert.leaders.find import find_leaders as find_leaders
from relu_cert.leaders.model import Leaders as Leaders
from relu_cert.leaders.model import leaders_record as leaders_record
