; Java.
(ERROR) @scope

(class_declaration
  name: (identifier) @name
  body: (class_body) @members @scope) @definition.class
(interface_declaration
  name: (identifier) @name
  body: (interface_body) @members @scope) @definition.interface
(enum_declaration
  name: (identifier) @name
  body: (enum_body) @members @scope) @definition.enum
(enum_body (enum_body_declarations) @scope)
(record_declaration
  name: (identifier) @name
  body: (class_body) @members @scope) @definition.record
(annotation_type_declaration
  name: (identifier) @name
  body: (annotation_type_body) @members @scope) @definition.annotation
(module_declaration
  name: (_) @name
  body: (module_body) @members) @definition.module

(method_declaration
  name: (identifier) @name
  body: (block) @body) @definition.method
(method_declaration
  name: (identifier) @name
  !body) @definition.method
(annotation_type_element_declaration name: (identifier) @name) @definition.method
(constructor_declaration
  name: (identifier) @name
  body: (constructor_body) @body) @definition.constructor
(compact_constructor_declaration
  name: (identifier) @name
  body: (block) @body) @definition.constructor

(static_initializer (block) @body)
(class_body (block) @body)

; Lambdas and anonymous classes outside methods are values of fields and enum constants.
[(field_declaration) (constant_declaration)] @scope.deep
(enum_constant) @scope.deep
(lambda_expression body: (block) @body)

(package_declaration (_) @package)
(program (block_comment) @doc.module . (package_declaration))
(program (block_comment) @doc.module .
  [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration) (annotation_type_declaration)])
(import_declaration [(scoped_identifier) (identifier)] @import)
((field_declaration
  (modifiers) @_modifiers
  declarator: (variable_declarator name: (identifier) @constant.member))
  (#match? @_modifiers "static.*final|final.*static"))
(constant_declaration declarator: (variable_declarator name: (identifier) @constant.member))

; References.
(method_invocation name: (identifier) @reference.call)
(method_invocation object: (_) @reference.scope name: (identifier) @reference.call)
(method_reference . (_) @reference.scope "::" (identifier) @reference.call)
((field_access object: (identifier) @reference.scope field: (identifier) @reference.attribute)
  (#match? @reference.scope "^[A-Z]"))

; Type names refer to types, except where they are defined.
(type_identifier) @reference.type
(scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.type .)
(type_parameter . (type_identifier) @reference.defined)
(marker_annotation name: (identifier) @reference.type)
(annotation name: (identifier) @reference.type)

(superclass [
  (type_identifier) @reference.inherit
  (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .)
  (generic_type . (type_identifier) @reference.inherit)
  (generic_type . (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .))
])
(super_interfaces (type_list [
  (type_identifier) @reference.inherit
  (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .)
  (generic_type . (type_identifier) @reference.inherit)
  (generic_type . (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .))
]))
(extends_interfaces (type_list [
  (type_identifier) @reference.inherit
  (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .)
  (generic_type . (type_identifier) @reference.inherit)
  (generic_type . (scoped_type_identifier . (_) @reference.scope (type_identifier) @reference.inherit .))
]))

(import_declaration (scoped_identifier scope: (_) @reference.scope name: (_) @reference.import) .)
(import_declaration (scoped_identifier name: (_) @reference.import) @reference.scope . (asterisk))
(import_declaration (identifier) @reference.import)
