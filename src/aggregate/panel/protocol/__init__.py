"""What the page and the server say to each other: JSON, described by types.

Lines are 1-based and inclusive, and ``0`` where there is none. Paths are as the prompt shows them: relative to the base
directory with ``/``. An answer to a mistake has the status 4xx and is a ``Failure``.
"""

from aggregate.panel.protocol.actions import (
    AddedImageData,
    EditData,
    EditsData,
    Failure,
    FitData,
    FitRequest,
    ImageRequest,
    RunData,
    SavedData,
)
from aggregate.panel.protocol.files import (
    DefinitionData,
    FileData,
    FilesData,
    FileState,
    PlaceData,
    SliceData,
)
from aggregate.panel.protocol.prompt import (
    LinesData,
    NotEnteredData,
    PromptData,
    SectionData,
    WhereData,
)
from aggregate.panel.protocol.sending import PlanBlock, PlanData, PlanRequest, SendRequest
from aggregate.panel.protocol.state import (
    BeadsData,
    DiscussionData,
    EventData,
    ModelData,
    PresetData,
    PromptTotals,
    ScreenshotData,
    StateData,
    TaskData,
    TurnData,
)

__all__ = [
    "AddedImageData",
    "BeadsData",
    "DefinitionData",
    "DiscussionData",
    "EditData",
    "EditsData",
    "EventData",
    "Failure",
    "FileData",
    "FileState",
    "FilesData",
    "FitData",
    "FitRequest",
    "ImageRequest",
    "LinesData",
    "ModelData",
    "NotEnteredData",
    "PlaceData",
    "PlanBlock",
    "PlanData",
    "PlanRequest",
    "PresetData",
    "PromptData",
    "PromptTotals",
    "RunData",
    "SavedData",
    "ScreenshotData",
    "SectionData",
    "SendRequest",
    "SliceData",
    "StateData",
    "TaskData",
    "TurnData",
    "WhereData",
]
