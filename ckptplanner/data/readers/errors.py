"""What a reader says when a file cannot be used: one sentence with the file, what is wrong and what is accepted."""

from __future__ import annotations


class ReaderError(ValueError):
    """A file that cannot be used as it is; the message is one sentence for the user."""


class UnknownFamily(ReaderError):  # noqa: N818 - read as what it is in the sentence of an except
    """A model family that is not counted exactly here, so its total must come from elsewhere."""

    def __init__(self, source: str, family: str) -> None:
        super().__init__(
            f"{source}: models of the family {family} are not counted exactly here; type the total number of "
            "parameters, or give the model's model.safetensors.index.json."
        )
        self.family = family


def shown(value: object) -> str:
    """A value from a user's file, short and printable, for a message or a note."""
    try:
        text = ascii(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        return "a value too large to show"
    return text if len(text) <= 60 else text[:57] + "..."


def printable(text: str) -> str:
    """The text with whatever no UTF-8 file could hold replaced (file names and JSON may carry lone surrogates)."""
    return text.encode("utf-8", "replace").decode("utf-8")
