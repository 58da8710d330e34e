"""Pure rules on paths: roots, globs, ignore files."""

from typing import TYPE_CHECKING

from aggregate.base.door import door

if TYPE_CHECKING:
    from aggregate.project.paths.globs import compile_glob, is_glob, split_root
    from aggregate.project.paths.ignore_rules import MARKERS, IgnoreRules, TooManyRulesError
    from aggregate.project.paths.secret_files import is_secret
else:
    __getattr__ = door(
        __name__,
        {
            "globs": "compile_glob is_glob split_root",
            "ignore_rules": "IgnoreRules MARKERS TooManyRulesError",
            "secret_files": "is_secret",
        },
    )
