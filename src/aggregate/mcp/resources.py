"""What hosts list and attach by themselves: prompts that were written, files, and presets as prompts."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from aggregate.base.disk import read_text
from aggregate.base.errors import ToolError
from aggregate.base.values import AUTO, Task, parse_amount
from aggregate.mcp.arguments import ReadArguments, parse
from aggregate.mcp.pages import capped
from aggregate.mcp.reading import read
from aggregate.mcp.workspace import Connection, Workspace, is_handle
from aggregate.prompt import compose_prompt, numbered_files, presets_of, redact_text
from aggregate.sending import find_prompt

_SCHEME: Final = "aggregate"
FILE_TEMPLATE: Final = f"{_SCHEME}://file/{{+path}}{{?view,lines,symbol}}"
PROMPT_TEMPLATE: Final = f"{_SCHEME}://prompt/{{name}}"
_MOST_LISTED: Final = 50  # prompts that are listed, the newest first


def list_prompts(workspace: Workspace) -> list[tuple[str, str]]:
    request = workspace.request()
    files = numbered_files(request.output_dir, request.namespace)
    newest = reversed(files[-_MOST_LISTED:])
    return [(f"{_SCHEME}://prompt/{number:03d}", path.name) for number, path in newest]


def read_resource(workspace: Workspace, uri: str) -> str:
    address = urlsplit(uri)
    name = unquote(address.path.lstrip("/"))
    if address.scheme == _SCHEME and address.netloc == "file" and name:
        options = {key: values[-1] for key, values in parse_qs(address.query).items()}
        asked = parse(ReadArguments, {"path": name, **options}, tool=_SCHEME)
        # Whoever attaches a resource may have seen nothing of what another was told.
        return read(workspace, Connection(), asked)
    if address.scheme == _SCHEME and address.netloc == "prompt" and name:
        text = _prompt(workspace, name)
        return capped(text, workspace.cap, workspace.count, more="open the file to see them")
    raise ToolError(f"there is no {uri[:200]!r}: there are {FILE_TEMPLATE} and {PROMPT_TEMPLATE}")


def _prompt(workspace: Workspace, name: str) -> str:
    if is_handle(name):
        return workspace.prompt(name).markdown
    if not name.isdecimal():
        raise ToolError(f"there is no prompt {name[:100]!r}: name its number or its handle")
    request = workspace.request()
    try:
        written = read_text(find_prompt(request.output_dir, request.namespace, name))
    except (OSError, ValueError):
        raise ToolError(f"there is no prompt {name}: the list of resources has them") from None
    return redact_text(written, name, request.redaction)[0]  # a plain run shows all


def list_presets(workspace: Workspace) -> list[tuple[str, str]]:
    presets = presets_of(workspace.project()).load_all()
    return [(name, preset.description) for name, preset in sorted(presets.items())]


def preset_prompt(workspace: Workspace, name: str, arguments: Mapping[str, str]) -> str:
    """A person has asked for it, so it has the size that they say; else it is as long as an answer."""
    task = Task(arguments["task"]) if arguments.get("task", "").strip() else None
    text = arguments.get("budget", "")
    try:
        tokens = parse_amount(text) if text else None
    except ValueError as error:
        raise ToolError(f"budget: it {error}, not {text[:100]!r}") from None
    budget = None if tokens == AUTO else tokens
    request = workspace.request(preset=name, task=task, budget=budget)
    if request.budget is None:
        request = workspace.request(preset=name, task=task, budget=workspace.cap)
    return compose_prompt(request, index=workspace.index).prompt.markdown
