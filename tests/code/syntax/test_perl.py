"""Perl: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
#!/usr/bin/perl
# Shapes and their areas.
package Shape 1.0;

use strict;
use parent 'Base';
use Carp qw(croak);
use constant PI => 3.14;
use constant { ROUND => 1, FLAT => 2 };
require Shape::Kind;

our $VERSION = '1.0';
my %made = (circle => sub { return Shape->new(@_) });

=head1 NAME

Shape - a shape

=cut

# Returns the area.
sub area ($self, $factor = 1) {
    # { not a block
    my $text = "}";
    return $self->{area} * $factor;
}

sub old($$) { return q({) . shift; }
sub later;

if ($] > 5.010) {
    sub modern { return 'a modern perl' }
}

package Shape::Round {
    sub radius { return $_[0]{radius} }
}

package main;

sub usage {
    print <<"END";
sub not_here { }
END
}

has color => (is => 'ro', default => sub { 'red' . 'dish' });
usage() unless caller;

__END__

sub neither { }
"""

SKELETON = """\
#!/usr/bin/perl
# Shapes and their areas.
package Shape 1.0;

use strict;
use parent 'Base';
use Carp qw(croak);
use constant PI => 3.14;
use constant { ROUND => 1, FLAT => 2 };
require Shape::Kind;

our $VERSION = '1.0';
my %made = (circle => sub { ... });

=head1 NAME

Shape - a shape

=cut

# Returns the area.
sub area ($self, $factor = 1) { ... }

sub old($$) { ... }
sub later;

if ($] > 5.010) {
    sub modern { ... }
}

package Shape::Round {
    sub radius { ... }
}

package main;

sub usage { ... }

has color => (is => 'ro', default => sub { ... });
usage() unless caller;

__END__

sub neither { }
"""

OUTLINE = """\
3-37   package Shape 1.0
22-26    sub area ($self, $factor = 1)
28-28    sub old($$)
29-29    sub later
32-32    sub modern
35-37    package Shape::Round
36-36      sub radius
39-52  package main
41-45    sub usage
"""

SUMMARY = """\
perl, 52 lines, 3 modules, 6 functions
Shapes and their areas.
imports: Base, Carp, Shape::Kind
constants: PI, ROUND, FLAT
package Shape 1.0: area, old, later, modern
  package Shape::Round: radius
package main: usage
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.pm", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.pm", SAMPLE) == OUTLINE
    assert summary_of("a.pm", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.pm", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"Shape::area": "sig"}, "sub area ($self, $factor = 1)"),
        ({"Shape.Round.radius": "def"}, "sub radius { return $_[0]{radius} }"),
        ({"gone": "def"}, "ERROR: symbol not found: gone in a.pm"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.pm", SAMPLE, mask) == text
