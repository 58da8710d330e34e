"""What the tables of a configuration are made of: data classes, which pydantic checks where they are new.

Pydantic takes longer to load, and to build its validator, than a small prompt takes to write. What only reads a table
does without it.
"""

from dataclasses import MISSING, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, dataclass_transform

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema


class Check:
    """An annotation of pydantic, by its name, since there is none before pydantic is loaded."""

    def __init__(self, name: str, /, *arguments: object, **options: object) -> None:
        self._name, self._arguments, self._options = name, arguments, options

    def __get_pydantic_core_schema__(
        self,
        source: Any,  # noqa: ANN401 - any type
        handler: "GetCoreSchemaHandler",
    ) -> "CoreSchema":
        import pydantic

        made = getattr(pydantic, self._name)(*self._arguments, **self._options)
        return handler.generate_schema(Annotated[source, made])


def key(
    description: str,
    *,
    default: Any = MISSING,  # noqa: ANN401 - as of field
    default_factory: Any = MISSING,  # noqa: ANN401 - as of field
    **how: object,
) -> Any:  # noqa: ANN401 - as of field
    """Describe a key of a table; ``how`` is as of pydantic's ``Field``, which reads it from here."""
    return field(
        default=default,
        default_factory=default_factory,
        metadata={"description": description, **how},
    )


@dataclass_transform(
    eq_default=False, kw_only_default=True, frozen_default=True, field_specifiers=(key,)
)
class Table:
    """A table whose keys are all known, or whose other keys are kept as they are, with ``others``."""

    __pydantic_config__: ClassVar[dict[str, str]]

    def __init_subclass__(cls, *, others: bool = False) -> None:
        cls.__pydantic_config__ = {"extra": "allow" if others else "forbid"}
        # To make methods that nobody calls would take as long as all the others.
        dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)


def as_data(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Return a table as new dictionaries and lists, with the keys that its class does not know."""
    if isinstance(value, Table):
        # That of a known configuration holds what it has beside its class's defaults.
        value = {name: getattr(value, name) for name in type(value).__annotations__} | vars(value)
    if isinstance(value, dict):
        return {name: as_data(each) for name, each in value.items()}
    return [as_data(each) for each in value] if isinstance(value, list) else value
