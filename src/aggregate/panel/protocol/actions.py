"""What the page asks to do, and what comes of it."""

from typing import NotRequired, TypedDict

from aggregate.panel.protocol.files import FilesData
from aggregate.panel.protocol.prompt import PromptData
from aggregate.panel.protocol.state import StateData


class Failure(TypedDict):
    """Why a request was refused.

    Attributes:
        error: One sentence: what, where, what to do.
        conflict: Whether somebody else has changed the same thing on the disk.
    """

    error: str
    conflict: NotRequired[bool]


class EditsData(TypedDict):
    """What the page asks to change; one undo step.

    Attributes:
        revision: The one that the page has seen; an older one is merged as long as the files and slices exist.
        edits: In order.
    """

    revision: int
    edits: "list[EditData]"


class EditData(TypedDict):
    """One edit; which keys count follows from ``op``.

    - ``view``: ``paths``, ``mode`` (a view or ``"out"``).
    - ``mask``: ``path``, ``name``, ``mask`` (``def``, ``sig``, ``hide`` or ``""``).
    - ``slice``: ``path``, ``start``, ``end``, ``tag``, ``comment``; shows the file by its slices.
    - ``confirm_slice``: ``path``, ``id``: captures the candidate anew; ``start`` and ``end`` choose other lines.
    - ``edit_slice``: ``path``, ``id``, ``tag``, ``comment``.
    - ``remove_slice``: ``path``, ``id``.
    - ``task``: any of ``task`` (text), ``focus``, ``symbols``, ``since``, ``budget`` (a number, a text or ``null``).
    - ``strategy``: ``name``.
    - ``discussion``: ``name``; not saved.
    - ``turn``: ``id``, ``on``; not saved.
    - ``section``: ``name`` (``beads`` or ``history``), ``on``.
    - ``screenshot``: ``path``, ``on``.
    - ``preset``: ``name``, ``""`` for none.
    """

    op: str
    paths: NotRequired[list[str]]
    path: NotRequired[str]
    mode: NotRequired[str]
    name: NotRequired[str]
    mask: NotRequired[str]
    id: NotRequired[int]
    start: NotRequired[int]
    end: NotRequired[int]
    tag: NotRequired[str]
    comment: NotRequired[str]
    on: NotRequired[bool]
    task: NotRequired[str]
    focus: NotRequired[list[str]]
    symbols: NotRequired[list[str]]
    since: NotRequired[str]
    budget: NotRequired[int | str | None]


class FitRequest(TypedDict):
    """``POST /api/fit``: the slider has moved.

    Attributes:
        budget: Where to.
        released: Whether it was let go, which makes it an undo step.
        since: The revision of the page's table of files, as in ``GET /api/files``.
    """

    budget: int | str | None
    released: NotRequired[bool]
    since: NotRequired[int | None]


class FitData(TypedDict):
    """A prompt for another budget, while the slider moves.

    Attributes:
        prompt: As ``/api/prompt``.
        files: The rows that changed (``full`` is false).
        ms: How long it took.
    """

    prompt: PromptData
    files: FilesData
    ms: float


class SavedData(TypedDict):
    """``POST /api/save``.

    Attributes:
        state: As ``/api/state``.
        merged: Whether changes on the disk were merged; the sentence says which.
        sentence: For the status line.
    """

    state: StateData
    merged: bool
    sentence: str


class ImageRequest(TypedDict):
    """``POST /api/screenshot``: a new screenshot, stored in the project and taken into the draft as one step.

    It is refused where it is no PNG, JPEG, GIF or WebP image by its bytes, or has more than ten million of them.

    Attributes:
        data: The file in base64.
        name: The name of the file, ``""`` for a picture without one.
    """

    data: str
    name: NotRequired[str]


class AddedImageData(TypedDict):
    """What came of ``POST /api/screenshot``.

    Attributes:
        state: As ``/api/state``.
        path: The screenshot's, as in ``ScreenshotData``.
    """

    state: StateData
    path: str


class RunData(TypedDict):
    """``POST /api/run``: the prompt was written, and where."""

    path: str
    tokens: int
    sentence: str
