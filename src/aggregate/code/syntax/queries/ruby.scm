; Ruby. A comment between a signature and the first statement goes with the body.
(method body: (body_statement) @body)
(singleton_method body: (body_statement) @body)
(method (comment) @lead)
(singleton_method (comment) @lead)

; A block that is a statement of a class, a module or another block is a body; blocks at the top of the file, which may
; contain all of it, and blocks that group tests or open a class are not.
(body_statement (call block: (do_block body: (body_statement) @body)))
(body_statement (call block: (block body: (block_body) @body)))
(block_body (call block: (do_block body: (body_statement) @body)))
(block_body (call block: (block body: (block_body) @body)))
(do_block (comment) @lead)
(call
  method: (identifier) @_group
  block: (_ body: (_) @keep)
  (#any-of? @_group
    "describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context" "namespace" "included"
    "prepended" "class_methods" "class_eval" "module_eval" "instance_eval" "draw" "group" "resource"))

; A signature ends at the body or the `end`; of an endless method after the equals sign; at an earlier comment, by
; separate patterns: `(comment)*` takes quadratic time.
(method name: (_) @name . parameters: (_)? . (comment) @members) @definition.method
(method name: (_) @name body: (body_statement)? @members "end" @members) @definition.method
(method name: (_) @name "=" . body: (_) @members) @definition.method
(singleton_method name: (_) @name . parameters: (_)? . (comment) @members) @definition.method
(singleton_method name: (_) @name body: (body_statement)? @members "end" @members) @definition.method
(singleton_method name: (_) @name "=" . body: (_) @members) @definition.method
(call
  method: (identifier)
  arguments: (argument_list
    .
    [
      (method name: (_) @name . parameters: (_)? . (comment) @members)
      (method name: (_) @name body: (body_statement)? @members "end" @members)
      (method name: (_) @name "=" . body: (_) @members)
      (singleton_method name: (_) @name . parameters: (_)? . (comment) @members)
      (singleton_method name: (_) @name body: (body_statement)? @members "end" @members)
      (singleton_method name: (_) @name "=" . body: (_) @members)
    ]
    .)) @definition.method

(class name: (_) @name body: (_)? @members "end" @members) @definition.class
(module name: (_) @name body: (_)? @members "end" @members) @definition.module
(singleton_class value: (_) @name body: (_)? @members "end" @members) @definition.class
(assignment
  left: (constant) @name
  right: (call
    receiver: (constant) @_maker
    method: (identifier) @_new
    block: (do_block body: (_) @members))
  (#any-of? @_maker "Struct" "Class" "Module" "Data")
  (#any-of? @_new "new" "define")) @definition.class

; Groups of tests, tests, and tasks.
(call
  method: (identifier) @_group
  arguments: (argument_list
    . [(string (string_content) @title) (constant) @title (scope_resolution) @title (simple_symbol) @title])
  block: (_ body: (_) @members)
  (#any-of? @_group "describe" "context" "feature" "shared_examples" "shared_examples_for" "shared_context"))
  @definition.suite
(call
  method: (identifier) @_test
  arguments: (argument_list . (string (string_content) @title))
  block: (_ body: (_) @members)
  (#any-of? @_test "it" "specify" "test" "should" "scenario" "example")) @definition.test
(call
  method: (identifier) @_task
  arguments: (argument_list . (_) @title)
  block: (do_block body: (_) @members)
  (#any-of? @_task "task" "file" "multitask")) @definition.task
(call
  method: (identifier) @_space
  arguments: (argument_list . (_) @title)
  block: (do_block body: (_) @members)
  (#eq? @_space "namespace")) @definition.namespace

(call
  method: (identifier) @_require
  arguments: (argument_list . (simple_symbol)? . (string (string_content) @import))
  (#any-of? @_require "require" "require_relative" "load" "autoload" "gem"))

(program (assignment left: (constant) @constant))

(program . (comment) @doc.leading)

; References. A bare name may be a variable; as a statement it is a call.
(call method: [(identifier) (constant)] @reference.call)
(call receiver: (_) @reference.scope method: [(identifier) (constant)] @reference.call)
(body_statement (identifier) @reference.call)

; Names of classes and modules are constants, and so are their values.
(constant) @reference.type
(scope_resolution scope: (_) @reference.scope name: (constant) @reference.type)
(class name: [(constant) @reference.defined (scope_resolution name: (_) @reference.defined)])
(module name: [(constant) @reference.defined (scope_resolution name: (_) @reference.defined)])
(assignment left: (constant) @reference.defined)

(superclass [
  (constant) @reference.inherit
  (scope_resolution scope: (_) @reference.scope name: (constant) @reference.inherit)
])
(call
  method: (identifier) @_include
  arguments: (argument_list [
    (constant) @reference.inherit
    (scope_resolution scope: (_) @reference.scope name: (constant) @reference.inherit)
  ])
  (#any-of? @_include "include" "extend" "prepend"))

(call
  method: (identifier) @_require
  arguments: (argument_list . (simple_symbol)? . (string (string_content) @reference.import))
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
