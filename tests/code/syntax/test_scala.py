"""Scala: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/** Parcels and how they are weighed. */
package com.post.parcels

import com.post.{Scale, Unit => Measure}
import scala.util._

@deprecated("old")
final case class Parcel[T <: Item](weight: Int, content: T)(implicit scale: Scale)
    extends Named(weight)
    with Ordered[Parcel[T]] {
  def this(text: String) = this(text.length, Item(text))

  val limit = 30
  val double: Int => Int = { number =>
    number + number
  }
  type Content = T

  // Weighs it.
  def weigh[U: Measure](factor: Int, unit: U = "a { b"): Int = {
    def local = 1
    weight * factor + local
  }

  override def compare(other: Parcel[T]): Int = weight - other.weight

  def heavy: Boolean =
    weight match {
      case more if more > limit => true
      case _                    => false
    }

  def show() {
    println("}")
  }
}

trait Scaled {
  def scaled(by: Int): Int
}

object Registry extends Scaled {
  val Most = 31
  def scaled(by: Int) = by
  def +(parcel: Parcel[Item]): Registry.type = { parcels += parcel; this }
}

enum Size(val most: Int):
  case Small extends Size(1)
  case Large extends Size(9)
  def label: String =
    val name = toString
    name.toLowerCase

given byWeight: Ordering[Size] with
  def compare(left: Size, right: Size): Int = left.most - right.most

extension (text: String)
  def weight(using scale: Scale): Int =
    val raw = text.length
    scale.round(raw)

opaque type Grams = Int
"""

SKELETON = """\
/** Parcels and how they are weighed. */
package com.post.parcels

import com.post.{Scale, Unit => Measure}
import scala.util._

@deprecated("old")
final case class Parcel[T <: Item](weight: Int, content: T)(implicit scale: Scale)
    extends Named(weight)
    with Ordered[Parcel[T]] {
  def this(text: String) = this(text.length, Item(text))

  val limit = 30
  val double: Int => Int = { /* ... */ }
  type Content = T

  // Weighs it.
  def weigh[U: Measure](factor: Int, unit: U = "a { b"): Int = { /* ... */ }

  override def compare(other: Parcel[T]): Int = weight - other.weight

  def heavy: Boolean =
    { /* ... */ }

  def show() { /* ... */ }
}

trait Scaled {
  def scaled(by: Int): Int
}

object Registry extends Scaled {
  val Most = 31
  def scaled(by: Int) = by
  def +(parcel: Parcel[Item]): Registry.type = { /* ... */ }
}

enum Size(val most: Int):
  case Small extends Size(1)
  case Large extends Size(9)
  def label: String =
    { /* ... */ }

given byWeight: Ordering[Size] with
  def compare(left: Size, right: Size): Int = left.most - right.most

extension (text: String)
  def weight(using scale: Scale): Int =
    { /* ... */ }

opaque type Grams = Int
"""

OUTLINE = """\
7-36   @deprecated("old") final case class Parcel[T <: Item](weight: Int, content: T)(implicit scale: Scale) extends Named(weight) with Ordered[Parcel[T]]
11-11    def this(text: String)
17-17    type Content = T
20-23    def weigh[U: Measure](factor: Int, unit: U = "a { b"): Int
25-25    override def compare(other: Parcel[T]): Int
27-33    def heavy: Boolean
33-35    def show()
38-40  trait Scaled
39-39    def scaled(by: Int): Int
42-46  object Registry extends Scaled
44-44    def scaled(by: Int)
45-45    def +(parcel: Parcel[Item]): Registry.type
48-54  enum Size(val most: Int)
51-54    def label: String
55-57  given byWeight: Ordering[Size] with
56-56    def compare(left: Size, right: Size): Int
59-62  def weight(using scale: Scale): Int
63-63  opaque type Grams = Int
"""

SUMMARY = """\
scala, 63 lines, 1 class, 11 functions, 2 types, 1 trait, 1 object, 1 enum, 1 given
Parcels and how they are weighed.
imports: import com.post.{Scale, Unit => Measure}, import scala.util._
constants: Most
@deprecated("old") final case class Parcel[T <: Item](weight: Int, content: T)(implicit scale: Scale) extends Named(weight) with Ordered[Parcel[T]]: this, Content, weigh, compare, heavy, show
trait Scaled: scaled
object Registry extends Scaled: scaled, +
enum Size(val most: Int): label
given byWeight: Ordering[Size] with: compare
functions: weight
types: Grams
"""


def test_skeleton() -> None:
    """Bodies in braces and by indentation are cut; an expression of one line stays (M-33)."""
    assert skeleton_of("a.scala", SAMPLE) == SKELETON
    check_skeleton("a.scala", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.scala", SAMPLE) == OUTLINE
    assert summary_of("a.scala", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"Parcel.weigh": "sig"}, 'def weigh[U: Measure](factor: Int, unit: U = "a { b"): Int'),
        (
            {"Registry.+": "def"},
            "def +(parcel: Parcel[Item]): Registry.type = { parcels += parcel; this }",
        ),
        (
            {"Size.label": "def", "weight": "sig"},
            "def label: String =\n    val name = toString\n    name.toLowerCase\n\ndef weight(using scale: Scale): Int",
        ),
        ({"Parcel.local": "def"}, "ERROR: symbol not found: Parcel.local in a.scala"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A member is found by its path, operators too; a local function is none (M-35, M-X15)."""
    assert masked_of("a.scala", SAMPLE, mask) == expected
