; Lua. Functions are values, named by the variable to which they, or a call's result, are assigned.
(function_declaration body: (block) @body)
(function_definition body: (block) @body)
; A comment between a signature and the first statement goes with the body.
(comment) @lead

(function_declaration
  name: [(identifier) (dot_index_expression)] @name
  parameters: (_)
  body: (block)? @members
  "end" @members) @definition.function
(function_declaration
  name: (method_index_expression
    table: (_) @receiver
    method: (identifier) @name)
  body: (block)? @members
  "end" @members) @definition.method

(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list
    .
    value: [
      (function_definition
        body: (block)? @members
        "end" @members)
      (function_call
        arguments: (arguments
          .
          (function_definition
            body: (block)? @members
            "end" @members)))
    ]
    .)) @definition.function
(assignment_statement
  (variable_list
    .
    name: (bracket_index_expression
      table: (_) @receiver
      field: [(string content: (string_content) @title) (identifier) @title (number) @title (dot_index_expression) @title])
    .)
  (expression_list
    .
    value: [
      (function_definition
        body: (block)? @members
        "end" @members)
      (function_call
        arguments: (arguments
          .
          (function_definition
            body: (block)? @members
            "end" @members)))
    ]
    .)) @definition.function
(variable_declaration
  (assignment_statement
    (variable_list . name: (identifier) @name .)
    (expression_list
      .
      value: [
        (function_definition
          body: (block)? @members
          "end" @members)
        (function_call
          arguments: (arguments
            .
            (function_definition
              body: (block)? @members
              "end" @members)))
      ]
      .))) @definition.function
(field
  name: (identifier) @name
  value: (function_definition
    body: (block)? @members
    "end" @members)) @definition.function
(field
  "["
  name: [(string content: (string_content) @title) (identifier) @title (number) @title (dot_index_expression) @title]
  value: (function_definition
    body: (block)? @members
    "end" @members)) @definition.function

; Groups of tests stay open, tests are cut.
(function_call
  name: (identifier) @_group
  arguments: (arguments (function_definition body: (block) @keep))
  (#any-of? @_group "describe" "context" "insulate" "expose"))
(function_call
  name: (identifier) @_group
  arguments: (arguments
    .
    (string content: (string_content) @title)
    (function_definition body: (block) @members))
  (#any-of? @_group "describe" "context" "insulate" "expose")) @definition.suite
(function_call
  name: (identifier) @_test
  arguments: (arguments
    .
    (string content: (string_content) @title)
    (function_definition body: (block) @members))
  (#any-of? @_test "it" "test" "pending")) @definition.test

(function_call
  name: (identifier) @_require
  arguments: (arguments (string content: (string_content) @import))
  (#eq? @_require "require"))
(chunk
  (assignment_statement
    (variable_list name: (identifier) @constant)
    (expression_list value: [(string) (number) (true) (false) (table_constructor)])))
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list name: (identifier) @constant)
      (expression_list value: [(string) (number) (true) (false)]))))

(chunk . (hash_bang_line)? . (comment) @doc.leading)

; References.
(function_call name: [
  (identifier) @reference.call
  (dot_index_expression table: (_) @reference.scope field: (identifier) @reference.call)
  (method_index_expression table: (_) @reference.scope method: (identifier) @reference.call)
])
(dot_index_expression table: (_) @reference.scope field: (identifier) @reference.attribute)

(function_call
  name: (identifier) @_require
  arguments: (arguments . (string content: (string_content) @reference.module))
  (#eq? @_require "require"))
