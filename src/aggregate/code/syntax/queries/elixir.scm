; Elixir. Everything is a call: the called macro determines the kind of definition.
(call
  target: (identifier) @_def
  (do_block) @body
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop" "defn" "defnp"))
(call
  target: (identifier) @_test
  (do_block) @body
  (#any-of? @_test "test" "property" "setup" "setup_all" "feature" "scenario"))

(call
  target: (identifier) @_module
  (arguments . (alias) @name)
  (do_block) @members
  (#any-of? @_module "defmodule" "defprotocol" "defimpl")) @definition.module

; The name of a function is in a call, alone, or in an operator, with or without a guard.
(call
  target: (identifier) @_def
  (arguments
    .
    [
      (identifier) @name
      (call target: (identifier) @name)
      (call target: (call target: (identifier) @_unquote) @title)
      (binary_operator
        left: [
          (identifier) @name
          (call target: (identifier) @name)
          (call target: (call target: (identifier) @_unquote) @title)
        ]
        operator: "when")
    ])
  (do_block)? @members
  (#any-of? @_def
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @definition.function
; The body may follow a keyword.
(call
  target: (identifier) @_def
  (arguments
    .
    [
      (identifier) @name
      (call target: (identifier) @name)
      (call target: (call target: (identifier) @_unquote) @title)
      (binary_operator
        left: [
          (identifier) @name
          (call target: (identifier) @name)
          (call target: (call target: (identifier) @_unquote) @title)
        ]
        operator: "when")
    ]
    (keywords . (pair key: (keyword) @_do)) @members)
  (#match? @_do "^do:")
  (#any-of? @_def
    "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp")) @definition.function
(call
  target: (identifier) @_def
  (arguments
    .
    [
      (binary_operator operator: _ @title)
      (binary_operator left: (binary_operator operator: _ @title) operator: "when")
      (unary_operator operator: _ @title)
    ])
  (do_block)? @members
  (#not-any-of? @title "when" "::")
  (#any-of? @_def "def" "defp" "defmacro" "defmacrop")) @definition.operator

(call
  target: (identifier) @name
  (#any-of? @name "defstruct" "defexception")) @definition.struct

(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_type
    (arguments
      .
      [
        (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "::")
        (identifier) @name
      ]))
  (#any-of? @_type "type" "typep" "opaque")) @definition.type
(unary_operator
  operator: "@"
  operand: (call
    target: (identifier) @_callback
    (arguments
      .
      [
        (binary_operator left: (call target: (identifier) @name) operator: "::")
        (binary_operator
          left: (binary_operator left: (call target: (identifier) @name) operator: "::")
          operator: "when")
      ]))
  (#any-of? @_callback "callback" "macrocallback")) @definition.callback

(call
  target: (identifier) @_group
  (arguments . (string (quoted_content) @title))
  (do_block) @members
  (#eq? @_group "describe")) @definition.suite
(call
  target: (identifier) @_test
  (arguments . (string (quoted_content) @title))
  (do_block) @members
  (#any-of? @_test "test" "property")) @definition.test

(call
  target: (identifier) @_import
  (arguments . (alias) @import)
  (#any-of? @_import "alias" "import" "require" "use"))

(call
  target: (identifier) @_module
  (do_block
    (unary_operator
      operator: "@"
      operand: (call target: (identifier) @_doc (arguments (string (quoted_content) @doc.module)))))
  (#eq? @_module "defmodule")
  (#eq? @_doc "moduledoc"))
(source . (comment) @doc.leading)

; References. Modules are aliases; calls include definitions.
(call target: (identifier) @reference.call)
(call target: (dot left: (_) @reference.scope right: (identifier) @reference.call))
(alias) @reference.type
((call
  target: (identifier) @_import
  (arguments . (alias) @reference.module))
  (#any-of? @_import "alias" "import" "require" "use"))
((call
  target: (identifier) @_define
  (arguments . (alias) @reference.defined))
  (#any-of? @_define "defmodule" "defprotocol"))
((call
  target: (identifier) @_define
  (arguments . (call target: (identifier) @reference.defined)))
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop"))
