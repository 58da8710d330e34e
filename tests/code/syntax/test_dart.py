"""Dart: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/// Parcels and how they are weighed.
library post.parcels;

import 'dart:io' as io;
export 'scale.dart';

const limit = 30;

/// A parcel.
@immutable
abstract class Parcel<T extends Item> extends Named with Codable implements Scaled {
  static const int most = 31;
  final int weight;
  late final scale = () {
    return Scale('a { b');
  };

  Parcel(this.weight, {required T content}) : super(content) {
    check(weight, '}');
  }
  Parcel.empty() : weight = 0;
  factory Parcel.of(String text) {
    return Letter(text.length);
  }

  bool get heavy => weight > limit;
  set label(String text) {
    labels.add(text);
  }

  // Weighs it.
  @override
  Future<int> weigh<U>(int factor, [U? unit]) async {
    int local() => 1;
    return weight * factor + local();
  }

  int scaled(int by);

  bool operator <(Parcel other) {
    return weight < other.weight;
  }

  String describe() => [
        'a parcel of',
        '$weight grams',
      ].join(' ');
}

mixin Scaled on Named {
  int twice() {
    return scaled(2) + 0;
  }
}

enum Size {
  small(1),
  large(9);

  final int most;
  const Size(this.most);
}

extension Weights on List<int> {
  int total() {
    return fold(0, (a, b) => a + b);
  }
}

typedef Weigher = int Function(Parcel parcel);

int total(List<Parcel> parcels,
    {int factor = 1}) {
  return parcels.length * factor;
}
"""

SKELETON = """\
/// Parcels and how they are weighed.
library post.parcels;

import 'dart:io' as io;
export 'scale.dart';

const limit = 30;

/// A parcel.
@immutable
abstract class Parcel<T extends Item> extends Named with Codable implements Scaled {
  static const int most = 31;
  final int weight;
  late final scale = () { /* ... */ };

  Parcel(this.weight, {required T content}) : super(content) { /* ... */ }
  Parcel.empty() : weight = 0;
  factory Parcel.of(String text) { /* ... */ }

  bool get heavy => weight > limit;
  set label(String text) { /* ... */ }

  // Weighs it.
  @override
  Future<int> weigh<U>(int factor, [U? unit]) async { /* ... */ }

  int scaled(int by);

  bool operator <(Parcel other) { /* ... */ }

  String describe() => { /* ... */ };
}

mixin Scaled on Named {
  int twice() { /* ... */ }
}

enum Size {
  small(1),
  large(9);

  final int most;
  const Size(this.most);
}

extension Weights on List<int> {
  int total() { /* ... */ }
}

typedef Weigher = int Function(Parcel parcel);

int total(List<Parcel> parcels,
    {int factor = 1}) { /* ... */ }
"""

OUTLINE = """\
10-48  @immutable abstract class Parcel<T extends Item> extends Named with Codable implements Scaled
18-20    Parcel(this.weight, {required T content}) : super(content)
21-21    Parcel.empty() : weight = 0
22-24    factory Parcel.of(String text)
26-26    bool get heavy
27-29    set label(String text)
32-36    @override Future<int> weigh<U>(int factor, [U? unit])
38-38    int scaled(int by)
40-42    bool operator <(Parcel other)
44-47    String describe()
50-54  mixin Scaled on Named
51-53    int twice()
56-62  enum Size
61-61    const Size(this.most)
64-68  extension Weights on List<int>
65-67    int total()
70-70  typedef Weigher = int Function(Parcel parcel)
72-75  int total(List<Parcel> parcels, {int factor = 1})
"""

SUMMARY = """\
dart, 75 lines, 1 class, 4 constructors, 8 methods, 1 mixin, 1 enum, 1 extension, 1 type, 1 function
Parcels and how they are weighed.
imports: 'dart:io', 'scale.dart'
constants: limit, most
@immutable abstract class Parcel<T extends Item> extends Named with Codable implements Scaled: Parcel, empty, of, heavy, label, weigh, scaled, <, describe
mixin Scaled on Named: twice
enum Size: Size
extension Weights on List<int>: total
types: Weigher
functions: total
"""


def test_skeleton() -> None:
    """Bodies in braces and behind arrows of several lines are cut; annotations, initialisers and `async` stay (M-33)."""
    assert skeleton_of("a.dart", SAMPLE) == SKELETON
    check_skeleton("a.dart", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.dart", SAMPLE) == OUTLINE
    assert summary_of("a.dart", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"Parcel.weigh": "sig"}, "@override\n  Future<int> weigh<U>(int factor, [U? unit])"),
        ({"Weights.total": "def"}, "int total() {\n    return fold(0, (a, b) => a + b);\n  }"),
        (
            {"Parcel.<": "sig", "Weigher": "def"},
            "bool operator <(Parcel other)\n\ntypedef Weigher = int Function(Parcel parcel);",
        ),
        ({"Parcel.local": "def"}, "ERROR: symbol not found: Parcel.local in a.dart"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A member is found by its path, with its annotations; a local function is none (M-35, M-X15)."""
    assert masked_of("a.dart", SAMPLE, mask) == expected
