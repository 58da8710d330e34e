; Python. Scopes: everything outside functions that can contain a `def` or `class`.
[
  (block)
  (class_definition)
  (if_statement)
  (elif_clause)
  (else_clause)
  (for_statement)
  (while_statement)
  (try_statement)
  (except_clause)
  (finally_clause)
  (with_statement)
  (match_statement)
  (case_clause)
  (ERROR)
] @scope

(decorated_definition definition: (class_definition) @scope)

(function_definition
  name: (identifier) @name
  body: (block) @body) @definition.function

(decorated_definition
  definition: (function_definition
    name: (identifier) @name
    body: (block) @body)) @definition.function

(class_definition
  name: (identifier) @name
  body: (block) @members) @definition.class

(decorated_definition
  definition: (class_definition
    name: (identifier) @name
    body: (block) @members)) @definition.class

; A docstring stays without its body; so does a comment after the colon, but not one on its own line.
(function_definition body: (block . (expression_statement . (string) @doc .)))
(function_definition body: (block . (expression_statement . (concatenated_string) @doc .)))
(decorated_definition definition: (function_definition body: (block . (expression_statement . (string) @doc .))))
(decorated_definition definition: (function_definition body: (block . (expression_statement . (concatenated_string) @doc .))))
(function_definition (comment) @lead)
(decorated_definition definition: (function_definition (comment) @lead))

(module . (comment)* . (expression_statement . (string) @doc.module .))
(class_definition body: (block . (expression_statement . (string) @doc.member .)))

(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(future_import_statement "__future__" @import)

(expression_statement (assignment left: (identifier) @constant))

; References.
(call function: (identifier) @reference.call)
(call function: (attribute object: (_) @reference.scope attribute: (identifier) @reference.call))
(decorator (identifier) @reference.call)
(decorator (attribute object: (_) @reference.scope attribute: (identifier) @reference.call))
(attribute object: (_) @reference.scope attribute: (identifier) @reference.attribute)
(assignment left: (attribute attribute: (_) @reference.defined))

(type [
  (identifier) @reference.type
  (string (string_content) @reference.type)
  (attribute object: (_) @reference.scope attribute: (identifier) @reference.type)
  (subscript subscript: (identifier) @reference.type)
  (subscript value: (attribute object: (_) @reference.scope attribute: (identifier) @reference.type))
])
(generic_type (identifier) @reference.type)
; Bars join types, in expressions too.
(binary_operator operator: "|" right: (identifier) @reference.type)
(binary_operator left: (identifier) @reference.type operator: "|")
(except_clause value: [(identifier) @reference.type (as_pattern . (identifier) @reference.type)])
(except_clause value: [
  (tuple (identifier) @reference.type)
  (as_pattern . (tuple (identifier) @reference.type))
])
(raise_statement . (identifier) @reference.type)

(class_definition superclasses: (argument_list [
  (identifier) @reference.inherit
  (attribute object: (_) @reference.scope attribute: (identifier) @reference.inherit)
  (subscript value: (identifier) @reference.inherit)
  (subscript value: (attribute object: (_) @reference.scope attribute: (identifier) @reference.inherit))
  (keyword_argument value: (identifier) @reference.inherit)
]))

(import_statement name: (dotted_name (identifier) @reference.import .) @reference.scope)
(import_statement
  name: (aliased_import name: (dotted_name (identifier) @reference.import .) @reference.scope))
(import_from_statement module_name: (_) @reference.scope name: (dotted_name) @reference.import)
(import_from_statement
  module_name: (_) @reference.scope
  name: (aliased_import name: (dotted_name) @reference.import))
(import_from_statement
  module_name: [
    (dotted_name (identifier) @reference.import .)
    (relative_import (dotted_name (identifier) @reference.import .))
  ] @reference.scope
  (wildcard_import))

; Cells of a script, up to the next one.
(module ((comment) @title @level.1 @definition.cell (#match? @title "^# ?%%")))
