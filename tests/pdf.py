"""Read a PDF as a person would search it: its text, with single spaces."""

from __future__ import annotations

from pathlib import Path

from pypdf import PdfReader


def text_of(file: Path) -> str:
    """The text of all pages; any run of spaces, tabs and line breaks is one space."""
    return " ".join(" ".join(page.extract_text() for page in PdfReader(file).pages).split())
