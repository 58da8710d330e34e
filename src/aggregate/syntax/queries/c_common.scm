; What C and C++ share.
(linkage_specification body: (_) @scope)

; A body with a function in it lost its own end in unbalanced branches of a conditional: nothing of it may go.
(function_definition body: (compound_statement (function_definition)) @keep @scope)
(function_definition body: (compound_statement (MISSING "}")) @keep @scope)

; Two heads share this body, and the condition around them ends in it.
((function_definition body: (compound_statement . (preproc_call directive: (preproc_directive) @_end)) @keep)
  (#eq? @_end "#endif"))
([(preproc_if) (preproc_ifdef)] . (compound_statement) @body)

; A macro call in the place of a signature.
((expression_statement
  (call_expression function: (identifier) @name)
  (MISSING ";")) @definition.function
  .
  (compound_statement) @body @definition.function)
(type_definition
  type: (struct_specifier
    name: (type_identifier)? @alias
    body: (field_declaration_list) @members @scope)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.struct
(type_definition
  type: (union_specifier
    name: (type_identifier)? @alias
    body: (field_declaration_list) @members @scope)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.union
(type_definition
  type: (enum_specifier
    name: (type_identifier)? @alias
    body: (enumerator_list) @members)
  declarator: [(type_identifier) @name (_ declarator: (type_identifier) @name)]) @definition.enum
(preproc_function_def
  name: (identifier) @name
  value: (preproc_arg)? @members) @definition.macro
(translation_unit . (comment) @doc.leading)
(preproc_include path: (_) @import)
