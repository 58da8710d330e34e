"""Rust: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
//! Keeps parcels.
//!
//! More about it.
#![allow(dead_code)]
use std::fmt::{self, Debug};

pub const LIMIT: usize = 3;
static HOOK: fn(u8) -> u8 = |n| {
    n.wrapping_add(1)
};

/// A parcel.
#[derive(Clone)]
#[repr(C)]
pub struct Parcel<'a, T: Debug> {
    weight: &'a T,
}

struct Unit;

pub enum State {
    Open { at: u64 },
    Closed,
}

pub trait Weigh {
    type Output;
    fn weigh(&self) -> Self::Output;
    fn twice(&self) -> u32 {
        let n = 2;
        n * 2
    }
}

impl<'a, T> Weigh for Parcel<'a, T>
where
    T: Debug,
{
    type Output = u32;

    #[inline]
    fn weigh(&self) -> u32 {
        fn hidden() {}
        /* a */ 1
    }
}

mod inner {
    pub(crate) async unsafe fn run<const N: usize>() -> Result<(), ()> {
        Ok(())
    }
}

extern "C" {
    fn abs(n: i32) -> i32;
}

#[macro_export]
macro_rules! twice {
    ($e:expr) => {
        $e + $e
    };
}

type Short<'a> = Parcel<'a, u8>;
"""

SKELETON = """\
//! Keeps parcels.
//!
//! More about it.
#![allow(dead_code)]
use std::fmt::{self, Debug};

pub const LIMIT: usize = 3;
static HOOK: fn(u8) -> u8 = |n| { /* ... */ };

/// A parcel.
#[derive(Clone)]
#[repr(C)]
pub struct Parcel<'a, T: Debug> {
    weight: &'a T,
}

struct Unit;

pub enum State {
    Open { at: u64 },
    Closed,
}

pub trait Weigh {
    type Output;
    fn weigh(&self) -> Self::Output;
    fn twice(&self) -> u32 { /* ... */ }
}

impl<'a, T> Weigh for Parcel<'a, T>
where
    T: Debug,
{
    type Output = u32;

    #[inline]
    fn weigh(&self) -> u32 { /* ... */ }
}

mod inner {
    pub(crate) async unsafe fn run<const N: usize>() -> Result<(), ()> { /* ... */ }
}

extern "C" {
    fn abs(n: i32) -> i32;
}

#[macro_export]
macro_rules! twice {
    ($e:expr) => {
        $e + $e
    };
}

type Short<'a> = Parcel<'a, u8>;
"""

OUTLINE = """\
13-17  #[derive(Clone)] #[repr(C)] pub struct Parcel<'a, T: Debug>
19-19  struct Unit
21-24  pub enum State
26-33  pub trait Weigh
27-27    type Output
28-28    fn weigh(&self) -> Self::Output
29-32    fn twice(&self) -> u32
35-46  impl<'a, T> Weigh for Parcel<'a, T> where T: Debug
39-39    type Output = u32
41-45    #[inline] fn weigh(&self) -> u32
48-52  mod inner
49-51    pub(crate) async unsafe fn run<const N: usize>() -> Result<(), ()>
55-55  fn abs(n: i32) -> i32
58-63  #[macro_export] macro_rules! twice
65-65  type Short<'a> = Parcel<'a, u8>
"""

SUMMARY = """\
rust, 65 lines, 2 structs, 1 enum, 1 trait, 3 types, 5 functions, 1 impl, 1 module, 1 macro
Keeps parcels.
imports: std::fmt::{self, Debug}
constants: LIMIT, HOOK
#[derive(Clone)] #[repr(C)] pub struct Parcel<'a, T: Debug>
struct Unit
pub enum State
pub trait Weigh: Output, weigh, twice
impl<'a, T> Weigh for Parcel<'a, T> where T: Debug: Output, weigh
mod inner: run
functions: abs
macros: twice
types: Short
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.rs", SAMPLE) == SKELETON
    check_skeleton("a.rs", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.rs", SAMPLE) == OUTLINE
    assert summary_of("a.rs", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"Parcel": "sig"},
            (
                "#[derive(Clone)]\n"
                "#[repr(C)]\n"
                "pub struct Parcel<'a, T: Debug>\n"
                "\n"
                "impl<'a, T> Weigh for Parcel<'a, T>\n"
                "where\n"
                "    T: Debug,"
            ),
        ),
        (
            {"Parcel::weigh": "def"},
            (
                "#[inline]\n    fn weigh(&self) -> u32 {\n        fn hidden() {}\n        /* a */ 1\n    }"
            ),
        ),
        (
            {"Weigh::twice": "sig", "inner::run": "def"},
            (
                "fn twice(&self) -> u32\n"
                "\n"
                "pub(crate) async unsafe fn run<const N: usize>() -> Result<(), ()> {\n"
                "        Ok(())\n"
                "    }"
            ),
        ),
        (
            {"twice": "def"},
            (
                "fn twice(&self) -> u32 {\n"
                "        let n = 2;\n"
                "        n * 2\n"
                "    }\n"
                "\n"
                "#[macro_export]\n"
                "macro_rules! twice {\n"
                "    ($e:expr) => {\n"
                "        $e + $e\n"
                "    };\n"
                "}"
            ),
        ),
        (
            {"hidden": "def"},
            "ERROR: symbol not found: hidden in a.rs",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.rs", SAMPLE, mask) == expected
