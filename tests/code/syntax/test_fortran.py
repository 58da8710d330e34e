"""Fortran: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
! Areas of shapes.
module shapes
  use iso_fortran_env, only: dp => real64
  implicit none
  real(dp), parameter :: pi = 3.14_dp

  type, extends(base) :: circle
    real(dp) :: radius = 1
  contains
    procedure :: area => circle_area
  end type circle

  interface operator(+)
    module procedure add
  end interface
contains
  !> The area of a circle.
  pure function circle_area(self, factor) result(total)
    !! Takes a factor.
    class(circle), intent(in) :: self
    integer, intent(in), optional :: factor ! at least 1
    real(dp) :: total

    ! Round.
    total = pi * self%radius**2
    if (present(factor)) then
      total = total * factor ! scaled
    end if
    ! Done.
  end function circle_area

  SUBROUTINE Swap(a, b)
    integer, intent(inout) :: a, b
    integer :: c
    c = a; a = b
    b = c
  contains
    subroutine inner(d)
      integer, intent(out) :: d
      d = 0 + 1
    end subroutine inner
  END SUBROUTINE

  subroutine empty()
  end subroutine empty
end module shapes

program main
  use shapes
  print *, "end program"
end program main
"""

SKELETON = """\
! Areas of shapes.
module shapes
  use iso_fortran_env, only: dp => real64
  implicit none
  real(dp), parameter :: pi = 3.14_dp

  type, extends(base) :: circle
    real(dp) :: radius = 1
  contains
    procedure :: area => circle_area
  end type circle

  interface operator(+)
    module procedure add
  end interface
contains
  !> The area of a circle.
  pure function circle_area(self, factor) result(total)
    !! Takes a factor.
    class(circle), intent(in) :: self
    integer, intent(in), optional :: factor ! at least 1
    real(dp) :: total

    ! ...
  end function circle_area

  SUBROUTINE Swap(a, b)
    integer, intent(inout) :: a, b
    integer :: c
    ! ...
  contains
    subroutine inner(d)
      integer, intent(out) :: d
      ! ...
    end subroutine inner
  END SUBROUTINE

  subroutine empty()
  end subroutine empty
end module shapes

program main
  use shapes
  print *, "end program"
end program main
"""

OUTLINE = """\
2-46   module shapes
7-11     type, extends(base) :: circle
10-10      procedure :: area => circle_area
13-15    interface operator(+)
18-30    pure function circle_area(self, factor) result(total)
32-42    SUBROUTINE Swap(a, b)
38-41      subroutine inner(d)
44-45    subroutine empty()
48-51  program main
"""

SUMMARY = """\
fortran, 51 lines, 1 module, 1 type, 1 method, 1 interface, 1 function, 3 subroutines, 1 program
Areas of shapes.
imports: iso_fortran_env, shapes
constants: pi
module shapes: circle, circle_area, Swap, empty
  interface operator(+)
program main
methods: shapes.circle.area
subroutines: shapes.Swap.inner
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.f90", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.f90", SAMPLE) == OUTLINE
    assert summary_of("a.f90", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.f90", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"shapes.circle_area": "sig"}, "pure function circle_area(self, factor) result(total)"),
        (
            {"Swap": "def"},
            "SUBROUTINE Swap(a, b)\n    integer, intent(inout) :: a, b\n    integer :: c\n    c = a; a = b\n    b = c\n  contains\n    subroutine inner(d)\n      integer, intent(out) :: d\n      d = 0 + 1\n    end subroutine inner\n  END SUBROUTINE",
        ),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.f90", SAMPLE, mask) == text
