"""The one table of views."""

from collections.abc import Callable
from types import MappingProxyType

from aggregate.models.view import View, ViewMode, ViewRequest
from aggregate.views.custom import custom
from aggregate.views.full import full
from aggregate.views.masked import masked
from aggregate.views.none import none
from aggregate.views.outline import outline
from aggregate.views.skeleton import skeleton
from aggregate.views.summary import summary

VIEWS: MappingProxyType[ViewMode, Callable[[ViewRequest], View]] = MappingProxyType(
    {
        ViewMode.FULL: full,
        ViewMode.SUMMARY: summary,
        ViewMode.SKELETON: skeleton,
        ViewMode.OUTLINE: outline,
        ViewMode.MASKED: masked,
        ViewMode.CUSTOM: custom,
        ViewMode.NONE: none,
    }
)

PARSED = frozenset({ViewMode.SKELETON, ViewMode.OUTLINE, ViewMode.MASKED, ViewMode.SUMMARY})
"""The views that parse the file: those worth a process of their own when there are many."""
