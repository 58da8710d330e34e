; Kotlin.
(ERROR) @scope

(class_declaration
  "interface"
  name: (identifier) @name
  [(class_body) (enum_class_body)]? @members @scope) @definition.interface
(class_declaration
  "class"
  name: (identifier) @name
  [(class_body) (enum_class_body)]? @members @scope) @definition.class
(object_declaration
  name: (identifier) @name
  (class_body)? @members @scope) @definition.object
(companion_object
  name: (identifier) @name
  (class_body)? @members @scope) @definition.object
(companion_object
  "companion" @name
  !name
  (class_body)? @members @scope) @definition.object
(enum_entry (class_body) @scope)
(type_alias type: (identifier) @name) @definition.type

(function_declaration
  name: (identifier) @name
  (function_body (block)) @members) @definition.function
(function_declaration
  name: (identifier) @name
  (function_body "=") @members) @definition.function
(function_declaration name: (identifier) @name) @definition.function
(secondary_constructor
  "constructor" @name
  (block)? @members) @definition.constructor

; An expression on one line is as short as a signature and stays.
(function_body (block) @body)
((function_body "=" . (_) @body)
  (#match? @body "\n"))
(function_declaration (function_body (block) @body))
((function_declaration (function_body "=" . (_) @body))
  (#match? @body "\n"))
(secondary_constructor (block) @body)
(anonymous_initializer (block) @body)

; Accessors, lambdas and objects outside functions are in properties.
(property_declaration) @scope.deep
(class_declaration (delegation_specifiers) @scope.deep)
(enum_entry (value_arguments) @scope.deep)
(lambda_literal) @body

(package_header (qualified_identifier) @package)
(import (qualified_identifier) @import)
(source_file (property_declaration (variable_declaration (identifier) @constant)))
(class_body
  (property_declaration
    (modifiers (property_modifier) @_const)
    (variable_declaration (identifier) @constant.member))
  (#eq? @_const "const"))

(source_file . (block_comment) @doc.leading)

; References. Arguments follow the callee; paths of types or names list theirs side by side.
(call_expression . (identifier) @reference.call)
(call_expression . (navigation_expression . (_) @reference.scope (identifier) @reference.call .))
(infix_expression (_) . (identifier) @reference.call . (_))
(navigation_expression . (_) @reference.scope (identifier) @reference.attribute .)
(user_type (identifier) @reference.type .)
(user_type (identifier) @reference.type . (type_arguments))

(delegation_specifier (user_type (identifier) @reference.inherit .))
(delegation_specifier (user_type (identifier) @reference.inherit . (type_arguments)))
(delegation_specifier (constructor_invocation (user_type (identifier) @reference.inherit .)))
(delegation_specifier
  (constructor_invocation (user_type (identifier) @reference.inherit . (type_arguments))))
(delegation_specifier (explicit_delegation (user_type (identifier) @reference.inherit .)))

(import (qualified_identifier (identifier) @reference.import .) @reference.scope)
