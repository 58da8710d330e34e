"""TypeScript with JSX: skeleton, outline, digest and picked symbols, text in and text out."""

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
import React, { useState } from "react";

interface Props<T> {
  items: T[];
  render: (item: T) => React.ReactNode;
}

export const EMPTY = "nothing { here }";

export function List<T extends { id: string }>({ items, render }: Props<T>) {
  const [open, setOpen] = useState(false);
  return (
    <ul onClick={() => { setOpen(!open); }}>
      {items.map((item) => <li key={item.id}>{render(item)}</li>)}
    </ul>
  );
}

export const Field: React.FC<{ name: string }> = ({ name }) => {
  return <input name={name} />;
};

export const Title = ({ text }: { text: string }) => <h1 title="}">{text}</h1>;

export default class Page extends React.Component<Props<string>> {
  state = { open: false };

  render() {
    return <List {...this.props} />;
  }
}

describe("List", () => {
  it("shows its items", async () => {
    render(<List items={[]} render={() => null} />);
  });
});
"""

SKELETON = """\
import React, { useState } from "react";

interface Props<T> {
  items: T[];
  render: (item: T) => React.ReactNode;
}

export const EMPTY = "nothing { here }";

export function List<T extends { id: string }>({ items, render }: Props<T>) { /* ... */ }

export const Field: React.FC<{ name: string }> = ({ name }) => { /* ... */ };

export const Title = ({ text }: { text: string }) => <h1 title="}">{text}</h1>;

export default class Page extends React.Component<Props<string>> {
  state = { open: false };

  render() { /* ... */ }
}

describe("List", () => {
  it("shows its items", async () => { /* ... */ });
});
"""

OUTLINE = """\
3-6    interface Props<T>
10-17  export function List<T extends { id: string }>({ items, render }: Props<T>)
19-21  export const Field: React.FC<{ name: string }> = ({ name }) =>
23-23  export const Title = ({ text }: { text: string }) =>
25-31  export default class Page extends React.Component<Props<string>>
28-30    render()
33-37  describe("List", () =>
34-36    it("shows its items", async () =>
"""

SUMMARY = """\
tsx, 37 lines, 1 interface, 3 functions, 1 class, 1 method, 1 suite, 1 test
imports: react
constants: EMPTY
interface Props<T>
export default class Page extends React.Component<Props<string>>: render
suite List: shows its items
functions: List, Field, Title
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.tsx", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.tsx", SAMPLE) == OUTLINE
    assert summary_of("a.tsx", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.tsx", SAMPLE)


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
