"""A logistic model of a Parquet file, read in chunks at every pass: CPU seconds, peak memory, accuracy."""

import json
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tacit.learn.estimators.logistic import LogisticRegression
from tacit.learn.reading.columns import Category, Number
from tacit.learn.reading.rows import Chunk
from tacit.learn.reading.schema import Schema
from tacit.noise.entropy import system_entropy


class Spooled:
    """The file's rows as codes, written once to a file of two bytes a cell and read again at every pass."""

    limit = 1

    def __init__(self, path: str, schema: Schema) -> None:
        import tempfile

        self._width = len(schema.columns) + 1
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  # kept open for as long as the rows are read
        for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(batch_size=1 << 17):
            codes = np.empty((self._width, batch.num_rows), dtype=np.int16)
            for place, column in enumerate(schema.columns):
                codes[place] = column.encode(batch.column(place).to_numpy(zero_copy_only=False))
            codes[-1] = batch.column(len(schema.columns)).to_numpy(zero_copy_only=False)
            self._file.write(np.int64(batch.num_rows).tobytes() + codes.tobytes())

    def chunks(self) -> Iterator[Chunk]:
        self._file.seek(0)
        while head := self._file.read(8):
            count = int(np.frombuffer(head, dtype=np.int64)[0])
            codes = np.frombuffer(self._file.read(2 * self._width * count), dtype=np.int16)
            codes = codes.reshape(self._width, count)
            yield Chunk(codes[:-1].T, codes[-1])


def main() -> None:
    path = sys.argv[1]
    names = pq.ParquetFile(path).schema_arrow.names
    schema = Schema(tuple(Number(name, -4, 4) for name in names[:-1]), Category("target", (False, True)))
    pa.set_cpu_count(1)
    start = time.process_time()
    rows: Any = Spooled(path, schema)
    model = LogisticRegression(epsilon=1, delta="1e-5", bounds=(-4, 4)).fit_rows(schema, rows, system_entropy())
    cpu = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    head = next(pq.ParquetFile(path).iter_batches(batch_size=50_000)).to_pandas()
    right = float((model.predict(head.iloc[:, :-1]) == head.iloc[:, -1].to_numpy()).mean())
    print(
        json.dumps(
            {"cpu": cpu, "peak_gb": peak, "accuracy": right, "steps": model.disclosure_["releases"][-1]["times"]}
        )
    )


if __name__ == "__main__":
    main()
