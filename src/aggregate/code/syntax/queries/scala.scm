; Scala, 2 and 3.
(ERROR) @scope

(package_clause body: (template_body) @scope)
(class_definition
  name: (_) @name
  body: (template_body)? @members @scope) @definition.class
(trait_definition
  name: (_) @name
  body: (template_body)? @members @scope) @definition.trait
(object_definition
  name: (_) @name
  body: (template_body)? @members @scope) @definition.object
(package_object
  name: (_) @name
  body: (template_body)? @members @scope) @definition.object
(enum_definition
  name: (_) @name
  body: (enum_body) @members @scope) @definition.enum
(given_definition
  name: (_) @name
  body: (_)? @members) @definition.given
(given_definition
  !name
  return_type: (_) @title
  body: (_)? @members) @definition.given
(given_definition body: (with_template_body) @scope)
(given_definition body: (template_body) @scope)
(extension_definition) @scope
(type_definition name: (_) @name) @definition.type

(function_definition
  name: (_) @title
  "=" @members) @definition.function
(function_definition
  name: (_) @title
  body: (block) @members) @definition.function
(function_declaration name: (_) @title) @definition.function

; An expression on one line is as short as a signature and stays.
(function_definition body: [(block) (indented_block)] @body)
((function_definition body: (_) @body)
  (#match? @body "\n"))
(function_definition (comment) @lead)

; Blocks of tests, as statements of a class.
(template_body
  (call_expression
    function: (call_expression function: (identifier) @_test)
    arguments: [(block) (indented_block)] @body)
  (#any-of? @_test "test" "it" "property" "scenario"))

; Instances of anonymous classes show their members; lambdas in values are cut.
(val_definition
  value: [
    (instance_expression (template_body) @scope)
    (indented_block (instance_expression (template_body) @scope))
  ])
[(val_definition) (var_definition)] @scope.deep
(block . (lambda_expression) .) @body
(case_block) @body

(package_clause name: (_) @package)
(import_declaration) @import
(compilation_unit (val_definition pattern: (identifier) @constant))
(object_definition body: (template_body (val_definition pattern: (identifier) @constant.member)))

(compilation_unit . (block_comment) @doc.leading)
(compilation_unit . (comment) @doc.leading)

; References.
(call_expression function: [
  (identifier) @reference.call
  (field_expression value: (_) @reference.scope field: (identifier) @reference.call)
  (generic_function function: (identifier) @reference.call)
  (generic_function
    function: (field_expression value: (_) @reference.scope field: (identifier) @reference.call))
])
(infix_expression operator: (identifier) @reference.call)
(field_expression value: (_) @reference.scope field: (identifier) @reference.attribute)

; Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(stable_type_identifier . (_) @reference.scope (type_identifier) @reference.type .)
(type_definition name: (type_identifier) @reference.defined)

(extends_clause [
  (type_identifier) @reference.inherit
  (generic_type type: (type_identifier) @reference.inherit)
  (stable_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .)
])

(import_declaration (identifier) @reference.import .)
(import_declaration (identifier) @reference.import . (namespace_wildcard))
(namespace_selectors [
  (identifier) @reference.import
  (arrow_renamed_identifier name: (identifier) @reference.import)
  (as_renamed_identifier name: (identifier) @reference.import)
])
