"""What a text refers to: one program for each language, and what no program is."""

from collections.abc import Callable
from time import thread_time

import pytest

from aggregate.code.syntax import (
    LANGUAGES,
    Language,
    LanguageKind,
    SyntaxReference,
    read_definitions,
    read_references,
    shared_parse,
)
from aggregate.code.syntax.compiled_queries import query_of
from aggregate.code.syntax.languages import language_named

PROGRAMS = {
    "python": (
        """\
import x.y as z
from a.b import c as d, e
from . import f
from ..g import *
@made.by(1)
@plain
class A(B, m.C, metaclass=M, G[int]):
    x: Optional[mod.T] = "Not"
    y: "Later"
    def f(self, a: list[Foo | Bar]) -> None: return a.b.c
try: self.a.go(x)(y); self.set = 1
except (Bad, E.Worse): raise Other
""",
        """\
1 import y of x.y
2 import c of a.b
2 import e of a.b
3 import f of .
4 import g of ..g
5 call by of made
6 call plain
7 inherit B
7 inherit C of m
7 inherit M
7 inherit G
8 type Optional
8 type T of mod
9 type Later
10 type list
10 type Foo
10 type Bar
10 attribute b of a
10 attribute c of a.b
11 attribute a of self
11 call go of self.a
12 type Bad
12 attribute Worse of E
12 type Other
""",
    ),
    "javascript": (
        """\
import D, { a as b } from './b'
import * as ns from '../pkg/index.js'
import './side'
export { u } from './u'
export { own }
export * from './all'
const { m, n: k } = require('./r')
const { later } = await import('./lazy')
class A extends ns.B { #p() { super.g(); this.h.i(); return a?.b.c } }
new Foo(); ns.set = new ns.Bar()
const c = <Panel.Head at={go()}><Row/></Panel.Head>
""",
        """\
1 import D of ./b
1 import a of ./b
2 import index.js of ../pkg/index.js
3 import side of ./side
4 import u of ./u
6 import all of ./all
7 import m of ./r
7 import n of ./r
7 call require
7 import r of ./r
8 import later of ./lazy
8 import lazy of ./lazy
9 inherit B of ns
9 call g of super
9 attribute h of this
9 call i of this.h
9 attribute b of a
9 attribute c of a?.b
10 type Foo
10 type Bar of ns
11 call Head of Panel
11 call go
11 call Row
11 attribute Head of Panel
""",
    ),
    "typescript": (
        """\
import { type T } from './t'
import q = require("y")
class A<P extends Q> extends B<X> implements I, J.K {
  f: Foo = new Bar<Baz>(1)
  @made() g(a?: ns.T): asserts a is U {}
}
interface L extends M, N.O<Z> {}
type R<V> = { [K in keyof V]: W }
""",
        """\
1 import T of ./t
2 import y of y
3 type Q
3 inherit B
3 type X
3 inherit I
3 inherit K of J
4 type Foo
4 type Bar
4 type Baz
5 call made
5 type T of ns
5 type U
7 inherit M
7 inherit O of N
7 type Z
8 type V
8 type W
""",
    ),
    "tsx": (
        "export const a = (p: Props) => <Panel.Head at={go()}><Row/></Panel.Head>\n",
        """\
1 type Props
1 call Head of Panel
1 call go
1 call Row
1 attribute Head of Panel
""",
    ),
    "go": (
        """\
package p
import "net/http"
import (
  y "gopkg.in/yaml.v3"
  `example.org/cli/v2`
)
type S struct { Base; *pkg.Emb; G[int]; name T; m map[K]pkg.V }
type I interface { io.Reader; M(a A) B }
func (s *S) Do(fn func(V) W) error { s.name.Run(); foo(1); y := &S{name: 1}; return s.name }
""",
        """\
2 import http of net/http
4 import yaml.v3 of gopkg.in/yaml.v3
5 import cli of example.org/cli/v2
7 inherit Base
7 inherit Emb of pkg
7 inherit G
7 type int
7 type T
7 type K
7 type V of pkg
8 inherit Reader of io
8 type A
8 type B
9 type S
9 type V
9 type W
9 type error
9 attribute name of s
9 call Run of s.name
9 call foo
9 type S
9 attribute name of s
""",
    ),
    "rust": (
        """\
use a::b::{C, D as E, f::{G, h::I}};
use x::Y;
use std::io::*;
use top;
mod sub;
impl Tr<A> for St<B> where T: o::Bound { fn f(&self, x: &m::Ty) { self.a.b(); Self::new(); m::n::go::<T>(2); } }
trait T1: Super + o::Super2 { fn g() { println!("{}", go(Kind::One)); } }
#[derive(Debug, Ser)]
struct S<T: B3>(F);
""",
        """\
1 import C of a::b
1 import D of a::b
1 import G of a::b::f
1 import I of a::b::f::h
2 import Y of x
3 import io of std::io
4 import top of top
5 import sub of sub
6 inherit Tr
6 type A
6 type St
6 type B
6 type T
6 type Bound of o
6 type Ty of m
6 call b of self.a
6 type Self
6 call new of Self
6 attribute n of m
6 call go of m::n
6 type T
7 inherit Super
7 inherit Super2 of o
7 call println
7 call go
8 inherit Debug
8 inherit Ser
9 type B3
9 type F
""",
    ),
    "java": (
        """\
import a.b.C;
import static a.b.C.m;
import a.b.*;
@Ann(1) @Mark
class A<T extends Bnd> extends B<X> implements I, q.J {
  List<Foo> f = new Bar<>();
  R m(P p) throws Ex { this.x.y(); run(); int z = Foo.Q + p.q; new Outer.Inner(); list.map(Foo::bar); }
}
interface K extends L {}
""",
        """\
1 import C of a.b
2 import m of a.b.C
3 import b of a.b
4 type Ann
4 type Mark
5 type Bnd
5 inherit B
5 type X
5 inherit I
5 type q
5 inherit J of q
6 type List
6 type Foo
6 type Bar
7 type R
7 type P
7 type Ex
7 call y of this.x
7 call run
7 attribute Q of Foo
7 type Outer
7 type Inner of Outer
7 call map of list
7 call bar of Foo
9 inherit L
""",
    ),
    "c": (
        """\
#include "x/y.h"
#include <stdio.h>
typedef struct node { struct node *next; Foo_t f; } Node, *NodeP;
static Bar *go(const Baz *b) { s->cb(n); run(1); (Foo_t *)b; s.f.g(); return b->x; }
Table t[] = { { "a", get_it }, { .cb = other } };
""",
        """\
1 import y.h of x/y.h
2 import stdio.h of stdio.h
3 type node
3 type Foo_t
4 type Bar
4 type Baz
4 call cb of s
4 call run
4 type Foo_t
4 call g of s.f
5 type Table
5 attribute get_it
5 attribute other
""",
    ),
    "cpp": (
        """\
using ns::Name;
class A : public B, private ns::C<D> { Foo f; std::vector<Bar> v; };
void A::g(const ns::T& t) { run(1); p->q(); ns::fn<int>(2); auto z = new Obj(1); n1::n2::deep(); }
template<typename T> struct S : Base<T> {};
using Al = X<Y>;
""",
        """\
1 import Name of ns
2 inherit B
2 inherit C of ns
2 type D
2 type Foo
2 type vector of std
2 type Bar
3 type A
3 attribute g of A
3 type T of ns
3 call run
3 call q of p
3 call fn of ns
3 type Obj
3 call deep of n1
4 inherit Base
4 type T
5 type X
5 type Y
""",
    ),
    "csharp": (
        """\
using A.B;
using static A.B.Cc;
using X = Y.Z;
using Sys;
namespace N.M {
[Attr(1)] class A<T> : B<X>, I, q.J where T : Bnd {
  List<Foo> f = new Bar<int>();
  R M(P p, ns.T t, Z[] zs, W? w) { this.X.Y(); Run(); Gen<int>(1); a?.Opt(); typeof(T2); x = y as T3; return a.b; }
} }
""",
        """\
1 import B of A.B
2 import Cc of A.B.Cc
3 import Z of Y.Z
4 import Sys of Sys
6 type Attr
6 inherit B
6 type X
6 inherit I
6 inherit J of q
6 type Bnd
7 type List
7 type Foo
7 type Bar
8 type R
8 type P
8 type T of ns
8 type Z
8 type W
8 call Y of this.X
8 call Run
8 call Gen
8 call Opt of a
8 type T2
8 type T3
8 attribute b of a
""",
    ),
    "ruby": (
        """\
require 'a/b'
require_relative "../c"
class A < M::B
  include Comp
  K = Foo.new(1)
  def m(x)
    go
    Foo::Bar.baz
    @ivar.run?
  rescue E1, N::E2 => e
  end
end
""",
        """\
1 call require
1 import b of a/b
2 call require_relative
2 import c of ../c
3 type M
3 inherit B of M
4 call include
4 inherit Comp
5 type Foo
5 call new of Foo
7 call go
8 type Foo
8 type Bar of Foo
8 call baz of Foo::Bar
9 call run? of @ivar
10 type E1
10 type N
10 type E2 of N
""",
    ),
    "php": (
        """\
<?php
namespace N\\M;
use A\\B\\C;
use A\\{F, G\\H as I};
use Top;
require __DIR__ . '/y.php';
abstract class K extends L implements O, \\P\\Q { use Tr; private Foo $f;
  function m(?Bar $b, A|B $u): N\\Baz { go(1); $this->a->b(); $b?->c(); St::call(3); new Ns\\Obj; K::CONST; } }
""",
        """\
3 import C of A\\B
4 import F of A
4 import H of A\\G
5 import Top of Top
6 import y.php of /y.php
7 inherit L
7 inherit O
7 inherit Q of P
7 inherit Tr
7 type Foo
8 type Bar
8 type A
8 type B
8 type Baz of N
8 call go
8 call b of $this->a
8 call c of $b
8 type St
8 call call of St
8 type Obj of Ns
8 type K
8 attribute CONST of K
""",
    ),
    "bash": (
        """\
source ./x.sh
. "$DIR/lib.sh"
go() { run "$1" | sort x; echo $(inner a); }
./tools/check.sh arg
""",
        """\
1 call source
1 import x.sh of ./x.sh
2 call .
2 import lib.sh of $DIR/lib.sh
3 call run
3 call sort
3 call echo
3 call inner
4 call check.sh
""",
    ),
    "kotlin": (
        """\
import a.b.C
import a.b.*
class A<T : Bnd>(val x: Foo) : B<X>(1), I, q.J by z {
  fun m(p: P?): Q { a.b.go(); run(); Foo.Q; z?.w(); f { it.g() }; x as T3 } }
""",
        """\
1 import C of a.b.C
2 import b of a.b
3 type Bnd
3 type Foo
3 inherit B
3 type X
3 inherit I
3 inherit J
3 call z
4 type P
4 type Q
4 attribute b of a
4 call go of a.b
4 call run
4 attribute Q of Foo
4 call w of z
4 call f
4 call g of it
4 type T3
""",
    ),
    "swift": (
        """\
import struct A.B
class A<T: Bnd>: B<X>, J { let f: [Foo] = Bar(1); @Wrap var w: W?
  func m() -> Q { a.b.go(); self.x.y(); run(); Foo.q; z?.w() } }
extension S: P {}
""",
        """\
1 import B of A.B
2 type Bnd
2 inherit B
2 type X
2 inherit J
2 type Foo
2 call Bar
2 type Wrap
2 type W
3 type Q
3 attribute b of a
3 call go of a.b
3 attribute x of self
3 call y of self.x
3 call run
3 attribute q of Foo
3 call w of z
4 type S
4 inherit P
""",
    ),
    "scala": (
        """\
import a.b.C
import a.b.{D, E => F}
class A[T <: Bnd](x: Foo) extends B[X](1) with I { val f = new Bar(1)
  def m(p: P): Q = { a.b.go(); run(1); x map y; new ns.T; gen[Int](1) } }
""",
        """\
1 import C of C
2 import D of D
2 import E of E
3 type Bnd
3 type Foo
3 inherit B
3 type X
3 inherit I
3 type Bar
4 type P
4 type Q
4 attribute b of a
4 call go of a.b
4 call run
4 call map
4 type T of ns
4 call gen
4 type Int
""",
    ),
    "lua": (
        'local m = require("a.b")\na.b.c(2)\nobj:meth(3)\nf(a.d)\n',
        """\
1 call require
1 import b of a.b
2 attribute b of a
2 call c of a.b
3 call meth of obj
4 call f
4 attribute d of a
""",
    ),
    "dart": (
        """\
import 'package:a/b.dart';
class A extends B<X> with M implements I { Q m(P p) { a.b.go(); run(1); new Z(); x?.y(); } }
""",
        """\
1 import b.dart of package:a/b.dart
2 inherit B
2 type X
2 inherit M
2 inherit I
2 type Q
2 type P
2 call go
2 call run
2 type Z
2 call y
""",
    ),
    "elixir": (
        """\
defmodule A.B do
  alias C.D
  def f(x), do: C.D.go(x) |> run()
end
""",
        """\
1 call defmodule
2 call alias
2 import D of C.D
3 call def
3 type D of C
3 call go of C.D
3 call run
""",
    ),
    "zig": (
        'const std = @import("std");\nfn f(a: Foo) void { a.b.go(1); run(2); const x = Baz{ .a = 1 }; }\n',
        """\
1 import std of std
2 type Foo
2 attribute b of a
2 call go of a.b
2 call run
2 type Baz
""",
    ),
    "objectivec": (
        """\
#import "a/b.h"
@import Foo;
@interface A : B <P>
- (Q *)m:(R)x;
@end
@implementation A
- (Q *)m:(R)x { [self go:1]; run(2); [[Foo alloc] init]; }
@end
""",
        """\
1 import b.h of a/b.h
2 import Foo of Foo
3 inherit B
3 inherit P
4 type Q
4 type R
7 type Q
7 type R
7 call go of self
7 call run
7 type Foo
7 call alloc of Foo
7 call init
""",
    ),
    "perl": (
        "use A::B;\nuse parent qw(C);\nsub f { go(1); $x->m(2); A::B::g(3); A::B->new; }\n",
        """\
1 import B of A::B
2 import parent of parent
2 inherit C
3 call go
3 call m of $x
3 call g of A::B
3 type B of A
3 call new of A::B
""",
    ),
    "solidity": (
        """\
import "./a.sol";
import {B} from "./b.sol";
contract A is B, C { Foo f; function m(P p) returns (Q) { go(1); a.b(2); emit E(1); new Z(); } }
""",
        """\
1 import a.sol of ./a.sol
2 import B of ./b.sol
3 inherit B
3 inherit C
3 type Foo
3 type P
3 type Q
3 call go
3 call b of a
3 call E
3 type Z
""",
    ),
    "vue": (
        """\
<template><main/></template>
<script lang="ts">
import A from './A.vue'
let x: Shape = made(1)
</script>
<script setup>
go()
</script>
""",
        """\
3 import A of ./A.vue
4 type Shape
4 call made
7 call go
""",
    ),
}


def language(name: str) -> Language:
    """Return a language that there is."""
    named = language_named(name)
    assert named is not None
    return named


def table(references: tuple[SyntaxReference, ...]) -> str:
    """Return references as lines: where, what, which, and of what."""
    return "".join(
        f"{each.line} {each.kind} {each.name}{each.scope and ' of '}{each.scope}\n"
        for each in references
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_names_that_a_program_uses_are_told_with_what_stands_before_them(name: str) -> None:
    """Each kind of reference is found in each language, in order, once for each place (rule I-1)."""
    text, expected = PROGRAMS[name]
    assert table(read_references(text, language(name))) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_reference_stands_at_its_place(name: str) -> None:
    """The byte and the line of a reference are those of its name in the text, also in embedded programs."""
    text = "\n" + PROGRAMS[name][0]
    source = text.encode()
    for each in read_references(text, language(name)):
        assert source[: each.start].count(b"\n") + 1 == each.line
        before, _, _ = source[each.start :].partition(each.name.encode())
        assert before == b"" or before.endswith((b"/", b"::", b".", b"<"))
        assert len(before) < 30


def test_every_language_of_the_first_row_has_references() -> None:
    """The languages that most projects are written in are all in the table above (rule I-1)."""
    common = [row.name for row in LANGUAGES if row.kind is LanguageKind.CODE][:13]
    assert set(common) <= set(PROGRAMS)


@pytest.mark.parametrize("name", [row.name for row in LANGUAGES if row.is_installed])
def test_texts_in_every_language_are_read(name: str) -> None:
    """A language without patterns has no references, and an empty or broken text is none that fails (rule T-5)."""
    assert read_references("", language(name)) == ()
    for text in ("\x00", "(((", "}{ \ud800 'x", "import", "<script>", "é\n" * 10):
        read_references(text, language(name))


def captures_of(name: str, wanted: str) -> set[str]:
    """Return the captures of the patterns that are compiled where something is wanted."""
    query, _, _ = query_of(language(name), frozenset({wanted}))
    return {query.capture_name(place) for place in range(query.capture_count)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_pattern_is_both_of_views_and_of_references(name: str) -> None:
    """No query of references has a capture of views, so that none of theirs has one of references (rule I-1)."""
    assert {
        capture
        for capture in captures_of(name, "reference")
        if capture[0] != "_" and not capture.startswith("reference.")
    } == set()


@pytest.mark.parametrize("name", ["python", "go", "rust", "java", "c", "bash"])
def test_views_do_not_compile_the_patterns_of_references(name: str) -> None:
    """The query of a view has no pattern that only references need, and theirs goes into no scope (rule I-1)."""
    of_views = captures_of(name, "definition")
    assert "name" in of_views
    assert not any(capture.startswith("reference.") for capture in of_views)
    _, is_scoped, _ = query_of(language(name), frozenset({"reference"}))
    assert not is_scoped


@pytest.mark.parametrize("name", ["python", "go", "java"])
def test_one_parse_serves_definitions_and_references(name: str) -> None:
    """Reading references changes nothing of the definitions, and a shared parse nothing of either (rule T-4)."""
    text, row = PROGRAMS[name][0], language(name)
    with shared_parse():
        shared, references = read_definitions(text, row), read_references(text, row)
    assert read_references(text, row) == references
    assert read_definitions(text, row).definitions == shared.definitions


def test_long_names_and_scopes_are_left_out() -> None:
    """A name of more than 200 bytes is none, and a scope of more than 60 is no path of names."""
    python = language("python")
    assert read_references("a" * 201 + "()\n", python) == ()
    (call,) = read_references("a" * 200 + "()\n", python)
    assert (call.name, call.kind) == ("a" * 200, "call")
    long, short = read_references(f"{'b' * 61}.c()\n{'b' * 60}.c()\n", python)
    assert (long.scope, short.scope) == ("", "b" * 60)


def test_errors_cost_only_what_stands_in_them() -> None:
    """Names around a syntax error are found (rule T-5)."""
    text = "import a\ndef f(:\n  b()\n\nc()\n"
    names = [each.name for each in read_references(text, language("python"))]
    assert names[0] == "a"
    assert names[-1] == "c"


HOSTILE: dict[str, tuple[str, Callable[[int], str]]] = {
    "names of one import": ("javascript", lambda size: "import {" + "a, " * size + "} from 'x'"),
    "names taken apart": ("javascript", lambda size: "const {" + "a, " * size + "} = require('x')"),
    "lists in lists": ("rust", lambda size: "use " + "a::{" * size + "b" + "}" * size + ";"),
    "parts of a path": ("rust", lambda size: "use " + "a::" * size + "b;"),
    "what a macro is given": ("rust", lambda size: "m!(" + "a(b) " * size + ");"),
    "chain of calls": ("python", lambda size: "a" + ".b()" * size),
    "calls in calls": ("python", lambda size: "a.f(" * size + "b" + ")" * size),
    "chain of scopes": ("cpp", lambda size: "void f() { " + "a::" * size + "b(); }"),
    "bases": ("csharp", lambda size: "class A : " + "B, " * size + "C {}"),
    "names of one namespace": ("php", lambda size: "<?php use A\\{" + "b, " * size + "c};"),
    "elements in elements": ("tsx", lambda size: "x = " + "<A>" * size + "</A>" * size),
    "embedded types": ("go", lambda size: "package p\ntype S struct {" + "A;" * size + "}"),
    "program on one line": ("java", lambda size: "class A { {" + "a.b(c);" * size + "} }"),
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_time_grows_with_the_size_alone(shape: str) -> None:
    """Four times the text takes some four times as long, not sixteen times (rule T-5)."""
    name, build = HOSTILE[shape]
    read_references(build(10), language(name))

    def seconds(size: int) -> float:
        began = thread_time()
        read_references(build(size), language(name))
        return thread_time() - began

    assert min(seconds(4_000), seconds(4_000)) < 10 * max(0.02, seconds(1_000))
