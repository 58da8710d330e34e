; Nix: the names bound in a file with the kinds of their values, as far as sets are nested.
[
  (apply_expression)
  (assert_expression)
  (attrset_expression)
  (binary_expression)
  (binding)
  (binding_set)
  (ERROR)
  (function_expression)
  (let_expression)
  (list_expression)
  (parenthesized_expression)
  (rec_attrset_expression)
  (with_expression)
] @scope

; Results of functions, bindings for a single value, items of lists and arguments of functions, except functions that
; only control when and how a set applies.
(binding expression: (function_expression) @body)
(binding expression: (let_expression (binding_set) @body))
(binding expression: (list_expression) @body)
((binding expression: (apply_expression function: [(variable_expression) (select_expression)] @_function) @body)
  (#not-match? @_function "(^|\\.)(mk(Merge|Default|Force|Before|After))$"))
((binding expression: (apply_expression function:
  (apply_expression function: [(variable_expression) (select_expression)] @_function)) @body)
  (#not-match? @_function "(^|\\.)(mk(If|Override|Order)|optionalAttrs)$"))
(binding expression: (apply_expression function: (apply_expression function: (apply_expression))) @body)

(binding attrpath: (_) @title expression: (attrset_expression (binding_set)? @items) @members) @definition.set
(binding attrpath: (_) @title expression: (rec_attrset_expression (binding_set)? @items) @members) @definition.set
(binding attrpath: (_) @title expression: (list_expression) @members @items) @definition.array
(binding attrpath: (_) @title expression: (function_expression) @members) @definition.function
(binding attrpath: (_) @title expression: [(string_expression) (indented_string_expression)] @members)
  @definition.string
(binding attrpath: (_) @title expression: [(path_expression) (hpath_expression) (spath_expression)] @members)
  @definition.path
(binding attrpath: (_) @title expression: [(integer_expression) (float_expression)] @members) @definition.number
(binding
  attrpath: (_) @title
  expression: [
    (apply_expression) (assert_expression) (binary_expression) (has_attr_expression) (if_expression)
    (let_attrset_expression) (let_expression) (parenthesized_expression) (select_expression) (unary_expression)
    (uri_expression) (variable_expression) (with_expression)
  ] @members) @definition.expression

((binding attrpath: (_) @_imports expression: (list_expression element: [(path_expression) (spath_expression)] @import))
  (#eq? @_imports "imports"))
((apply_expression function: (variable_expression) @_import argument: [(path_expression) (spath_expression)] @import)
  (#eq? @_import "import"))

(source_code . (comment) @doc.leading)
