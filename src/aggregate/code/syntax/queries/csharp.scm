; C#.
[(ERROR) (preproc_if) (preproc_elif) (preproc_else) (global_statement)] @scope

(namespace_declaration
  name: (_) @name
  body: (declaration_list) @members @scope) @definition.namespace
(class_declaration
  name: (identifier) @name
  body: (declaration_list) @members @scope) @definition.class
(class_declaration name: (identifier) @name !body) @definition.class
(struct_declaration
  name: (identifier) @name
  body: (declaration_list) @members @scope) @definition.struct
(struct_declaration name: (identifier) @name !body) @definition.struct
(interface_declaration
  name: (identifier) @name
  body: (declaration_list) @members @scope) @definition.interface
(record_declaration
  name: (identifier) @name
  body: (declaration_list) @members @scope) @definition.record
(record_declaration name: (identifier) @name !body) @definition.record
(enum_declaration
  name: (identifier) @name
  body: (enum_member_declaration_list) @members) @definition.enum
(delegate_declaration name: (identifier) @name) @definition.delegate

(method_declaration name: (identifier) @name body: (block) @body) @definition.method
(method_declaration name: (identifier) @name body: (arrow_expression_clause)) @definition.method
(method_declaration name: (identifier) @name !body) @definition.method
(local_function_statement name: (identifier) @name body: (block) @body) @definition.function
(constructor_declaration name: (identifier) @name body: (block) @body) @definition.constructor
(constructor_declaration name: (identifier) @name body: (arrow_expression_clause)) @definition.constructor
(constructor_declaration name: (identifier) @name !body) @definition.constructor
(destructor_declaration name: (identifier) @name body: (block) @body) @definition.destructor
(destructor_declaration name: (identifier) @name body: (arrow_expression_clause)) @definition.destructor
(operator_declaration operator: _ @name body: (block) @body) @definition.operator
(operator_declaration operator: _ @name body: (arrow_expression_clause)) @definition.operator
(operator_declaration operator: _ @name !body) @definition.operator
(conversion_operator_declaration type: (_) @name body: (block) @body) @definition.operator
(conversion_operator_declaration type: (_) @name body: (arrow_expression_clause)) @definition.operator

(property_declaration
  name: (identifier) @name
  accessors: (accessor_list) @members @scope) @definition.property
(property_declaration name: (identifier) @name !accessors) @definition.property
(indexer_declaration
  "this" @name
  accessors: (accessor_list) @members @scope) @definition.indexer
(indexer_declaration "this" @name !accessors) @definition.indexer
(event_declaration
  name: (identifier) @name
  accessors: (accessor_list) @members @scope) @definition.event
(event_field_declaration
  (variable_declaration (variable_declarator name: (identifier) @name))) @definition.event
(accessor_declaration body: (block) @body)

; Lambdas outside methods are values of fields and properties.
(field_declaration) @scope.deep
(property_declaration value: (_) @scope.deep)
(lambda_expression body: (block) @body)
(anonymous_method_expression (block) @body)

(file_scoped_namespace_declaration name: (_) @package)
(file_scoped_namespace_declaration name: (_) @name) @definition.namespace
(compilation_unit (comment) @doc.module . (using_directive))
(_ (comment) @doc.module .
  [(class_declaration) (interface_declaration) (enum_declaration) (record_declaration) (struct_declaration)])
(using_directive [(qualified_name) (identifier) (alias_qualified_name)] @import .)
((field_declaration
  (modifier) @_const
  (variable_declaration (variable_declarator name: (identifier) @constant.member)))
  (#eq? @_const "const"))
((field_declaration
  (modifier) @_static (modifier) @_readonly
  (variable_declaration (variable_declarator name: (identifier) @constant.member)))
  (#eq? @_static "static") (#eq? @_readonly "readonly"))

; References.
(invocation_expression function: [
  (identifier) @reference.call
  (generic_name . (identifier) @reference.call)
  (member_access_expression name: (identifier) @reference.call)
  (member_access_expression expression: (_) @reference.scope name: (identifier) @reference.call)
  (member_access_expression name: (generic_name . (identifier) @reference.call))
  (member_access_expression
    expression: (_) @reference.scope
    name: (generic_name . (identifier) @reference.call))
  (conditional_access_expression
    condition: (_) @reference.scope
    (member_binding_expression name: (identifier) @reference.call))
])
(member_access_expression expression: (_) @reference.scope name: (identifier) @reference.attribute)

; Identifiers in place of a type: types have no syntax of their own.
(_ type: [
  (identifier) @reference.type
  (nullable_type type: (identifier) @reference.type)
  (array_type type: (identifier) @reference.type)
])
(_ returns: [
  (identifier) @reference.type
  (nullable_type type: (identifier) @reference.type)
  (array_type type: (identifier) @reference.type)
])
(generic_name . (identifier) @reference.type)
(qualified_name qualifier: (_) @reference.scope name: (identifier) @reference.type)
(type_argument_list (identifier) @reference.type)
(tuple_element type: (identifier) @reference.type)
(as_expression right: (identifier) @reference.type)
(attribute name: (identifier) @reference.type)

(base_list [
  (identifier) @reference.inherit
  (generic_name . (identifier) @reference.inherit)
  (qualified_name qualifier: (_) @reference.scope name: (identifier) @reference.inherit)
  (qualified_name
    qualifier: (_) @reference.scope
    name: (generic_name . (identifier) @reference.inherit))
  (primary_constructor_base_type type: (identifier) @reference.inherit)
])

(using_directive) @reference.within
(using_directive (identifier) @reference.import .)
(using_directive (qualified_name name: (identifier) @reference.import) @reference.scope .)
(namespace_declaration name: (qualified_name name: (_) @reference.defined))
(file_scoped_namespace_declaration name: (qualified_name name: (_) @reference.defined))
