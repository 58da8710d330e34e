; PHP.
(function_definition body: (compound_statement) @body)
(method_declaration body: (compound_statement) @body)
(anonymous_function body: (compound_statement) @body)
(property_hook body: (compound_statement) @body)

; Functions around the whole file stay open: called immediately, returned, or passed to a grouping call.
(program (expression_statement
  (function_call_expression function: (parenthesized_expression (anonymous_function body: (_) @keep)))))
(program (return_statement (anonymous_function body: (_) @keep)))
(function_call_expression
  function: (name) @_group
  arguments: (arguments (argument (anonymous_function body: (_) @keep)))
  (#any-of? @_group "describe" "call_user_func"))
(program (expression_statement
  (member_call_expression
    name: (name) @_group
    arguments: (arguments (argument (anonymous_function body: (_) @keep)))
    (#eq? @_group "group"))))
(program (expression_statement
  (scoped_call_expression
    name: (name) @_group
    arguments: (arguments (argument (anonymous_function body: (_) @keep)))
    (#eq? @_group "group"))))

(function_definition name: (_) @name body: (_) @members) @definition.function
(method_declaration name: (_) @name body: (_)? @members) @definition.method
(class_declaration name: (_) @name body: (_) @members) @definition.class
(interface_declaration name: (_) @name body: (_) @members) @definition.interface
(trait_declaration name: (_) @name body: (_) @members) @definition.trait
(enum_declaration name: (_) @name body: (_) @members) @definition.enum
(namespace_definition name: (_) @name body: (_)? @members) @definition.namespace
(return_statement
  (object_creation_expression (anonymous_class "class" @name body: (_) @members))) @definition.class
(expression_statement
  (assignment_expression
    left: (variable_name) @name
    right: [
      (anonymous_function body: (_) @members)
      (arrow_function body: (_) @members)
    ])) @definition.function

(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @import))
(namespace_use_declaration (namespace_name) @import body: (namespace_use_group))
([
  (include_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (include_once_expression
    [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (require_expression [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
  (require_once_expression
    [(string (string_content) @import) (binary_expression right: (string (string_content) @import))])
])

(program (const_declaration (const_element . (name) @constant)))
(program (expression_statement
  (function_call_expression
    function: (name) @_define
    arguments: (arguments . (argument (string (string_content) @constant)))
    (#eq? @_define "define"))))

(program . (text)? . (php_tag) . (comment) @doc.leading)

; References.
(function_call_expression function: [
  (name) @reference.call
  (qualified_name prefix: (_) @reference.scope (name) @reference.call)
])
(member_call_expression object: (_) @reference.scope name: (name) @reference.call)
(nullsafe_member_call_expression object: (_) @reference.scope name: (name) @reference.call)
(scoped_call_expression scope: (_) @reference.scope name: (name) @reference.call)
(class_constant_access_expression . (_) @reference.scope (name) @reference.attribute .)

(named_type [
  (name) @reference.type
  (qualified_name prefix: (_) @reference.scope (name) @reference.type)
])
(object_creation_expression [
  (name) @reference.type
  (qualified_name prefix: (_) @reference.scope (name) @reference.type)
])
(scoped_call_expression scope: (name) @reference.type)
(class_constant_access_expression . (name) @reference.type (_))
(scoped_property_access_expression scope: (name) @reference.type)
(attribute (name) @reference.type)
(binary_expression operator: "instanceof" right: (name) @reference.type)

(base_clause [
  (name) @reference.inherit
  (qualified_name prefix: (_) @reference.scope (name) @reference.inherit)
])
(class_interface_clause [
  (name) @reference.inherit
  (qualified_name prefix: (_) @reference.scope (name) @reference.inherit)
])
(use_declaration [
  (name) @reference.inherit
  (qualified_name prefix: (_) @reference.scope (name) @reference.inherit)
])

(namespace_use_declaration) @reference.within
(namespace_use_declaration (namespace_name) @reference.scope body: (_)) @reference.within
(namespace_use_clause . [
  (name) @reference.member
  (qualified_name prefix: (_) @reference.scope (name) @reference.member)
])
(include_expression [(string (string_content) @reference.import) (binary_expression right: (string (string_content) @reference.import))])
(include_once_expression [(string (string_content) @reference.import) (binary_expression right: (string (string_content) @reference.import))])
(require_expression [(string (string_content) @reference.import) (binary_expression right: (string (string_content) @reference.import))])
(require_once_expression [(string (string_content) @reference.import) (binary_expression right: (string (string_content) @reference.import))])
