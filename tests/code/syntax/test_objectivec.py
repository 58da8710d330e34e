"""Objective-C: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from aggregate.code.syntax import language_of
from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
// Shapes.
#import <Foundation/Foundation.h>
#import "Base.h"
@import UIKit;

NS_ASSUME_NONNULL_BEGIN

typedef void (^Done)(int count);

/// Draws.
@protocol Drawing <NSObject>
@required
- (void)draw;
@optional
- (BOOL)drawIn:(CGRect)rect with:(NSString *)name;
@end

@interface Shape : NSObject <Drawing> {
  int _sides;
}
@property (nonatomic, copy) NSString *name;
+ (instancetype)shape;
@end

@interface Shape (Colour)
- (void)paint;
@end

@implementation Shape

+ (instancetype)shape {
  return [[self alloc] init];
}

- (BOOL)drawIn:(CGRect)rect
          with:(NSString *)name {
  [self each:^(int side) { NSLog(@"}"); }];
  return YES;
}

static int sides(Shape *shape) {
  return shape->_sides;
}

@end

@implementation Shape (Colour)
- (void)paint { }
@end

NS_ASSUME_NONNULL_END
"""

SKELETON = """\
// Shapes.
#import <Foundation/Foundation.h>
#import "Base.h"
@import UIKit;

NS_ASSUME_NONNULL_BEGIN

typedef void (^Done)(int count);

/// Draws.
@protocol Drawing <NSObject>
@required
- (void)draw;
@optional
- (BOOL)drawIn:(CGRect)rect with:(NSString *)name;
@end

@interface Shape : NSObject <Drawing> {
  int _sides;
}
@property (nonatomic, copy) NSString *name;
+ (instancetype)shape;
@end

@interface Shape (Colour)
- (void)paint;
@end

@implementation Shape

+ (instancetype)shape { /* ... */ }

- (BOOL)drawIn:(CGRect)rect
          with:(NSString *)name { /* ... */ }

static int sides(Shape *shape) { /* ... */ }

@end

@implementation Shape (Colour)
- (void)paint { }
@end

NS_ASSUME_NONNULL_END
"""

OUTLINE = """\
8-8    typedef void (^Done)(int count)
11-16  @protocol Drawing <NSObject>
13-13    - (void)draw
15-15    - (BOOL)drawIn:(CGRect)rect with:(NSString *)name
18-23  @interface Shape : NSObject <Drawing>
21-21    @property (nonatomic, copy) NSString *name
22-22    + (instancetype)shape
25-27  @interface Shape (Colour)
26-26    - (void)paint
29-45  @implementation Shape
31-33    + (instancetype)shape
35-39    - (BOOL)drawIn:(CGRect)rect with:(NSString *)name
41-43    static int sides(Shape *shape)
47-49  @implementation Shape (Colour)
48-48    - (void)paint
"""

SUMMARY = """\
objectivec, 51 lines, 1 typedef, 1 protocol, 7 methods, 2 interfaces, 1 property, 2 implementations, 1 function
Shapes.
imports: <Foundation/Foundation.h>, "Base.h", UIKit
@protocol Drawing <NSObject>: draw, drawIn
@interface Shape : NSObject <Drawing>: name, shape
@interface Shape (Colour): paint
@implementation Shape: shape, drawIn, sides
@implementation Shape (Colour): paint
typedefs: Done
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.m", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.m", SAMPLE) == OUTLINE
    assert summary_of("a.m", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.m", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        ({"Shape.drawIn": "sig"}, "- (BOOL)drawIn:(CGRect)rect\n          with:(NSString *)name"),
        ({"sides": "def"}, "static int sides(Shape *shape) {\n  return shape->_sides;\n}"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """Symbols are picked whole or by signature, by name or path (M-35, M-X15)."""
    assert masked_of("a.m", SAMPLE, mask) == text


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.h", "@interface Shape : NSObject\n@end\n", "objectivec"),
        ("a.h", "// uses @interface\nclass Shape {};\n", "cpp"),
        ("a.h", "struct shape;\n", "c"),
        ("a.m", "#import <Foundation/Foundation.h>\n", "objectivec"),
        ("a.m", "% Areas.\nfunction area = area(radius)\n  area = pi * radius^2;\nend\n", None),
    ],
)
def test_files_that_share_a_suffix(path: str, text: str, name: str | None) -> None:
    """A header is Objective-C by what it declares, and MATLAB's files are none (M-33)."""
    language = language_of(path, text)
    assert (language and language.name) == name
