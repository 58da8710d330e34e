"""Swift: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = r"""
// Parcels and how they are weighed.
import Foundation
@testable import Post.Units

let limit = 30

/// A parcel.
@available(iOS 17, *)
public final class Parcel<Content: Item>: Named, Codable where Content: Sendable {
    static let most = 31
    var weight: Int {
        didSet {
            print("weight } is \(weight)")
        }
    }
    var isHeavy: Bool {
        return weight > limit
    }
    lazy var scale: Scale = {
        return Scale(name: "a { b")
    }()

    init?(weight: Int, content: Content) throws {
        self.weight = weight
    }

    deinit {
        print("gone for good")
    }

    subscript(index: Int) -> Content {
        get { contents[index] }
    }

    // Weighs it.
    func weigh<Unit>(
        _ factor: Int,
        in unit: Unit
    ) async throws -> Int {
        func local() -> Int { 1 }
        return weight * factor + local()
    }

    static func < (left: Parcel, right: Parcel) -> Bool {
        return left.weight < right.weight
    }
}

struct Size {
    let most: Int
}

enum Fault: Error {
    case heavy(Int)
    func text() -> String {
        return "too heavy"
    }
}

protocol Scaled: AnyObject {
    associatedtype Unit
    var unit: Unit { get set }
    func scaled(by factor: Int) -> Int
}

extension Parcel: Scaled {
    func scaled(by factor: Int) -> Int {
        return weight * factor
    }
}

actor Depot {
    func take(_ parcel: Parcel) {
        parcels.append(parcel)
    }
}

typealias Weights = [String: Int]

#if DEBUG
func dump(_ parcels: [Parcel]) {
    parcels.forEach { print($0) }
}
#endif
"""[1:]

SKELETON = """\
// Parcels and how they are weighed.
import Foundation
@testable import Post.Units

let limit = 30

/// A parcel.
@available(iOS 17, *)
public final class Parcel<Content: Item>: Named, Codable where Content: Sendable {
    static let most = 31
    var weight: Int { /* ... */ }
    var isHeavy: Bool { /* ... */ }
    lazy var scale: Scale = { /* ... */ }()

    init?(weight: Int, content: Content) throws { /* ... */ }

    deinit { /* ... */ }

    subscript(index: Int) -> Content { /* ... */ }

    // Weighs it.
    func weigh<Unit>(
        _ factor: Int,
        in unit: Unit
    ) async throws -> Int { /* ... */ }

    static func < (left: Parcel, right: Parcel) -> Bool { /* ... */ }
}

struct Size {
    let most: Int
}

enum Fault: Error {
    case heavy(Int)
    func text() -> String { /* ... */ }
}

protocol Scaled: AnyObject {
    associatedtype Unit
    var unit: Unit { get set }
    func scaled(by factor: Int) -> Int
}

extension Parcel: Scaled {
    func scaled(by factor: Int) -> Int { /* ... */ }
}

actor Depot {
    func take(_ parcel: Parcel) { /* ... */ }
}

typealias Weights = [String: Int]

#if DEBUG
func dump(_ parcels: [Parcel]) { /* ... */ }
#endif
"""

OUTLINE = """\
8-47   @available(iOS 17, *) public final class Parcel<Content: Item>: Named, Codable where Content: Sendable
16-18    var isHeavy: Bool
23-25    init?(weight: Int, content: Content) throws
27-29    deinit
31-33    subscript(index: Int) -> Content
36-42    func weigh<Unit>(_ factor: Int, in unit: Unit) async throws -> Int
44-46    static func < (left: Parcel, right: Parcel) -> Bool
49-51  struct Size
53-58  enum Fault: Error
55-57    func text() -> String
60-64  protocol Scaled: AnyObject
61-61    associatedtype Unit
63-63    func scaled(by factor: Int) -> Int
66-70  extension Parcel: Scaled
67-69    func scaled(by factor: Int) -> Int
72-76  actor Depot
73-75    func take(_ parcel: Parcel)
78-78  typealias Weights = [String: Int]
81-83  func dump(_ parcels: [Parcel])
"""

SUMMARY = """\
swift, 84 lines, 1 class, 1 property, 1 constructor, 1 destructor, 1 subscript, 7 functions, 1 struct, 1 enum, 1 protocol, 2 types, 1 extension, 1 actor
Parcels and how they are weighed.
imports: Foundation, Post.Units
constants: limit
@available(iOS 17, *) public final class Parcel<Content: Item>: Named, Codable where Content: Sendable: isHeavy, init, deinit, subscript, weigh, <
struct Size
enum Fault: Error: text
protocol Scaled: AnyObject: Unit, scaled
extension Parcel: Scaled: scaled
actor Depot: take
types: Weights
functions: dump
"""


def test_skeleton() -> None:
    """Bodies of functions, accessors, observers and closures of properties are cut, also within conditions (M-33)."""
    assert skeleton_of("a.swift", SAMPLE) == SKELETON
    check_skeleton("a.swift", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.swift", SAMPLE) == OUTLINE
    assert summary_of("a.swift", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Parcel.weigh": "sig"},
            "func weigh<Unit>(\n        _ factor: Int,\n        in unit: Unit\n    ) async throws -> Int",
        ),
        ({"Fault.text": "def"}, 'func text() -> String {\n        return "too heavy"\n    }'),
        (
            {"Parcel.scaled": "sig", "dump": "sig"},
            "func scaled(by factor: Int) -> Int\n\nfunc dump(_ parcels: [Parcel])",
        ),
        ({"Parcel.local": "def"}, "ERROR: symbol not found: Parcel.local in a.swift"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A member is found by its path, in an extension too; a local function is none (M-35, M-X15)."""
    assert masked_of("a.swift", SAMPLE, mask) == expected
