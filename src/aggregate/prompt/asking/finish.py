"""The user's texts in a prompt: instructions, attachments and changes (rules T-7 and T-8)."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from aggregate.base.disk.reading import project_root, read_text
from aggregate.base.disk.witnesses import note
from aggregate.base.errors import ConfigError
from aggregate.base.redaction import Redaction
from aggregate.base.task import Finish, Given
from aggregate.project.configuration import Project, global_config_path, is_trusted, user_config
from aggregate.prompt.asking.found_secrets import redact_text
from aggregate.prompt.asking.request import Request

_INSTRUCTIONS: Final = "the instructions"
_NOT_FOLLOWED: Final = (
    "prompt.instructions: ignored, since you do not trust this project: see aggregate trust"
)
_LONGEST_NAME: Final = 4_000  # characters of a path


def finished(request: Request, finish: Finish, project: Project, redaction: Redaction) -> Request:
    """Return a request with the user's instructions and attachments.

    Secrets in these texts are replaced before a budget can shorten the texts.
    """
    user, config = user_config().prompt, project.config.prompt
    instructions, doubts = finish.instructions, [*request.doubts]
    if not instructions and user.instructions:
        instructions = (read_instructions(user.instructions, global_config_path().parent),)
    elif not instructions and config.instructions:
        if project.path and not is_trusted(project_root(project.folder)):
            doubts.append(_NOT_FOLLOWED)
        elif request.task and request.budget:
            instructions = (read_instructions(config.instructions, project.folder),)
    clean: list[Given] = []
    for text_part in (*instructions, *finish.attached):
        text, warnings = redact_text(text_part.text, text_part.title, redaction)
        clean.append(text_part._replace(text=text))
        doubts += warnings if redaction.replaces else ()  # else the prompt itself warns
    finish = Finish(
        has_frame=finish.has_frame and user.frame and config.frame,
        changes=finish.changes or (request.task.since if request.task else ""),
        instructions=tuple(clean[: len(instructions)]),
        attached=tuple(clean[len(instructions) :]),
        line_numbers=finish.line_numbers,
        is_xml=finish.is_xml,
    )
    return replace(request, finish=finish, doubts=tuple(doubts))


def read_instructions(text: str, folder: Path = Path()) -> Given:
    """Return instructions: ``text`` itself, or the content of the file named ``text`` in ``folder``."""
    path = folder / text
    if "\n" in text or len(text) > _LONGEST_NAME:
        return Given(_INSTRUCTIONS, text)
    note((str(path.absolute()),))  # the file may be created later
    try:
        if path.is_file():
            return Given(_INSTRUCTIONS, read_text(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot read the instructions: {reason}", path=text) from None
    if text.isascii() and len(text.split()) < 2:
        raise ConfigError("no such file of instructions", path=text)
    return Given(_INSTRUCTIONS, text)
