"""Constructs that a grammar misreads, and members that are declared without a body."""

import re

import pytest

from tests.viewing import outline_of, skeleton_of


@pytest.mark.parametrize(
    "line",
    [
        "in1.close()", "as_x.y()", "is1.y()", "else_b = 1", "get1()", "set_a(1)", "where1.a()",
        "open().close()", "internal = 2", "override.run()", "get(3)", 'set("a", 1)',
    ],
)  # fmt: skip
def test_a_line_of_kotlin_may_begin_like_a_keyword(line: str) -> None:
    """A name that begins like a keyword costs no definition, and bodies still go (M-33, M-34)."""
    text = (
        f"class A {{\n  fun first(): Int {{\n    val a = b()\n    {line}\n    return 1\n  }}\n\n"
        "  val c: Int\n    get() = 1\n\n  fun second() { val longer = 12345 }\n}\n"
    )
    rows = outline_of("a.kt", text)
    assert "2-6      fun first(): Int\n" in rows
    assert "11-11    fun second()" in rows
    assert line not in skeleton_of("a.kt", text)


def test_members_without_bodies() -> None:
    """C# events and the namespace of a file, and elements of Java annotations have rows (M-34)."""
    text = "namespace Demo.Shop;\n\nclass A\n{\n    public event Action B, C;\n}\n"
    assert outline_of("a.cs", text) == (
        "1-1  namespace Demo.Shop\n3-6  class A\n5-5    public event Action B, C\n"
    )
    text = '@interface Ann {\n  String value() default "x";\n}\n'
    assert outline_of("A.java", text) == (
        '1-3  @interface Ann\n2-2    String value() default "x"\n'
    )


def test_an_inline_namespace_makes_a_header_cpp() -> None:
    """A header with nothing else of C++ than an inline namespace lists it (M-34)."""
    assert outline_of("a.h", "inline namespace v1 {\nint f();\n}\n") == (
        "1-3  inline namespace v1\n2-2    int f()\n"
    )


def test_no_blank_stays_of_a_comment_in_a_signature() -> None:
    """A row leaves a comment inside a parameter list out with the blank before it (M-34)."""
    text = "int f(int a /* one */,\n      int b /* two */)\n{\n    return a;\n}\n"
    assert outline_of("a.c", text) == "1-5  int f(int a, int b)\n"


DRIVER = """cfg_rt! {
    /// Opens.
    pub(crate) struct Handle {
        a: u8,
    }

    impl Handle {
        fn open(a: u8) -> u8 { let b = a + 1; match b { 1 => '}', _ => '{' } }
    }

    cfg_time! { pub mod clock; }
}

bitflags! { pub struct Flags: u32 { const A = 1; } }

pub fn outside() -> impl Trait { quote! { pub fn #inner() { let a = 12345; } } }
"""


def test_items_in_macros_of_rust() -> None:
    """Items inside of a macro have rows and lose their bodies; a macro in a body stays one (M-33, M-34)."""
    assert outline_of("a.rs", DRIVER) == (
        "3-5    pub(crate) struct Handle\n7-9    impl Handle\n8-8      fn open(a: u8) -> u8\n"
        "11-11  pub mod clock\n16-16  pub fn outside() -> impl Trait\n"
    )
    skeleton = skeleton_of("a.rs", DRIVER)
    assert (
        "fn open(a: u8) -> u8 { /* ... */ }\n    }\n\n    cfg_time! { pub mod clock; }\n}"
        in skeleton
    )
    assert skeleton.endswith("pub fn outside() -> impl Trait { /* ... */ }\n")


def test_what_a_module_of_cpp_exports() -> None:
    """An exported class, template or namespace of C++20 has rows with its word, and its bodies go (M-33, M-34)."""
    text = (
        "export module shapes;\n\nexport class Box {\n  int area() { int a = 1; return a; }\n};\n\n"
        "export template <class T> void show(T t) { int a = 1; use(a); }\n\n"
        "export namespace geo {\nstruct Point { int x; };\n}\n\n"
        "export {\nint inside(int a) { use(a); use(a); }\n}\nexport int last();\n"
    )
    assert outline_of("a.cpp", text) == (
        "3-5    export class Box\n4-4      int area()\n7-7    export template <class T> void show(T t)\n"
        "9-11   export namespace geo\n10-10    struct Point\n14-14  int inside(int a)\n"
        "16-16  export int last()\n"
    )
    assert "use(a)" not in skeleton_of("a.cpp", text)


def test_a_project_s_macro_behind_a_method() -> None:
    """A macro with a project's prefix joins no method of Objective-C with the next one (M-33, M-34)."""
    text = (
        "@implementation A\n@property (copy) B *c XY_AVAILABLE(ios(10), macos(10.12));\n"
        "- (void)finish:(int)a XY_AVAILABLE(ios(10), macos(10.12)) {\n    self.m = a + 12345;\n}\n"
        "- (void)stop {\n    [self y:12345];\n}\n@end\n"
    )
    rows = outline_of("a.m", text)
    assert (
        "3-5    - (void)finish:(int)a XY_AVAILABLE(ios(10), macos(10.12))\n6-8    - (void)stop\n"
        in rows
    )
    assert "12345" not in skeleton_of("a.m", text)


def test_constants_that_calls_make_of_functions() -> None:
    """A constant of a call, or of two, or an object with a type behind it has a row with its members (M-34)."""
    text = (
        "const a = debounce((e: Event) => { go(e, 12345); }, 300);\n"
        "export const B = memo(forwardRef((p) => { go(p, 12345); }));\n"
        "const c = { load() { go(12345); } } as const;\n"
        "export const d = { save() { go(12345); } } satisfies D;\n"
        "export const e = ['x'] as const;\nconst f = { x: 1 } as const satisfies F;\n"
    )
    assert outline_of("a.ts", text) == (
        "1-1  const a = debounce((e: Event) =>\n2-2  export const B = memo(forwardRef((p) =>\n"
        "3-3  const c =\n3-3    load()\n4-4  export const d =\n4-4    save()\n"
        "5-5  export const e =\n6-6  const f =\n"
    )


CALLS = """\
export const Card = React.memo(forwardRef((p: P, ref) => { const a = 1; return a; }));
const onScroll = debounce((e: Event) => { const a = 1; go(a); }, 300);
export const userSlice = createSlice({ name: 'u', reducers: { add(state) { state.n = 1; go(); } } });
export const appRouter = router({ get: open.query(({ input }) => { const a = 1; return a; }) });
export const handler = middy(async (event) => { const a = 1; return a; }).use(json());
export const useBear = create<Bear>()(devtools(persist((set) => ({ n: 0 }), { name: 'b' })));
const Button = styled.button`color: red`;
export const load = (async () => { await x(); return 1; }) satisfies Load;
class Counter { total = $derived.by(() => { const a = 1; return a; }); }
const fs = require('fs');
export default defineConfig({ plugins: [a()] });
"""


def test_constants_that_calls_make() -> None:
    """A file's constant that calls make of functions or objects is listed, with its members below it (M-34)."""
    rows = outline_of("a.ts", CALLS)
    names = re.findall(r"(?:const|class|default) (\w+)", rows)
    assert names == [
        *("Card", "onScroll", "userSlice", "appRouter", "handler", "useBear", "Button", "load"),
        *("Counter", "defineConfig"),
    ]
    assert "    reducers\n" in rows
    assert "  get: open.query" in rows
    assert "  total = $derived.by" in rows


def test_a_selector_in_capitals_is_no_macro() -> None:
    """Objective-C methods such as ``GET:`` and ``URL`` have rows; a macro behind a method costs none (M-34)."""
    heads = ["- (T *)POST:(NSString *)url", "- (NSURL *)URL", "- (T *) PUT:(NSString *)url"]
    text = "@interface A : B\n{};\n- (void)b NS_UNAVAILABLE;\n@end\n".format(";\n".join(heads))
    rows = outline_of("a.m", text).splitlines()
    assert [row.split("  ", 1)[1].strip() for row in rows[1:]] == [
        *heads,
        "- (void)b NS_UNAVAILABLE",
    ]
