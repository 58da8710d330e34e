"""Kotlin: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/** Parcels and how they are weighed. */
package com.post.parcels

import com.post.Scale
import com.post.units.*

const val LIMIT = 30

typealias Weights = Map<String, Int>

@Serializable
data class Parcel<T : Any> @Inject constructor(
    val weight: Int,
    private var content: T,
) : Item(weight), Comparable<Parcel<T>> {
    companion object {
        const val MAX = 31
        fun of(weight: Int): Parcel<Unit> = Parcel(weight, Unit)
    }

    init {
        require(weight > 0) { "no weight" }
    }

    constructor(text: String) : this(text.length, text as T) {
        println("made from $text }")
    }

    val heavy: Boolean
        get() {
            return weight > LIMIT
        }

    private val scale by lazy {
        Scale.open("a { b")
    }

    // Weighs it.
    override suspend fun weigh(factor: Int): Int? {
        fun local() = 1
        return weight * factor + local()
    }

    override fun compareTo(other: Parcel<T>): Int = weight - other.weight
}

enum class Size(val most: Int) : Named {
    SMALL(1) {
        override fun label() = "s"
    },
    LARGE(9);

    abstract fun label(): String
}

sealed interface Scaled {
    fun scaled(by: Int): Int
}

object Registry : Scaled {
    override fun scaled(by: Int): Int {
        return by * parcels.size
    }
}

fun <T> List<T>.total(weight: (T) -> Int): Int =
    sumOf { item ->
        weight(item)
    }
"""

SKELETON = """\
/** Parcels and how they are weighed. */
package com.post.parcels

import com.post.Scale
import com.post.units.*

const val LIMIT = 30

typealias Weights = Map<String, Int>

@Serializable
data class Parcel<T : Any> @Inject constructor(
    val weight: Int,
    private var content: T,
) : Item(weight), Comparable<Parcel<T>> {
    companion object {
        const val MAX = 31
        fun of(weight: Int): Parcel<Unit> = Parcel(weight, Unit)
    }

    init { /* ... */ }

    constructor(text: String) : this(text.length, text as T) { /* ... */ }

    val heavy: Boolean
        get() { /* ... */ }

    private val scale by lazy { /* ... */ }

    // Weighs it.
    override suspend fun weigh(factor: Int): Int? { /* ... */ }

    override fun compareTo(other: Parcel<T>): Int = weight - other.weight
}

enum class Size(val most: Int) : Named {
    SMALL(1) {
        override fun label() = "s"
    },
    LARGE(9);

    abstract fun label(): String
}

sealed interface Scaled {
    fun scaled(by: Int): Int
}

object Registry : Scaled {
    override fun scaled(by: Int): Int { /* ... */ }
}

fun <T> List<T>.total(weight: (T) -> Int): Int =
    { /* ... */ }
"""

OUTLINE = """\
9-9    typealias Weights = Map<String, Int>
11-45  @Serializable data class Parcel<T : Any> @Inject constructor(val weight: Int, private var content: T) : Item(weight), Comparable<Parcel<T>>
16-19    companion object
18-18      fun of(weight: Int): Parcel<Unit>
25-27    constructor(text: String) : this(text.length, text as T)
39-42    override suspend fun weigh(factor: Int): Int?
44-44    override fun compareTo(other: Parcel<T>): Int
47-54  enum class Size(val most: Int) : Named
49-49    override fun label()
53-53    abstract fun label(): String
56-58  sealed interface Scaled
57-57    fun scaled(by: Int): Int
60-64  object Registry : Scaled
61-63    override fun scaled(by: Int): Int
66-69  fun <T> List<T>.total(weight: (T) -> Int): Int
"""

SUMMARY = """\
kotlin, 69 lines, 1 type, 2 classes, 2 objects, 8 functions, 1 constructor, 1 interface
Parcels and how they are weighed.
imports: com.post.Scale, com.post.units
constants: LIMIT, MAX
@Serializable data class Parcel<T : Any> @Inject constructor(val weight: Int, private var content: T) : Item(weight), Comparable<Parcel<T>>: constructor, weigh, compareTo
  companion object: of
enum class Size(val most: Int) : Named: label
sealed interface Scaled: scaled
object Registry : Scaled: scaled
types: Weights
functions: total
"""


def test_skeleton() -> None:
    """Bodies of functions, accessors, initialisers and lambdas of properties are cut; an expression of one line stays (M-33)."""
    assert skeleton_of("a.kt", SAMPLE) == SKELETON
    check_skeleton("a.kt", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.kt", SAMPLE) == OUTLINE
    assert summary_of("a.kt", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"Parcel.weigh": "sig"}, "override suspend fun weigh(factor: Int): Int?"),
        (
            {"Registry.scaled": "def"},
            "override fun scaled(by: Int): Int {\n        return by * parcels.size\n    }",
        ),
        (
            {"com.post.parcels.total": "sig", "Size.label": "sig"},
            "fun <T> List<T>.total(weight: (T) -> Int): Int\n\noverride fun label()\n\n    abstract fun label(): String",
        ),
        ({"Parcel.local": "def"}, "ERROR: symbol not found: Parcel.local in a.kt"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A member is found by its path, through the package and of all entries of an enumeration; a local function is none (M-35, M-X15)."""
    assert masked_of("a.kt", SAMPLE, mask) == expected
