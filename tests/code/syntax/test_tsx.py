"""TypeScript with JSX: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of


def test_handlers_outside_of_functions_are_cut() -> None:
    """A handler in an element at the top of the file is cut, the element stays (M-33)."""
    source = 'render(<App onClose={() => { window.close(); }} title="() => {" />);\n'
    assert (
        skeleton_of("a.tsx", source)
        == 'render(<App onClose={() => { /* ... */ }} title="() => {" />);\n'
    )
    check_skeleton("a.tsx", source)


def test_wrapped_components_are_definitions() -> None:
    """A component handed to `memo` or `forwardRef` is listed by its own signature (M-34, M-35)."""
    source = "export const Row = React.memo((props: Props) => {\n  return <tr>{props.children}</tr>;\n});\n"
    assert outline_of("a.tsx", source) == "1-3  export const Row = React.memo((props: Props) =>\n"
    assert masked_of("a.tsx", source, {"Row": "def"}) == source.rstrip()
