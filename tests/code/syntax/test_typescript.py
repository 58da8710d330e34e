"""TypeScript: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import outline_of, skeleton_of


def test_what_other_tools_lose() -> None:
    """`implements`, exported constants, fields, default functions and constraints in braces stay (M-33, M-34)."""
    source = """\
export const LIMIT = 10;
export class List<T extends { id: string }> implements Iterable<T>, Sized {
    readonly items: T[] = [];
    add<K extends { key: string }>(item: T, key: K): void {
        this.items.push(item);
    }
}
export default function <T extends { id: string }>(items: T[]) {
    return new List<T>();
}
"""
    assert (
        skeleton_of("a.ts", source)
        == """\
export const LIMIT = 10;
export class List<T extends { id: string }> implements Iterable<T>, Sized {
    readonly items: T[] = [];
    add<K extends { key: string }>(item: T, key: K): void { /* ... */ }
}
export default function <T extends { id: string }>(items: T[]) { /* ... */ }
"""
    )
    assert (
        outline_of("a.ts", source)
        == """\
2-7    export class List<T extends { id: string }> implements Iterable<T>, Sized
4-6      add<K extends { key: string }>(item: T, key: K): void
8-10   export default function <T extends { id: string }>(items: T[])
"""
    )


def test_declarations_without_bodies_are_kept_whole() -> None:
    """A declaration file is its own skeleton (M-33)."""
    source = (
        "declare namespace A {\n  function f(x: number): void;\n  class B { m(): string; }\n}\n"
    )
    assert skeleton_of("a.d.ts", source) == source
    assert (
        outline_of("a.d.ts", source)
        == """\
1-4  declare namespace A
2-2    function f(x: number): void
3-3    class B
3-3      m(): string
"""
    )
