; Rust. Attributes are siblings before an item and belong to its definition.
(ERROR) @scope

((attribute_item)* @definition.function .
  (function_item name: (_) @name body: (block) @body) @definition.function)
((attribute_item)* @definition.function .
  (function_signature_item name: (_) @name) @definition.function)

((attribute_item)* @definition.struct .
  (struct_item
    name: (type_identifier) @name
    body: (field_declaration_list) @members) @definition.struct)
((attribute_item)* @definition.struct .
  (struct_item
    name: (type_identifier) @name
    body: (ordered_field_declaration_list)) @definition.struct)
((attribute_item)* @definition.struct .
  (struct_item name: (type_identifier) @name !body) @definition.struct)
((attribute_item)* @definition.union .
  (union_item
    name: (type_identifier) @name
    body: (field_declaration_list) @members) @definition.union)
((attribute_item)* @definition.enum .
  (enum_item
    name: (type_identifier) @name
    body: (enum_variant_list) @members) @definition.enum)
((attribute_item)* @definition.trait .
  (trait_item
    name: (type_identifier) @name
    body: (declaration_list) @members @scope) @definition.trait)
((attribute_item)* @definition.impl .
  (impl_item
    type: [
      (type_identifier) @name
      (generic_type type: (type_identifier) @name)
      (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
      (scoped_type_identifier name: (type_identifier) @name)
      (primitive_type) @name
      (reference_type type: (type_identifier) @name)
      (reference_type type: (generic_type type: (type_identifier) @name))
      (array_type) @name
      (tuple_type) @name
      (unit_type) @name
      (pointer_type) @name
      (dynamic_type) @name
      (function_type) @name
      (macro_invocation) @name
    ]
    body: (declaration_list) @members @scope) @definition.impl)
(impl_item body: (declaration_list) @scope)
((attribute_item)* @definition.module .
  (mod_item
    name: (identifier) @name
    body: (declaration_list) @members @scope) @definition.module)
((attribute_item)* @definition.module .
  (mod_item name: (identifier) @name !body) @definition.module)
(foreign_mod_item body: (declaration_list) @scope)
((attribute_item)* @definition.type .
  [
    (type_item name: (type_identifier) @name)
    (associated_type name: (type_identifier) @name)
  ] @definition.type)
((attribute_item)* @definition.macro .
  (macro_definition name: (identifier) @name ["{" "(" "["] @members) @definition.macro)

; Closures outside functions are values of constants.
[(const_item) (static_item)] @scope.deep
(closure_expression body: (block) @body)

(source_file (line_comment (inner_doc_comment_marker)) @doc.module)
(source_file (block_comment (inner_doc_comment_marker)) @doc.module)
(source_file (use_declaration argument: (_) @import))
(source_file (extern_crate_declaration name: (identifier) @import))
(const_item name: (identifier) @constant)
(static_item name: (identifier) @constant)

; References.
(call_expression function: [
  (identifier) @reference.call
  (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.call)
  (field_expression value: (_) @reference.scope field: (field_identifier) @reference.call)
  (generic_function function: (identifier) @reference.call)
  (generic_function
    function: (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.call))
  (generic_function
    function: (field_expression value: (_) @reference.scope field: (field_identifier) @reference.call))
])
(macro_invocation macro: [
  (identifier) @reference.call
  (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.call)
])
; Macro arguments are not parsed: a name before a parenthesis is a call.
(token_tree (identifier) @reference.call . (token_tree . "("))
(scoped_identifier path: (_) @reference.scope name: (identifier) @reference.attribute)

; Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(scoped_type_identifier path: (_) @reference.scope name: (_) @reference.type)
(scoped_identifier path: (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(struct_item name: (_) @reference.defined)
(union_item name: (_) @reference.defined)
(enum_item name: (_) @reference.defined)
(trait_item name: (_) @reference.defined)
(type_item name: (_) @reference.defined)
(associated_type name: (_) @reference.defined)
(type_parameter name: (_) @reference.defined)

(impl_item trait: [
  (type_identifier) @reference.inherit
  (scoped_type_identifier path: (_) @reference.scope name: (_) @reference.inherit)
  (generic_type type: (type_identifier) @reference.inherit)
  (generic_type
    type: (scoped_type_identifier path: (_) @reference.scope name: (_) @reference.inherit))
])
(trait_item bounds: (trait_bounds [
  (type_identifier) @reference.inherit
  (scoped_type_identifier path: (_) @reference.scope name: (_) @reference.inherit)
  (generic_type type: (type_identifier) @reference.inherit)
]))
((attribute
  (identifier) @_derive
  arguments: (token_tree (identifier) @reference.inherit))
  (#eq? @_derive "derive"))

; Lists of names may be nested, each with its own part of the path.
(use_declaration) @reference.within
(scoped_use_list path: (_) @reference.scope) @reference.within
(use_declaration argument: [
  (identifier) @reference.member
  (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.member)
])
(use_list [
  (identifier) @reference.member
  (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.member)
])
(use_as_clause path: [
  (identifier) @reference.member
  (scoped_identifier path: (_) @reference.scope name: (identifier) @reference.member)
])
(use_wildcard [
  (identifier) @reference.member @reference.scope
  (scoped_identifier name: (identifier) @reference.member) @reference.scope
])
(extern_crate_declaration name: (identifier) @reference.import)
(mod_item name: (identifier) @reference.import !body)
