"""The engine on Spark: a bounded query becomes one statement, whose integers come back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from tacit.tables.engines.chain.dialect import Dialect
from tacit.tables.engines.chain.engine import Batches, ChainEngine
from tacit.tables.engines.spark.dialect import DIALECT
from tacit.tables.engines.spool import Batch

__all__ = ["SparkEngine"]


class SparkEngine(ChainEngine):
    """Runs bounded queries on Spark; the secret is in a view that each statement names."""

    dialect: ClassVar[Dialect] = DIALECT

    def numbered(self, batches: Batches) -> Iterator[Batch]:
        """Rows with the numbers of their units: the first column says which row of its unit each is."""
        before = 0
        for turns, *columns in batches:
            numbers = before + np.cumsum(turns == 1)  # the first row of each unit begins it
            before = int(numbers[-1])
            yield columns, numbers
