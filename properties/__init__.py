"""The paper as executable claims: exact instances with known answers, exact checks, and a ledger of verdicts.

`python -m properties` runs every claim on exact instances and prints the ledger.
"""
