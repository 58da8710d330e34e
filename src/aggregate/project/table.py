"""What tables of a configuration are: plain values under known keys, which pydantic checks where they are new.

Pydantic takes longer to load, and to build its models, than a small prompt takes to write. So a table is no model: it
says of its keys what a model would, and makes one when there is something to check. A table that was checked before is
made again without it, by ``from_given``.
"""

from collections.abc import Mapping
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Self,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
)

if TYPE_CHECKING:
    from pydantic import BaseModel, GetCoreSchemaHandler
    from pydantic_core import CoreSchema

AnyTable = TypeVar("AnyTable", bound="Table")

_REQUIRED = object()  # the default of a key that has none


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


class Key:
    """What a key of a table says of itself: as ``Field`` takes it, and its type."""

    kind: Any = None

    def __init__(self, default: object, how: Mapping[str, Any]) -> None:
        self.default, self.how = default, how


def key(description: str, *, default: Any = _REQUIRED, **how: Any) -> Any:  # noqa: ANN401 - as of Field
    """Describe a key of a table; ``how`` is as of pydantic's ``Field``."""
    if "default_factory" in how:
        default = how["default_factory"]()
    elif default is not _REQUIRED:
        how["default"] = default
    return Key(default, {"description": description, **how})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(key,))
class Table:
    """A table whose keys are all known, or whose other keys are kept as they are, with ``others``.

    It holds what it was given, never changes, and has the defaults of the other keys from its class. Of a table with
    others nothing else may be asked, since a key of a file may be called like it: functions below ask the class.
    """

    KEYS: ClassVar[Mapping[str, Key]]
    HAS_OTHERS: ClassVar[bool]

    def __init_subclass__(cls, *, others: bool = False) -> None:
        cls.HAS_OTHERS = others
        cls.KEYS = {name: own for name, own in vars(cls).items() if isinstance(own, Key)}
        for name, own in cls.KEYS.items():
            own.kind = cls.__annotations__[name]
            if own.default is _REQUIRED:
                delattr(cls, name)
            else:
                setattr(cls, name, own.default)

    def __init__(self, /, **given: Any) -> None:  # noqa: ANN401 - of any type
        vars(self).update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} never changes: make another one by replaced")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and values_of(self) == values_of(other)

    __hash__ = None  # type: ignore[assignment] # it holds lists

    def __repr__(self) -> str:
        return f"{type(self).__name__}({vars(self)})"

    @classmethod
    def check(cls, table: Any) -> None:  # noqa: ANN401 - of this class
        """Raise ``ValueError`` with what must be, where keys that are each right do not go together."""

    @classmethod
    @cache
    def as_model(cls) -> "type[BaseModel]":
        """Return the model that checks what a table is made of."""
        from pydantic import ConfigDict, Field, create_model

        fields: dict[str, Any] = {}
        for name, own in cls.KEYS.items():
            how = dict(own.how)
            if isinstance(own.default, Table):
                # So that the default, which is never used here, needs no validator of its own.
                how["default"] = type(own.default).as_model().model_construct()
            fields[name] = own.kind, Field(**how)
        # Its validator is built when a table of the kind is first read by itself: those of the project are built into
        # that of the whole configuration, and once more for nothing otherwise, which takes a third of the time.
        config = ConfigDict(extra="allow" if cls.HAS_OTHERS else "forbid", defer_build=True)
        return create_model(cls.__name__, __config__=config, __doc__=cls.__doc__, **fields)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        from pydantic_core import core_schema

        schema = handler.generate_schema(cls.as_model())
        return core_schema.no_info_after_validator_function(cls._of_model, schema)

    @classmethod
    def _of_model(cls, model: "BaseModel") -> Self:
        values = {**model.__dict__, **(model.model_extra or {})}
        table = cls(**{name: values[name] for name in values if name in model.model_fields_set})
        cls.check(table)
        return table


def given_to(table: Table) -> Mapping[str, Any]:
    """Return what a table was given, without the defaults."""
    return vars(table)


def values_of(table: Table) -> dict[str, Any]:
    """Return the value of each key, and behind these the keys that its class does not know."""
    return {name: own.default for name, own in type(table).KEYS.items()} | vars(table)


def replaced(table: AnyTable, **changes: object) -> AnyTable:
    return type(table)(**{**vars(table), **changes})


def as_data(value: Any, *, given: bool = False) -> Any:  # noqa: ANN401 - of any type
    """Return a table as new dictionaries and lists of its values, or only of what it was ``given``."""
    if isinstance(value, Table):
        value = vars(value) if given else values_of(value)
    if isinstance(value, dict):
        return {name: as_data(each, given=given) for name, each in value.items()}
    return [as_data(each, given=given) for each in value] if isinstance(value, list) else value


def from_given(kind: type[AnyTable], data: Mapping[str, Any]) -> AnyTable:
    """Return the table of which ``as_data`` with ``given`` returned this."""
    kinds = {name: own.kind for name, own in kind.KEYS.items()}
    return kind(**{name: _revived(kinds.get(name), value) for name, value in data.items()})


def _revived(kind: Any, value: Any) -> Any:  # noqa: ANN401 - of any type
    inner, origin = get_args(kind), get_origin(kind)
    if isinstance(value, dict):
        if isinstance(kind, type) and issubclass(kind, Table):
            return from_given(kind, value)
        if origin is dict:
            return {name: _revived(inner[1], each) for name, each in value.items()}
    elif not isinstance(value, list):
        return value
    elif origin is list:
        return [_revived(inner[0], each) for each in value]
    # What an annotation says more of, or a table beside a text.
    return next((_revived(one, value) for one in inner if _has_table(one)), value)


def _has_table(kind: Any) -> bool:  # noqa: ANN401 - any type
    if isinstance(kind, type):
        return issubclass(kind, Table)
    return any(map(_has_table, get_args(kind)))
