"""Readers of this family are being written."""

from __future__ import annotations

from ckptplanner.data.readers.source import Reader

READERS: tuple[Reader, ...] = ()
