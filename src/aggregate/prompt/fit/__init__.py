"""Choose the lines of files within a token budget."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.fit.candidates import Candidates
    from aggregate.prompt.fit.entry_order import Fittable, Share, StepOrder
    from aggregate.prompt.fit.fit import FileLines, Fit, ShownLines
    from aggregate.prompt.fit.fitted_sections import RevisionChanges, Shares
else:
    __getattr__ = door(
        __name__,
        {
            "candidates": "Candidates",
            "entry_order": "Fittable Share StepOrder",
            "fit": "FileLines Fit ShownLines",
            "fitted_sections": "RevisionChanges Shares",
        },
    )
