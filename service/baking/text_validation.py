"""Validate the text index of a table in a baked file."""

import numpy as np

from service.baking.layout import DamagedFile
from service.baking.validation import check_sorted
from service.engine.text_index import TextIndex


def check_text_index(name: str, index: TextIndex) -> None:
    """Check that words are sorted and distinct, and each has rows, ascending and in range. Raises `DamagedFile`."""
    check_sorted(f"{name}/text/words", index.words)
    starts, postings = index.starts, index.postings
    if not (starts[1:] > starts[:-1]).all():
        raise DamagedFile(f"the starts of {name}/text are not ascending")
    if len(postings) and not 0 <= int(postings.min()) <= int(postings.max()) < index.length:
        raise DamagedFile(f"the postings of {name}/text have rows that do not exist")
    falls = (postings[1:] <= postings[:-1]).nonzero()[0] + 1
    if not np.isin(falls, starts, assume_unique=True).all():
        raise DamagedFile(f"the postings of {name}/text are not ascending")
