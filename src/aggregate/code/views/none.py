"""The file is named, its content left out."""

from aggregate.base.values import View, ViewRequest

EXCLUDED = "(context excluded)"


def none(_request: ViewRequest) -> View:
    """Return the fixed note that stands for content left out on purpose (rule M-36)."""
    return View(EXCLUDED)
