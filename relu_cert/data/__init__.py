"""Exact data: from the bytes of a CSV file to rationals."""

from relu_cert.data.dataset import Dataset, Numbers, Source
from relu_cert.data.read import read_csv, read_csv_bytes

__all__ = ["Dataset", "Numbers", "Source", "read_csv", "read_csv_bytes"]
