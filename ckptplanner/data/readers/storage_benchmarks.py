"""The readers of storage benchmarks and metrics, one file for each tool."""

from __future__ import annotations

from ckptplanner.data.readers import cloudwatch, dlio, elbencho, fio, ior
from ckptplanner.data.readers.source import Reader

READERS: tuple[Reader, ...] = (fio.READER, ior.READER, elbencho.READER, dlio.READER, cloudwatch.READER)
