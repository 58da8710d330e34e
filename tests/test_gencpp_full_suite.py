"""All views of unconventional C++: heavy macros, fragments that others include, unbalanced conditionals."""

import pytest

from tests.test_ast_masking_core import FRAGMENT
from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLES = {
    "pool.hpp": FRAGMENT,
    "case_macros.cpp": "#define CASE( Name ) \\\n    case Name: \\\n        return #Name;\n\n    CASE( Fixed )\n    CASE( Growing )\n",
    "cases.cpp": "case Fixed:\n    return 1;\ncase Growing:\n{\n    return 2;\n}\n",
    "members.hpp": "    u32 Count;\n    Pool* Next;\n    void grow( u32 by );\n};\n",
    "include.cpp": '#include "pool.hpp"\n#include "pool.cpp"\nGEN_NS_BEGIN\n#include "parser.cpp"\nGEN_NS_END\n',
    "half.cpp": "#ifdef A\nvoid f( int a )\n{\n#else\nvoid f()\n{\n#endif\n    g();\n}\n\nvoid h()\n{\n    g(); g(); g();\n}\n",
    "open.cpp": "namespace a {\nnamespace b {\nstruct C {\n    void f() { g(); h(); i(); }\n",
    "upfront.c": "Code def_pool( Str name, Opts_pool p\n    GEN_PARAM_DEFAULT )\n{\n    return make( name, p );\n}\n",
    "generic.h": "#define make( T ) _Generic( (T), \\\n    int: make_int, \\\n    float: make_float )( T )\n",
    "directives.h": "#if A\n#elif B\n#else\n#endif\n#error no\n",
    "stray.cpp": "}}}\n@@ # ` \\\nvoid f();\n",
    "empty.cpp": "",
}


@pytest.mark.parametrize("path", SAMPLES)
def test_gencpp_full_suite(path: str) -> None:
    """No view of such a file fails or is silently empty, and its skeleton maps to its lines (M-33, M-34, M-35, M-X19)."""
    source = SAMPLES[path]
    check_skeleton(path, source)
    assert bool(skeleton_of(path, source)) == bool(source)
    assert outline_of(path, source)
    assert summary_of(path, source)
    assert (
        masked_of(path, source, {"nowhere": "def"}) == f"ERROR: symbol not found: nowhere in {path}"
    )
