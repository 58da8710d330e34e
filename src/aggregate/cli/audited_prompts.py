"""Prompts with an account, as a person names them."""

import os
import re
from pathlib import Path

from aggregate.base.disk import is_file
from aggregate.base.errors import ConfigError
from aggregate.base.values import Audit
from aggregate.prompt import (
    Request,
    audit_path,
    newest_audited,
    numbered_files,
    read_audit,
    request_log_path,
)
from aggregate.sending import find_prompt

_HOW = "aggregate run with --task or --budget records what its prompt is made of"


def is_prompt(name: str, request: Request) -> bool:
    """Tell whether a person's word names a prompt, by its number or its path, and no file of the project."""
    if re.fullmatch(r"[0-9]+", name):
        return True
    path = Path(name)
    if any(is_file(record(path)) for record in (audit_path, request_log_path) if path.name):
        return True
    written = (prompt for _, prompt in numbered_files(request.output_dir, request.namespace))
    return os.path.realpath(path) in map(os.path.realpath, written)


def audited_prompt(name: str, request: Request) -> tuple[Path, Audit]:
    """Return the prompt that a person names, and its account.

    Raises:
        ConfigError: It has none.
    """
    path = find_prompt(request.output_dir, request.namespace, name)
    audit = read_audit(path)
    if audit is None:
        reason = "nothing is recorded of what" if path.exists() else "there is no prompt"
        ending = " this prompt is made of" if path.exists() else ""
        raise ConfigError(f"{reason}{ending}: {_HOW}", path=str(path))
    return path, audit


def newest_prompt(request: Request) -> tuple[Path, Audit]:
    """Return the newest prompt that has an account, and that.

    Raises:
        ConfigError: There is none.
    """
    newest = newest_audited(request.output_dir, request.namespace)
    if newest is None:
        raise ConfigError(f"no prompt in {request.output_dir} has an account of its lines: {_HOW}")
    return newest
