"""Choose the lines of files within a token budget."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.fit.candidates import Candidates, Pins, find_pins, pinned_runs
    from aggregate.prompt.fit.entry_order import FileShare, Fittable, StepOrder
    from aggregate.prompt.fit.file_shares import large_folders
    from aggregate.prompt.fit.fit import Fit
    from aggregate.prompt.fit.fitted_files import level_of, shown_choice
    from aggregate.prompt.fit.fitted_sections import RevisionChanges, Shares
    from aggregate.prompt.fit.opened_file import OpenedFile, ShownLines
    from aggregate.prompt.fit.sent_files import *
else:
    __getattr__ = door(
        __name__,
        {
            "candidates": "Candidates Pins find_pins pinned_runs",
            "entry_order": "FileShare Fittable StepOrder",
            "file_shares": "large_folders",
            "fit": "Fit",
            "fitted_files": "level_of shown_choice",
            "fitted_sections": "RevisionChanges Shares",
            "opened_file": "OpenedFile ShownLines",
            "sent_files": "BELOW ENOUGH FRESH grown_files keep_sent_files LEAST_FRESH LIKELY",
        },
    )
