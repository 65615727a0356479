"""Hypothesis keeps its files out of the checkout, where pytest would look for tests in them."""

import os
import tempfile

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "ckptplanner-hypothesis"))
