; HCL: blocks by their types and labels; keys outside of blocks and in `locals`.
[(block) (body) (ERROR)] @scope

(block . (identifier) @receiver . (block_start) @members) @definition.block
(block . (identifier) @receiver . (string_lit (template_literal) @receiver) . (block_start) @members) @definition.block
(block
  . (identifier) @receiver
  . (string_lit (template_literal) @receiver)
  . (string_lit (template_literal) @receiver)
  . (block_start) @members) @definition.block

(config_file (body (attribute (identifier) @title (expression (collection_value (object))) @members) @definition.object))
(config_file (body (attribute (identifier) @title (expression (collection_value (tuple))) @members) @definition.array))
(config_file (body (attribute (identifier) @title (expression (literal_value (string_lit))) @members) @definition.string))
(config_file (body (attribute (identifier) @title (expression (template_expr)) @members) @definition.string))
(config_file (body (attribute (identifier) @title (expression (literal_value (numeric_lit))) @members) @definition.number))
(config_file (body (attribute (identifier) @title (expression (literal_value (bool_lit))) @members) @definition.boolean))
(config_file (body (attribute (identifier) @title (expression
  [(conditional) (function_call) (for_expr) (operation) (variable_expr)]) @members) @definition.expression))

((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (collection_value (object))) @members) @definition.object))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (collection_value (tuple))) @members) @definition.array))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (literal_value (string_lit))) @members) @definition.string))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (template_expr)) @members) @definition.string))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (literal_value (numeric_lit))) @members) @definition.number))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression (literal_value (bool_lit))) @members) @definition.boolean))
  (#eq? @_locals "locals"))
((block . (identifier) @_locals (body
  (attribute (identifier) @title (expression
  [(conditional) (function_call) (for_expr) (operation) (variable_expr)]) @members) @definition.expression))
  (#eq? @_locals "locals"))

((block
  . (identifier) @_module
  (body (attribute (identifier) @_source (expression (literal_value (string_lit (template_literal) @import))))))
  (#eq? @_module "module")
  (#eq? @_source "source"))

(config_file . (comment) @doc.leading)
