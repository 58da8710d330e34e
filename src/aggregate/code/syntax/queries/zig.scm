; Zig. Types are constants whose value is a container.
(function_declaration
  name: (identifier) @name
  body: (block)? @members) @definition.function
; Functions that return a type contain its members.
((function_declaration
  type: (_) @_type
  body: (block . "{" . (_) @body.first "}" @body.until))
  (#not-eq? @_type "type"))
(test_declaration (block . "{" . (_) @body.first "}" @body.until))

(variable_declaration
  (identifier) @name
  "="
  (struct_declaration "{" @members)) @definition.struct
(variable_declaration
  (identifier) @name
  "="
  (union_declaration "{" @members)) @definition.union
(variable_declaration
  (identifier) @name
  "="
  (enum_declaration "{" @members)) @definition.enum
(variable_declaration
  (identifier) @name
  "="
  (opaque_declaration "{" @members)) @definition.struct
(variable_declaration
  (identifier) @name
  "="
  (error_set_declaration "{" @members)) @definition.error
(test_declaration
  (string (string_content) @title)
  (block) @members) @definition.test
(test_declaration
  (identifier) @name
  (block) @members) @definition.test

(variable_declaration
  (builtin_function
    (builtin_identifier) @_import
    (arguments (string (string_content) @import)))
  (#eq? @_import "@import"))
(source_file
  (variable_declaration
    "const"
    .
    (identifier) @constant
    [(integer) (float) (string) (boolean) (character)]))

(source_file . (comment) @doc.leading)

; References.
(call_expression function: [
  (identifier) @reference.call
  (field_expression object: (_) @reference.scope member: (identifier) @reference.call)
])
(field_expression object: (_) @reference.scope member: (identifier) @reference.attribute)
(parameter type: (identifier) @reference.type)
(struct_initializer . (identifier) @reference.type)
((builtin_function
  (builtin_identifier) @_import
  (arguments . (string (string_content) @reference.import)))
  (#eq? @_import "@import"))
