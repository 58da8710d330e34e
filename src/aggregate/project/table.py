"""Base class of a configuration's tables.

Tables are data classes, validated by pydantic. Loading pydantic and building a validator takes longer than writing a
small prompt, so code that only reads tables avoids it.
"""

from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Check:
    """An annotation of pydantic, named by a string so that pydantic is loaded only for validation."""

    def __init__(self, name: str, /, *arguments: object, **options: object) -> None:
        self._name, self._arguments, self._options = name, arguments, options

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - any type
        handler: "GetCoreSchemaHandler",
    ) -> "CoreSchema":
        import pydantic

        annotation = getattr(pydantic, self._name)(*self._arguments, **self._options)
        return handler.generate_schema(Annotated[source, annotation])


def key(
    description: str,
    *,
    default: Any = MISSING,  # noqa: ANN401 - as of field
    default_factory: Any = MISSING,  # noqa: ANN401 - as of field
    **options: object,
) -> Any:  # noqa: ANN401 - as of field
    """Declare a key of a table with a description, a default, and ``options`` of pydantic's ``Field``."""
    return field(
        default=default,
        default_factory=default_factory,
        metadata={"description": description, **options},
    )


@dataclass_transform(
    eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(key,)
)
class Table:
    """A table of a configuration; with ``others`` it accepts unknown keys and keeps them."""

    __pydantic_config__: ClassVar[dict[str, str]]

    def __init_subclass__(cls, *, others: bool = False) -> None:
        cls.__pydantic_config__ = {"extra": "allow" if others else "forbid"}
        # Generating unused methods would double the time.
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)


def as_data(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Convert a table to new dictionaries and lists; unknown keys are kept."""
    if isinstance(value, Table):
        # A cached table only stores values other than the defaults.
        value = {name: getattr(value, name) for name in type(value).__annotations__} | vars(value)
    if isinstance(value, dict):
        return {name: as_data(item) for name, item in value.items()}
    return [as_data(item) for item in value] if isinstance(value, list) else value
