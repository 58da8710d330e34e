"""C#: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
using System;
using Short = System.Collections.Generic.List<int>;

[assembly: Marked]

namespace Post.Parcels
{
    /// <summary>Keeps parcels.</summary>
    [Serializable]
    public partial class Store<T> : Base, IStore where T : new()
    {
        public const int Limit = 3;
        private static readonly Func<int, int> Hook = n =>
        {
            return n + 1;
        };

        static Store()
        {
            Register(typeof(T));
        }

        public Store(int depth)
            : base(depth)
        {
            Depth = depth;
        }

        ~Store() { Dispose(disposing: false); }

        public int Depth { get; private set; }

        public int Weight
        {
            get { return weight * factor; }
            set { weight = value / factor; }
        }

        public bool Empty => Depth == 0;

        public T this[int index]
        {
            get { return items[index % Limit]; }
        }

        public event EventHandler Moved
        {
            add { moved += value; Count(); }
            remove { moved -= value; Count(); }
        }

        public static Store<T> operator +(Store<T> a, Store<T> b)
        {
            return a.Merge(b);
        }

        public static implicit operator int(Store<T> store) => store.Depth;

#if DEBUG
        [Obsolete("no")]
        public async Task<int> RunAsync<R>(
            R request,
            int times = 1) where R : class
        {
            int Hidden() { return 1; }
            return Hidden();
        }
#else
        void IStore.Close()
        {
            throw new NotSupportedException();
        }
#endif

        protected abstract void Weigh();
    }

    public enum State : byte { Open, Closed }

    public delegate void Moving(int steps);

    public record Pair(int First, int Second);

    public struct Point
    {
        public int X;
    }

    public interface IStore
    {
        void Close();
    }
}
"""

SKELETON = """\
using System;
using Short = System.Collections.Generic.List<int>;

[assembly: Marked]

namespace Post.Parcels
{
    /// <summary>Keeps parcels.</summary>
    [Serializable]
    public partial class Store<T> : Base, IStore where T : new()
    {
        public const int Limit = 3;
        private static readonly Func<int, int> Hook = n =>
        { /* ... */ };

        static Store()
        { /* ... */ }

        public Store(int depth)
            : base(depth)
        { /* ... */ }

        ~Store() { /* ... */ }

        public int Depth { get; private set; }

        public int Weight
        {
            get { /* ... */ }
            set { /* ... */ }
        }

        public bool Empty => Depth == 0;

        public T this[int index]
        {
            get { /* ... */ }
        }

        public event EventHandler Moved
        {
            add { /* ... */ }
            remove { /* ... */ }
        }

        public static Store<T> operator +(Store<T> a, Store<T> b)
        { /* ... */ }

        public static implicit operator int(Store<T> store) => store.Depth;

#if DEBUG
        [Obsolete("no")]
        public async Task<int> RunAsync<R>(
            R request,
            int times = 1) where R : class
        { /* ... */ }
#else
        void IStore.Close()
        { /* ... */ }
#endif

        protected abstract void Weigh();
    }

    public enum State : byte { Open, Closed }

    public delegate void Moving(int steps);

    public record Pair(int First, int Second);

    public struct Point
    {
        public int X;
    }

    public interface IStore
    {
        void Close();
    }
}
"""

OUTLINE = """\
6-93   namespace Post.Parcels
9-76     [Serializable] public partial class Store<T> : Base, IStore where T : new()
18-21      static Store()
23-27      public Store(int depth) : base(depth)
29-29      ~Store()
31-31      public int Depth
33-37      public int Weight
39-39      public bool Empty => Depth == 0
41-44      public T this[int index]
46-50      public event EventHandler Moved
52-55      public static Store<T> operator +(Store<T> a, Store<T> b)
57-57      public static implicit operator int(Store<T> store) => store.Depth
60-67      [Obsolete("no")] public async Task<int> RunAsync<R>(R request, int times = 1) where R : class
69-72      void IStore.Close()
75-75      protected abstract void Weigh()
78-78    public enum State : byte
80-80    public delegate void Moving(int steps)
82-82    public record Pair(int First, int Second)
84-87    public struct Point
89-92    public interface IStore
91-91      void Close()
"""

SUMMARY = """\
csharp, 93 lines, 1 namespace, 1 class, 2 constructors, 1 destructor, 3 properties, 1 indexer, 1 event, 2 operators, 4 methods, 1 enum, 1 delegate, 1 record, 1 struct, 1 interface
Keeps parcels.
imports: System, System.Collections.Generic.List<int>
constants: Limit, Hook
namespace Post.Parcels: Moving
  [Serializable] public partial class Store<T> : Base, IStore where T : new(): Store, Depth, Weight, Empty, this, Moved, +, int, RunAsync, Close, Weigh
  public enum State : byte
  public record Pair(int First, int Second)
  public struct Point
  public interface IStore: Close
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.cs", SAMPLE) == SKELETON
    check_skeleton("a.cs", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.cs", SAMPLE) == OUTLINE
    assert summary_of("a.cs", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Store.RunAsync": "sig"},
            (
                '[Obsolete("no")]\n'
                "        public async Task<int> RunAsync<R>(\n"
                "            R request,\n"
                "            int times = 1) where R : class"
            ),
        ),
        (
            {"Post.Parcels.Store.Weight": "def"},
            (
                "public int Weight\n"
                "        {\n"
                "            get { return weight * factor; }\n"
                "            set { weight = value / factor; }\n"
                "        }"
            ),
        ),
        (
            {"Store.+": "def", "State": "sig"},
            (
                "public static Store<T> operator +(Store<T> a, Store<T> b)\n"
                "        {\n"
                "            return a.Merge(b);\n"
                "        }\n"
                "\n"
                "public enum State : byte"
            ),
        ),
        (
            {"Close": "sig"},
            ("void IStore.Close()\n\n        void Close();"),
        ),
        (
            {"Store.Hidden": "def"},
            "ERROR: symbol not found: Store.Hidden in a.cs",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.cs", SAMPLE, mask) == expected
