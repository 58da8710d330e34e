; Julia. The body of a function is between its signature and its end; one-line equations stay.
(function_definition
  (signature)
  .
  (_) @body.first
  "end" @body.until)
(macro_definition
  (signature)
  .
  (_) @body.first
  "end" @body.until)
(assignment
  .
  [(call_expression) (where_expression) (typed_expression)]
  .
  (operator)
  .
  (compound_statement . "begin" . (_) @body.first "end" @body.until))

(module_definition
  name: (identifier) @name
  .
  (_)? @members
  "end" @members) @definition.module
(abstract_definition
  (type_head
    [
      (identifier) @name
      (parametrized_type_expression . (identifier) @name)
      (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
    ])) @definition.type
(primitive_definition
  (type_head
    [
      (identifier) @name
      (parametrized_type_expression . (identifier) @name)
      (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
    ])) @definition.type
(struct_definition
  (type_head
    [
      (identifier) @name
      (parametrized_type_expression . (identifier) @name)
      (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])
    ])
  .
  (_)? @members
  "end" @members) @definition.struct

; The name of a function is in a call, below its types.
(function_definition
  (signature
    [
      (identifier) @name
      (call_expression . [(identifier) (field_expression) (operator)] @name)
      (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name))
      (call_expression . (parenthesized_expression) @title)
      (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
      (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name)))
      (typed_expression . (call_expression . (parenthesized_expression) @title))
      (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
      (where_expression . (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name)))
      (where_expression . (call_expression . (parenthesized_expression) @title))
      (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name)))
      (where_expression . (typed_expression . (call_expression . (parametrized_type_expression . (identifier) @name))))
      (where_expression . (typed_expression . (call_expression . (parenthesized_expression) @title)))
      (where_expression . (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name)))
    ])
  .
  (_)? @members
  "end" @members) @definition.function
(assignment
  .
  [
    (call_expression . [(identifier) (field_expression) (operator)] @name)
    (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name))
    (call_expression . (parenthesized_expression) @title)
    (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
    (typed_expression . (call_expression . (parenthesized_expression) @title))
    (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name))
    (where_expression . (call_expression . (parametrized_type_expression . [(identifier) (field_expression)] @name)))
    (where_expression . (call_expression . (parenthesized_expression) @title))
    (where_expression . (typed_expression . (call_expression . [(identifier) (field_expression) (operator)] @name)))
    (where_expression . (where_expression . (call_expression . [(identifier) (field_expression) (operator)] @name)))
  ]
  .
  (operator) @members) @definition.function
(macro_definition
  (signature (call_expression . (_) @name))
  .
  (_)? @members
  "end" @members) @definition.macro

(using_statement [(identifier) (scoped_identifier)] @import)
(using_statement (selected_import . (_) @import))
(import_statement [(identifier) (scoped_identifier)] @import)
(import_statement (selected_import . (_) @import))
(call_expression
  . (identifier) @_include
  (argument_list . (string_literal (content) @import))
  (#eq? @_include "include"))

(const_statement (assignment . (identifier) @constant))

(source_file . (string_literal) @doc.module . (module_definition))
(source_file . (line_comment) @doc.leading)
