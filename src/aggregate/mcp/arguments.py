"""The arguments of each tool; every word of a description is paid for with each request, so there are few."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aggregate.base.errors import ToolError

Path = Annotated[str, Field(max_length=4096)]

_MOST_NAMES = 200  # each is looked for in all files, while others wait


class Arguments(BaseModel):
    """The arguments of one call; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


class ComposeArguments(Arguments):
    task: str = Field(description="What you are about to do; quote errors and tracebacks whole")
    budget: int | None = Field(
        None, ge=1, description="Most tokens; default: what one answer holds"
    )
    focus: list[Path] = Field(
        default=[], max_length=_MOST_NAMES, description="PATH[:LINE[-LINE]] to show in any case"
    )
    symbols: list[str] = Field(
        default=[], max_length=_MOST_NAMES, description="Definitions to start from"
    )
    since: str = Field(default="", description="git revision whose changes since to start from")


class ReadArguments(Arguments):
    path: Path = Field(description="File, or handle of a prompt")
    view: Literal["full", "skeleton", "outline", "summary"] = "full"
    lines: str = Field(default="", pattern=r"^(\d{1,9}(-\d{0,9})?)?$", description="A-B, 1-based")
    symbol: str = Field(default="", description="Only this definition, such as Class.method")
    again: bool = Field(default=False, description="Repeat what you were shown before")


class OutlineArguments(Arguments):
    path: Path = Field(default="", description="Folder or file; default: the whole project")


class FindArguments(Arguments):
    query: str = Field(
        min_length=1,
        max_length=1000,
        pattern=r"\S",
        description="Name of a definition, such as Class.method, or any text",
    )
    path: Path = Field(default="", description="Only below this folder, or in this file")


class ExplainArguments(Arguments):
    handle: str = Field(default="", description="Of a prompt; default: the last")
    path: Path = Field(default="", description="File; default: all that the prompt shows")


class WorkerResult(Arguments):
    """What one sub-agent returned."""

    label: str = Field(default="", description="Who")
    value: Any = None
    error: str = ""


class ResultsArguments(Arguments):
    outputs: list[WorkerResult] = Field(min_length=1)
    strategy: Literal["concat", "json", "merge", "first", "last"] = "concat"


def parse(model: type[ArgumentsT], given: Mapping[str, Any], *, tool: str) -> ArgumentsT:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise ToolError(f"{tool}: {name}: {first['msg']}") from None


def schema_of(model: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, without the titles that repeat the names."""
    schema: dict[str, Any] = _without_titles(model.model_json_schema())
    schema.pop("description", None)  # the tool's own says more
    return schema


def _without_titles(node: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_titles(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
