; Rust. Attributes stand before an item as its siblings and belong to its definition.
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

; Closures stand outside functions only in what a constant is set to.
[(const_item) (static_item)] @scope.deep
(closure_expression body: (block) @body)

(source_file (line_comment (inner_doc_comment_marker)) @doc.module)
(source_file (block_comment (inner_doc_comment_marker)) @doc.module)
(source_file (use_declaration argument: (_) @import))
(source_file (extern_crate_declaration name: (identifier) @import))
(const_item name: (identifier) @constant)
(static_item name: (identifier) @constant)
