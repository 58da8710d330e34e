"""Picked symbols of unconventional C++: many macros, fragments without includes, out-of-line definitions."""

import pytest

from tests.viewing import masked_of

FRAGMENT = """\
#pragma region Pool
#define Using_Pool( Type )            \\
    void grow( Type* type, u32 by ); \\
    u32  room( Type* type );

struct Pool;
GEN_API Pool* pool_make( Allocator from );
forceinline u32 pool_room( Pool* pool );

struct Pool
{
#if ! GEN_C_LIKE_CPP
    Using_Pool( Pool );
    forceinline u32 room() { return pool_room( this ); }
    forceinline operator bool();
#endif
    static Pool Invalid;
    u32 Count;
};

enum class PoolKind : u32
{
#define Entry( Name ) Name,
    Fixed,
    Growing,
#undef Entry
};

template< class Type >
forceinline Type* pool_take( Pool* pool )
{
    GEN_ASSERT( pool );
    return rcast( Type*, pool_raw( pool ));
}

forceinline
u32 pool_room( Pool* pool )
{
    GEN_ASSERT( pool != nullptr );
    return pool->Count;
}

GEN_NS_BEGIN
namespace parser::inner
{
internal void push( Pool* pool ) { pool->Count += 1; }
internal void push( Pool* pool, u32 by )
{
    pool->Count += by;
}
}
GEN_NS_END
#pragma endregion Pool
"""


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"pool_room": "sig"}, "forceinline u32 pool_room( Pool* pool );\n\nforceinline\nu32 pool_room( Pool* pool )"),
        ({"pool_make": "def"}, "GEN_API Pool* pool_make( Allocator from );"),
        ({"Pool::room": "def"}, "forceinline u32 room() { return pool_room( this ); }"),
        ({"Pool": "sig"}, "struct Pool"),
        ({"PoolKind": "sig"}, "enum class PoolKind : u32"),
        ({"pool_take": "sig"}, "template< class Type >\nforceinline Type* pool_take( Pool* pool )"),
        (
            {"parser::inner::push": "def"},
            "internal void push( Pool* pool ) { pool->Count += 1; }\n\n"
            "internal void push( Pool* pool, u32 by )\n{\n    pool->Count += by;\n}",
        ),
        ({"Pool": "hide", "Using_Pool": "sig"}, "#define Using_Pool( Type )            \\\n\n    Using_Pool( Pool );"),
        ({"Pool::Count": "def"}, "ERROR: symbol not found: Pool::Count in pool.hpp"),
    ],
)  # fmt: skip
def test_ast_masking_gencpp_samples(mask: dict[str, str], text: str) -> None:
    """Symbols are found among macros, by path, with all overloads and out-of-line definitions (M-35, M-X15)."""
    assert masked_of("pool.hpp", FRAGMENT, mask) == text
