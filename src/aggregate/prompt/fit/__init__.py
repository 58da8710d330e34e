"""Choose the lines of files within a token budget."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.prompt.fit.candidates import *
    from aggregate.prompt.fit.entry_order import *
    from aggregate.prompt.fit.file_shares import *
    from aggregate.prompt.fit.fit import *
    from aggregate.prompt.fit.fitted_files import *
    from aggregate.prompt.fit.sent_files import *
else:
    __getattr__ = door(
        __name__,
        {
            "candidates": "Candidates find_pins pinned_runs Pins",
            "entry_order": "FileShare Fittable StepOrder",
            "file_shares": "large_folders step_order",
            "fit": "Fit OpenedFile ShownLines",
            "fitted_files": "called_definitions choices_of left_out level_of shown_choice shown_files",
            "sent_files": "BELOW ENOUGH FRESH grown_files keep_sent_files LEAST_FRESH LIKELY",
        },
    )
