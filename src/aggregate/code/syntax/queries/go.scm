; Go. Definitions are at the top level; outside functions only variables can hold function literals.
(ERROR) @scope
(var_declaration) @scope
(var_declaration (var_spec_list) @scope)
(var_spec value: (_) @scope.deep)
(const_declaration) @scope
(import_declaration) @scope
(import_declaration (import_spec_list) @scope)
(type_declaration) @scope

(function_declaration
  name: (identifier) @name
  body: (block) @body) @definition.function

(function_declaration
  name: (identifier) @name
  !body) @definition.function

(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @receiver
        (generic_type type: (type_identifier) @receiver)
        (pointer_type (type_identifier) @receiver)
        (pointer_type (generic_type type: (type_identifier) @receiver))
      ]))
  name: (field_identifier) @name
  body: (block)? @body) @definition.method

(func_literal body: (block) @body)

; A declaration of one type is the definition; in a group each type is one.
((type_declaration
  (type_spec
    name: (type_identifier) @name
    type: (struct_type (field_declaration_list) @members))) @definition.struct @_all
  (#not-match? @_all "^type[ \t]*\\("))
(type_declaration "("
  (type_spec
    name: (type_identifier) @name
    type: (struct_type (field_declaration_list) @members)) @definition.struct)

((type_declaration
  (type_spec
    name: (type_identifier) @name
    type: (interface_type "{" @members) @scope)) @definition.interface @_all
  (#not-match? @_all "^type[ \t]*\\("))
(type_declaration "("
  (type_spec
    name: (type_identifier) @name
    type: (interface_type "{" @members) @scope) @definition.interface)
(interface_type (method_elem name: (field_identifier) @name) @definition.method)

((type_declaration
  [
    (type_spec name: (type_identifier) @name type: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (array_type) (slice_type) (map_type) (channel_type) (function_type) (parenthesized_type)])
    (type_alias name: (type_identifier) @name)
  ]) @definition.type @_all
  (#not-match? @_all "^type[ \t]*\\("))
(type_declaration "("
  [
    (type_spec name: (type_identifier) @name type: [(type_identifier) (qualified_type) (generic_type) (pointer_type) (array_type) (slice_type) (map_type) (channel_type) (function_type) (parenthesized_type)])
    (type_alias name: (type_identifier) @name)
  ] @definition.type)

(package_clause (package_identifier) @package)
(source_file (comment) @doc.module . (package_clause))
(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @import))
(const_spec name: (identifier) @constant)
(var_spec name: (identifier) @constant)

; References.
(call_expression function: (identifier) @reference.call)
(call_expression
  function: (selector_expression operand: (_) @reference.scope field: (field_identifier) @reference.call))
(selector_expression operand: (_) @reference.scope field: (field_identifier) @reference.attribute)

; Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(qualified_type package: (_) @reference.scope name: (_) @reference.type)
(type_spec name: (_) @reference.defined)
(type_alias name: (_) @reference.defined)

(field_declaration
  !name
  type: [
    (type_identifier) @reference.inherit
    (qualified_type package: (_) @reference.scope name: (_) @reference.inherit)
    (generic_type type: (type_identifier) @reference.inherit)
    (generic_type type: (qualified_type package: (_) @reference.scope name: (_) @reference.inherit))
  ])
(interface_type (type_elem . [
  (type_identifier) @reference.inherit
  (qualified_type package: (_) @reference.scope name: (_) @reference.inherit)
] .))

(import_spec path: [
  (interpreted_string_literal (interpreted_string_literal_content) @reference.import)
  (raw_string_literal (raw_string_literal_content) @reference.import)
])
