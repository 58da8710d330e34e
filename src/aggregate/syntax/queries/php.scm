; PHP.
(function_definition body: (compound_statement) @body)
(method_declaration body: (compound_statement) @body)
(anonymous_function body: (compound_statement) @body)
(property_hook body: (compound_statement) @body)

; A function around the whole file stays open: one called where it stands, one returned, one that groups.
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
