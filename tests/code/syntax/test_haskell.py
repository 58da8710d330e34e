"""Haskell: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
{-# LANGUAGE GADTs #-}
-- | Parcels and how they are weighed.
module Post.Parcel (Parcel (..), weigh) where

import qualified Data.Map as Map
import Post.Scale (Scale)

-- | A parcel.
data Parcel a
  = Letter
  | Box {weight :: Int, content :: a}
  deriving (Show, Eq)

newtype Grams = Grams {unGrams :: Int}

type Weights = Map.Map String Int

class Eq a => Scaled a where
  type Unit a
  scaled :: a -> Int -> Int
  scaled _ by = by

instance Scaled (Parcel a) where
  scaled parcel by = weight parcel * by

-- | Weighs a parcel.
weigh :: Parcel a -> Int -> Int
weigh Letter _ = 1
weigh (Box amount _) factor
  | amount > limit = error "too heavy = a"
  | otherwise = rounded
  where
    rounded = amount * factor

limit :: Int
limit = 30

(<+>) :: Parcel a -> Parcel a -> Int
left <+> right = weigh left 1 + weigh right 1

main :: IO ()
main = do
  print limit
  putStrLn "main = 1"
"""

SKELETON = """\
{-# LANGUAGE GADTs #-}
-- | Parcels and how they are weighed.
module Post.Parcel (Parcel (..), weigh) where

import qualified Data.Map as Map
import Post.Scale (Scale)

-- | A parcel.
data Parcel a
  = Letter
  | Box {weight :: Int, content :: a}
  deriving (Show, Eq)

newtype Grams = Grams {unGrams :: Int}

type Weights = Map.Map String Int

class Eq a => Scaled a where
  type Unit a
  scaled :: a -> Int -> Int
  scaled _ by = by

instance Scaled (Parcel a) where
  scaled parcel by = _ {- ... -}

-- | Weighs a parcel.
weigh :: Parcel a -> Int -> Int
weigh Letter _ = 1
weigh (Box amount _) factor
  | amount > limit = _ {- ... -}
  | otherwise = rounded
  where
    rounded = amount * factor

limit :: Int
limit = 30

(<+>) :: Parcel a -> Parcel a -> Int
left <+> right = _ {- ... -}

main :: IO ()
main = _ {- ... -}
"""

OUTLINE = """\
9-12   data Parcel a
14-14  newtype Grams
16-16  type Weights = Map.Map String Int
18-21  class Eq a => Scaled a
19-19    type Unit a
20-20    scaled :: a -> Int -> Int
21-21    scaled _ by
23-24  instance Scaled (Parcel a)
24-24    scaled parcel by
27-27  weigh :: Parcel a -> Int -> Int
28-28  weigh Letter _
29-33  weigh (Box amount _) factor
35-35  limit :: Int
36-36  limit
38-38  (<+>) :: Parcel a -> Parcel a -> Int
39-39  left <+> right
41-41  main :: IO ()
42-44  main
"""

SUMMARY = """\
haskell, 44 lines, 1 data, 1 newtype, 2 types, 1 class, 12 functions, 1 instance
Parcels and how they are weighed.
imports: Data.Map, Post.Scale
class Eq a => Scaled a: Unit, scaled
instance Scaled (Parcel a): scaled
datas: Parcel
newtypes: Grams
types: Weights
functions: weigh, weigh, weigh, limit, limit, (<+>), <+>, main, main
"""


def test_skeleton() -> None:
    """Right-hand sides of equations are cut; patterns, guards, types and docs stay (M-33)."""
    assert skeleton_of("a.hs", SAMPLE) == SKELETON
    check_skeleton("a.hs", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.hs", SAMPLE) == OUTLINE
    assert summary_of("a.hs", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"weigh": "sig"},
            "weigh :: Parcel a -> Int -> Int\n\nweigh Letter _\n\nweigh (Box amount _) factor",
        ),
        ({"Post.Parcel.limit": "def"}, "limit :: Int\n\nlimit = 30"),
        (
            {"Scaled.scaled": "sig", "Parcel": "def"},
            "scaled :: a -> Int -> Int\n\n  scaled _ by\n\n  scaled parcel by\n\ndata Parcel a\n  = Letter\n  | Box {weight :: Int, content :: a}\n  deriving (Show, Eq)",
        ),
        ({"rounded": "def"}, "ERROR: symbol not found: rounded in a.hs"),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A name stands for its signature and all its equations; what a `where` binds is none (M-35, M-X15)."""
    assert masked_of("a.hs", SAMPLE, mask) == expected
