"""Globs, ignore rules and names of secrets, without reading files."""

from aggregate.base.door import TYPE_CHECKING, door

if TYPE_CHECKING:
    from aggregate.project.paths.globs_and_ignores import (
        IgnoreRules,
        TooManyRulesError,
        compile_glob,
        is_glob,
        split_root,
    )
    from aggregate.project.paths.secret_paths import ALLOW_OUTSIDE, ALLOW_SECRETS, Scope, is_secret
else:
    __getattr__ = door(
        __name__,
        {
            "secret_paths": "ALLOW_OUTSIDE ALLOW_SECRETS Scope is_secret",
            "globs_and_ignores": "compile_glob IgnoreRules is_glob split_root TooManyRulesError",
        },
    )
