"""What a prompt says beside the files as options and configurations ask for it (rules T-7 and T-8)."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import project_root, read_text
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError
from aggregate.base.redaction import Redaction
from aggregate.base.request import Finish, Given
from aggregate.project.configuration import Project, global_config_path, is_trusted, user_config
from aggregate.prompt.assemble import redact_text
from aggregate.prompt.request import Request

_INSTRUCTIONS: Final = "the instructions"
_NOT_FOLLOWED: Final = (
    "prompt.instructions: those of a project count only if you trust it, which aggregate trust says"
)
_LONGEST_NAME: Final = 4_000  # Characters of a path


def finished(request: Request, asked: Finish, project: Project, redaction: Redaction) -> Request:
    """Return a request with what is asked for beside the files, without secrets, before any of it can be cut."""
    own, theirs = user_config().prompt, project.config.prompt
    instructions, doubts = asked.instructions, [*request.doubts]
    if not instructions and own.instructions:
        instructions = (read_instructions(own.instructions, global_config_path().parent),)
    elif not instructions and theirs.instructions:
        if project.path and not is_trusted(project_root(project.folder)):
            doubts.append(_NOT_FOLLOWED)
        elif request.task and request.budget:
            instructions = (read_instructions(theirs.instructions, project.folder),)
    clean: list[Given] = []
    for given in (*instructions, *asked.attached):
        text, warnings = redact_text(given.text, given.title, redaction)
        clean.append(given._replace(text=text))
        doubts += warnings if redaction.replaces else ()  # else the prompt's own say so
    finish = Finish(
        has_frame=asked.has_frame and own.frame and theirs.frame,
        changes=asked.changes or (request.task.since if request.task else ""),
        instructions=tuple(clean[: len(instructions)]),
        attached=tuple(clean[len(instructions) :]),
        line_numbers=asked.line_numbers,
    )
    return replace(request, finish=finish, doubts=tuple(doubts))


def read_instructions(text: str, folder: Path = Path()) -> Given:
    """Return instructions as they are said, or those of the file that they name, relative to ``folder``."""
    path = folder / text
    if "\n" in text or len(text) > _LONGEST_NAME:
        return Given(_INSTRUCTIONS, text)
    note((str(path.absolute()),))  # it may come to lie there
    try:
        if path.is_file():
            return Given(_INSTRUCTIONS, read_text(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"the instructions cannot be read: {reason}", path=text) from None
    if text.isascii() and len(text.split()) < 2:
        raise ConfigError("there is no such file of instructions", path=text)
    return Given(_INSTRUCTIONS, text)
