"""Zig: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
//! Parcels and how they are weighed.
const std = @import("std");
const Scale = @import("scale.zig").Scale;

const limit = 30;
pub var total: u32 = 0;

/// A parcel.
pub const Parcel = struct {
    weight: u32 = 1,
    const Size = enum { small, large };

    /// Weighs it.
    pub fn weigh(self: *const Parcel, factor: u32) !u32 {
        // In grams.
        return self.weight * factor;
    }

    pub inline fn heavy(self: Parcel) bool { return self.weight > limit; }
};

pub const Content = union(enum) { letter: []const u8, none };
pub const Fault = error{ Heavy, Lost };

pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn count(self: @This()) usize {
            const text = "} // {";
            return self.items.len + text.len;
        }
    };
}

extern "c" fn weigh_raw(handle: c_int) c_int;

export fn reset() callconv(.C) void {
    total = 0;
}

test "a parcel has a weight" {
    const parcel = Parcel{};
    try std.testing.expect(parcel.weight == 1);
}
"""

SKELETON = """\
//! Parcels and how they are weighed.
const std = @import("std");
const Scale = @import("scale.zig").Scale;

const limit = 30;
pub var total: u32 = 0;

/// A parcel.
pub const Parcel = struct {
    weight: u32 = 1,
    const Size = enum { small, large };

    /// Weighs it.
    pub fn weigh(self: *const Parcel, factor: u32) !u32 {
        // ...
    }

    pub inline fn heavy(self: Parcel) bool { return self.weight > limit; }
};

pub const Content = union(enum) { letter: []const u8, none };
pub const Fault = error{ Heavy, Lost };

pub fn List(comptime T: type) type {
    return struct {
        items: []T,

        pub fn count(self: @This()) usize {
            // ...
        }
    };
}

extern "c" fn weigh_raw(handle: c_int) c_int;

export fn reset() callconv(.C) void {
    // ...
}

test "a parcel has a weight" {
    // ...
}
"""

OUTLINE = """\
9-20   pub const Parcel = struct
11-11    const Size = enum
14-17    pub fn weigh(self: *const Parcel, factor: u32) !u32
19-19    pub inline fn heavy(self: Parcel) bool
22-22  pub const Content = union(enum)
23-23  pub const Fault = error
25-34  pub fn List(comptime T: type) type
29-32    pub fn count(self: @This()) usize
36-36  extern "c" fn weigh_raw(handle: c_int) c_int
38-40  export fn reset() callconv(.C) void
42-45  test "a parcel has a weight"
"""

SUMMARY = """\
zig, 45 lines, 1 struct, 1 enum, 6 functions, 1 union, 1 error, 1 test
Parcels and how they are weighed.
imports: std
constants: limit
pub const Parcel = struct: weigh, heavy
  const Size = enum
pub const Content = union(enum)
errors: Fault
functions: List, List.count, weigh_raw, reset
tests: a parcel has a weight
"""


def test_skeleton() -> None:
    """Bodies are cut; a function that makes a type keeps its members, and a body on the line of its signature stays (M-33)."""
    assert skeleton_of("a.zig", SAMPLE) == SKELETON
    check_skeleton("a.zig", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.zig", SAMPLE) == OUTLINE
    assert summary_of("a.zig", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ({"Parcel.weigh": "sig"}, "pub fn weigh(self: *const Parcel, factor: u32) !u32"),
        (
            {"List.count": "def"},
            'pub fn count(self: @This()) usize {\n            const text = "} // {";\n            return self.items.len + text.len;\n        }',
        ),
        (
            {"Parcel": "sig", "weigh_raw": "def"},
            'pub const Parcel = struct\n\nextern "c" fn weigh_raw(handle: c_int) c_int;',
        ),
        ({"List.text": "def"}, "ERROR: symbol not found: List.text in a.zig"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A member is found by its path, also in a type that a function makes (M-35, M-X15)."""
    assert masked_of("a.zig", SAMPLE, mask) == expected
