"""Java: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/* Copyright nobody. */
package org.parcel;

import java.util.List;
import static java.lang.Math.*;

/**
 * Keeps parcels.
 *
 * <p>More about it.
 */
@Deprecated(since = "1")
public final class Store<T extends Comparable<T>> extends Base implements Closeable {
  public static final int LIMIT = 3;
  private final List<T> parcels;
  private final Runnable hook = () -> {
    System.out.println("leak");
  };
  private final Object lock = new Object() {
    @Override
    public String toString() {
      return "lock";
    }
  };

  static {
    System.loadLibrary("parcel");
  }

  {
    parcels = List.of();
  }

  @Inject
  public Store(
      List<T> parcels,
      int depth) throws IOException {
    super(depth);
    this.parcels = parcels;
  }

  @Override
  public void run() {
    class Hidden { void no() { } }
    return;
  }

  abstract <R> R map(T parcel);

  enum State {
    OPEN {
      boolean open() {
        return true;
      }
    },
    CLOSED;

    boolean open() {
      return this == OPEN;
    }
  }

  record Pair(int first, int second) {
    Pair {
      if (first < 0) throw new IllegalArgumentException();
    }
  }

  interface Weigher {
    default int weigh() {
      return compute(LIMIT);
    }
    int compute(int n);
  }

  @interface Marked {
    String value() default "";
  }
}
"""

SKELETON = """\
/* Copyright nobody. */
package org.parcel;

import java.util.List;
import static java.lang.Math.*;

/**
 * Keeps parcels.
 *
 * <p>More about it.
 */
@Deprecated(since = "1")
public final class Store<T extends Comparable<T>> extends Base implements Closeable {
  public static final int LIMIT = 3;
  private final List<T> parcels;
  private final Runnable hook = () -> { /* ... */ };
  private final Object lock = new Object() {
    @Override
    public String toString() { /* ... */ }
  };

  static { /* ... */ }

  { /* ... */ }

  @Inject
  public Store(
      List<T> parcels,
      int depth) throws IOException { /* ... */ }

  @Override
  public void run() { /* ... */ }

  abstract <R> R map(T parcel);

  enum State {
    OPEN {
      boolean open() { /* ... */ }
    },
    CLOSED;

    boolean open() { /* ... */ }
  }

  record Pair(int first, int second) {
    Pair { /* ... */ }
  }

  interface Weigher {
    default int weigh() { /* ... */ }
    int compute(int n);
  }

  @interface Marked {
    String value() default "";
  }
}
"""

OUTLINE = """\
12-79  @Deprecated(since = "1") public final class Store<T extends Comparable<T>> extends Base implements Closeable
34-40    @Inject public Store(List<T> parcels, int depth) throws IOException
42-46    @Override public void run()
48-48    abstract <R> R map(T parcel)
50-61    enum State
58-60      boolean open()
63-67    record Pair(int first, int second)
64-66      Pair
69-74    interface Weigher
70-72      default int weigh()
73-73      int compute(int n)
76-78    @interface Marked
"""

SUMMARY = """\
java, 79 lines, 1 class, 2 constructors, 5 methods, 1 enum, 1 record, 1 interface, 1 annotation
Keeps parcels.
imports: java.util.List, java.lang.Math
constants: LIMIT
@Deprecated(since = "1") public final class Store<T extends Comparable<T>> extends Base implements Closeable: Store, run, map, Marked
  enum State: open
  record Pair(int first, int second): Pair
  interface Weigher: weigh, compute
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.java", SAMPLE) == SKELETON
    check_skeleton("a.java", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.java", SAMPLE) == OUTLINE
    assert summary_of("a.java", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Store.run": "def"},
            (
                "@Override\n  public void run() {\n    class Hidden { void no() { } }\n    return;\n  }"
            ),
        ),
        (
            {"org.parcel.Store.State.open": "sig"},
            "boolean open()",
        ),
        (
            {"Store.Store": "sig", "Pair.Pair": "def"},
            (
                "@Inject\n"
                "  public Store(\n"
                "      List<T> parcels,\n"
                "      int depth) throws IOException\n"
                "\n"
                "Pair {\n"
                "      if (first < 0) throw new IllegalArgumentException();\n"
                "    }"
            ),
        ),
        (
            {"Weigher": "sig"},
            "interface Weigher",
        ),
        (
            {"Hidden": "sig"},
            "ERROR: symbol not found: Hidden in a.java",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.java", SAMPLE, mask) == expected
