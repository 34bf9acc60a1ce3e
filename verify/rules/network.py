"""The fact `network`, about a given network."""

from __future__ import annotations

from verify.facts import NETWORK, proved
from verify.network.check import check_network
from verify.rule import Rule, networks

RULE = Rule(
    (NETWORK,),
    lambda problem, facts, node: proved(NETWORK, check_network(problem, facts, node)),
    applies=networks,
    bags=True,
)
