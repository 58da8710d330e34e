"""C: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/* Keeps parcels.
 *
 * More about it. */
#ifndef PARCEL_H
#define PARCEL_H

#include <stdio.h>
#include "post.h"

#define LIMIT 3
#define WEIGH(p) \\
    do { \\
        weigh(p); \\
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct parcel {
    int weight;
    struct label {
        char text[8];
    } label;
} parcel_t;

typedef enum { OPEN, CLOSED } state;
typedef int (*weigher)(const parcel_t *);

union number {
    int i;
    float f;
};

enum depth { SHALLOW = 1, DEEP };

static const int depth = 4;

API int weigh(const parcel_t *p);
extern char **names(int count);

static inline __attribute__((always_inline)) int *
first(parcel_t *p)
{
    return &p->weight;
}

#if LIMIT > 2
int limited(int n) {
    if (n) { return 1; }
    return 0;
}
#else
int limited(int n) {
    return n + LIMIT;
}
#endif

int old_style(a, b)
    int a;
    char *b;
{
    return a + b[0];
}

int (*chosen(int which))(int)
{
    return which ? abs : 0;
}

TEST(parcel, weighs)
{
    ASSERT(weigh(0) == 0);
}

DEFINE_THING(parcel);

#ifdef __cplusplus
}
#endif
#endif
"""

SKELETON = """\
/* Keeps parcels.
 *
 * More about it. */
#ifndef PARCEL_H
#define PARCEL_H

#include <stdio.h>
#include "post.h"

#define LIMIT 3
#define WEIGH(p) \\
    do { \\
        weigh(p); \\
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

typedef struct parcel {
    int weight;
    struct label {
        char text[8];
    } label;
} parcel_t;

typedef enum { OPEN, CLOSED } state;
typedef int (*weigher)(const parcel_t *);

union number {
    int i;
    float f;
};

enum depth { SHALLOW = 1, DEEP };

static const int depth = 4;

API int weigh(const parcel_t *p);
extern char **names(int count);

static inline __attribute__((always_inline)) int *
first(parcel_t *p)
{ /* ... */ }

#if LIMIT > 2
int limited(int n) { /* ... */ }
#else
int limited(int n) { /* ... */ }
#endif

int old_style(a, b)
    int a;
    char *b;
{ /* ... */ }

int (*chosen(int which))(int)
{ /* ... */ }

TEST(parcel, weighs)
{ /* ... */ }

DEFINE_THING(parcel);

#ifdef __cplusplus
}
#endif
#endif
"""

OUTLINE = """\
11-14  #define WEIGH(p)
20-25  typedef struct parcel parcel_t
22-24    struct label
27-27  typedef enum state
28-28  typedef int (*weigher)(const parcel_t *)
30-33  union number
35-35  enum depth
39-39  API int weigh(const parcel_t *p)
40-40  extern char **names(int count)
42-46  static inline __attribute__((always_inline)) int * first(parcel_t *p)
49-52  int limited(int n)
54-56  int limited(int n)
59-64  int old_style(a, b) int a; char *b
66-69  int (*chosen(int which))(int)
71-74  TEST(parcel, weighs)
"""

SUMMARY = """\
c, 81 lines, 1 macro, 2 structs, 2 enums, 1 typedef, 1 union, 2 prototypes, 6 functions
Keeps parcels.
imports: <stdio.h>, "post.h"
constants: LIMIT, depth
typedef struct parcel parcel_t
  struct label
typedef enum state
union number
enum depth
macros: WEIGH
typedefs: weigher
prototypes: weigh, names
functions: first, limited, limited, old_style, chosen, TEST
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.h", SAMPLE) == SKELETON
    check_skeleton("a.h", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.h", SAMPLE) == OUTLINE
    assert summary_of("a.h", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"weigh": "sig"},
            "API int weigh(const parcel_t *p);",
        ),
        (
            {"limited": "def"},
            (
                "int limited(int n) {\n"
                "    if (n) { return 1; }\n"
                "    return 0;\n"
                "}\n"
                "\n"
                "int limited(int n) {\n"
                "    return n + LIMIT;\n"
                "}"
            ),
        ),
        (
            {"parcel": "def"},
            (
                "typedef struct parcel {\n"
                "    int weight;\n"
                "    struct label {\n"
                "        char text[8];\n"
                "    } label;\n"
                "} parcel_t;"
            ),
        ),
        (
            {"parcel_t.label": "sig", "state": "sig"},
            ("struct label\n\ntypedef enum state"),
        ),
        (
            {"chosen": "sig", "WEIGH": "def"},
            (
                "int (*chosen(int which))(int)\n"
                "\n"
                "#define WEIGH(p) \\\n"
                "    do { \\\n"
                "        weigh(p); \\\n"
                "    } while (0)"
            ),
        ),
        (
            {"absent": "sig"},
            "ERROR: symbol not found: absent in a.h",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.h", SAMPLE, mask) == expected
