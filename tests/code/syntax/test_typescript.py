"""TypeScript: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
/* eslint-disable */
import type { Reader } from "./reader";
import legacy = require("legacy");
import config, { type Options } from "../config.js";

export const VERSION = "1.0" as const;
export const DEBUG: boolean = false;
const HOSTS: Record<string, string> = {
  a: "b",
};

export type Handler<T extends { id: string }> = (value: T) => Promise<void>;

export enum Level {
  Low = 1,
  High,
}

export interface Store<K extends { id: string }, V = unknown> extends Iterable<K> {
  readonly size: number;
  get(key: K): V | undefined;
  new (size: number): Store<K, V>;
}

@Service()
export abstract class Cache<T extends { a: 1 }>
  extends Base<T>
  implements Store<T>, Other
{
  private readonly items = new Map<string, T>();
  declare name: string; // { }

  constructor(
    private readonly reader: Reader,
    public limit = 10,
  ) {
    super();
    this.limit = limit;
  }

  abstract load(key: string): Promise<T>;

  find(key: string): T;
  find(key: string, fallback: T): T;
  find(key: string, fallback?: T): T | undefined {
    return this.items.get(key) ?? fallback;
  }

  @memoize()
  @logged
  get size(): number {
    return this.items.size;
  }

  protected tell = (event: Event): void => {
    this.emit(event);
  };

  [Symbol.end](): void {
    this.items.clear();
  }
}

export function isReader(value: unknown): value is Reader {
  return typeof value === "object";
}

export default function create<T extends { id: string }>(options: Options): Cache<T> {
  return new Cache<T>(options);
}

export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any): any {
  return a ?? config;
}

export const identity = <T,>(value: T): T => value;

namespace Shapes.Round {
  export function area(radius: number): number {
    return Math.PI * radius ** 2;
  }
}

declare module "legacy" {
  export function run(name: string): void;
}

declare global {
  interface Window {
    cache: Cache<never>;
  }
}

export declare function outside(value: string): void;
"""

SKELETON = """\
/* eslint-disable */
import type { Reader } from "./reader";
import legacy = require("legacy");
import config, { type Options } from "../config.js";

export const VERSION = "1.0" as const;
export const DEBUG: boolean = false;
const HOSTS: Record<string, string> = {
  a: "b",
};

export type Handler<T extends { id: string }> = (value: T) => Promise<void>;

export enum Level {
  Low = 1,
  High,
}

export interface Store<K extends { id: string }, V = unknown> extends Iterable<K> {
  readonly size: number;
  get(key: K): V | undefined;
  new (size: number): Store<K, V>;
}

@Service()
export abstract class Cache<T extends { a: 1 }>
  extends Base<T>
  implements Store<T>, Other
{
  private readonly items = new Map<string, T>();
  declare name: string; // { }

  constructor(
    private readonly reader: Reader,
    public limit = 10,
  ) { /* ... */ }

  abstract load(key: string): Promise<T>;

  find(key: string): T;
  find(key: string, fallback: T): T;
  find(key: string, fallback?: T): T | undefined { /* ... */ }

  @memoize()
  @logged
  get size(): number { /* ... */ }

  protected tell = (event: Event): void => { /* ... */ };

  [Symbol.end](): void { /* ... */ }
}

export function isReader(value: unknown): value is Reader { /* ... */ }

export default function create<T extends { id: string }>(options: Options): Cache<T> { /* ... */ }

export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any): any { /* ... */ }

export const identity = <T,>(value: T): T => value;

namespace Shapes.Round {
  export function area(radius: number): number { /* ... */ }
}

declare module "legacy" {
  export function run(name: string): void;
}

declare global {
  interface Window {
    cache: Cache<never>;
  }
}

export declare function outside(value: string): void;
"""

OUTLINE = """\
12-12  export type Handler<T extends { id: string }> =
14-17  export enum Level
19-23  export interface Store<K extends { id: string }, V = unknown> extends Iterable<K>
21-21    get(key: K): V | undefined
25-62  @Service() export abstract class Cache<T extends { a: 1 }> extends Base<T> implements Store<T>, Other
33-39    constructor(private readonly reader: Reader, public limit = 10)
41-41    abstract load(key: string): Promise<T>
43-43    find(key: string): T
44-44    find(key: string, fallback: T): T
45-47    find(key: string, fallback?: T): T | undefined
49-53    @memoize() @logged get size(): number
55-57    protected tell = (event: Event): void =>
59-61    [Symbol.end](): void
64-66  export function isReader(value: unknown): value is Reader
68-70  export default function create<T extends { id: string }>(options: Options): Cache<T>
72-72  export function pick(a: string): string
73-73  export function pick(a: number): number
74-76  export function pick(a: any): any
78-78  export const identity = <T,>(value: T): T =>
80-84  namespace Shapes.Round
81-83    export function area(radius: number): number
86-88  declare module "legacy"
87-87    export function run(name: string): void
90-94  declare global
91-93    interface Window
96-96  export declare function outside(value: string): void
"""

SUMMARY = """\
typescript, 96 lines, 1 type, 1 enum, 2 interfaces, 9 methods, 1 class, 9 functions, 2 namespaces, 1 module
imports: ./reader, legacy, ../config.js
constants: VERSION, DEBUG
export enum Level
export interface Store<K extends { id: string }, V = unknown> extends Iterable<K>: get
@Service() export abstract class Cache<T extends { a: 1 }> extends Base<T> implements Store<T>, Other: constructor, load, find, size, tell, [Symbol.end]
namespace Shapes.Round: area
declare module "legacy": run
declare global
  interface Window
types: Handler
functions: isReader, create, pick, pick, pick, identity, outside
"""


def test_only_bodies_are_cut() -> None:
    """The skeleton is the file without its bodies, byte for byte (M-33)."""
    assert skeleton_of("a.ts", SAMPLE) == SKELETON


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.ts", SAMPLE) == OUTLINE
    assert summary_of("a.ts", SAMPLE) + "\n" == SUMMARY


def test_skeleton_invariants() -> None:
    """The skeleton parses, is its own skeleton, is no longer than the file and maps to its lines (M-33)."""
    check_skeleton("a.ts", SAMPLE)


@pytest.mark.parametrize(
    ("mask", "text"),
    [
        (
            {"Cache.find": "sig"},
            "find(key: string): T\n\n  find(key: string, fallback: T): T\n\n"
            "  find(key: string, fallback?: T): T | undefined",
        ),
        (
            {"Cache.size": "def"},
            "@memoize()\n  @logged\n  get size(): number {\n    return this.items.size;\n  }",
        ),
        ({"Shapes::Round::area": "sig"}, "export function area(radius: number): number"),
        (
            {"Handler": "def"},
            "export type Handler<T extends { id: string }> = (value: T) => Promise<void>;",
        ),
        (
            {"Store": "sig"},
            "export interface Store<K extends { id: string }, V = unknown> extends Iterable<K>",
        ),
        ({"legacy.run": "def"}, "export function run(name: string): void;"),
    ],
)
def test_masks(mask: dict[str, str], text: str) -> None:
    """A symbol stands for all its overloads, decorators belong to it (M-35, M-X15)."""
    assert masked_of("a.ts", SAMPLE, mask) == text


def test_what_other_tools_lose() -> None:
    """`implements`, exported constants, fields, default functions and constraints in braces stay (M-33, M-34)."""
    source = """\
export const LIMIT = 10;
export class List<T extends { id: string }> implements Iterable<T>, Sized {
    readonly items: T[] = [];
    add<K extends { key: string }>(item: T, key: K): void {
        this.items.push(item);
    }
}
export default function <T extends { id: string }>(items: T[]) {
    return new List<T>();
}
"""
    assert (
        skeleton_of("a.ts", source)
        == """\
export const LIMIT = 10;
export class List<T extends { id: string }> implements Iterable<T>, Sized {
    readonly items: T[] = [];
    add<K extends { key: string }>(item: T, key: K): void { /* ... */ }
}
export default function <T extends { id: string }>(items: T[]) { /* ... */ }
"""
    )
    assert (
        outline_of("a.ts", source)
        == """\
2-7    export class List<T extends { id: string }> implements Iterable<T>, Sized
4-6      add<K extends { key: string }>(item: T, key: K): void
8-10   export default function <T extends { id: string }>(items: T[])
"""
    )


def test_declarations_without_bodies_are_kept_whole() -> None:
    """A declaration file is its own skeleton (M-33)."""
    source = (
        "declare namespace A {\n  function f(x: number): void;\n  class B { m(): string; }\n}\n"
    )
    assert skeleton_of("a.d.ts", source) == source
    assert (
        outline_of("a.d.ts", source)
        == """\
1-4  declare namespace A
2-2    function f(x: number): void
3-3    class B
3-3      m(): string
"""
    )
