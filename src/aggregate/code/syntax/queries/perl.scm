; Perl. Named subroutines are at the top, in package blocks, and in conditions evaluated when the file is loaded.
[
  (block)
  (block_statement)
  (class_phaser_statement)
  (class_statement)
  (conditional_statement)
  (else)
  (elsif)
  (ERROR)
  (package_statement)
  (phaser_statement)
] @scope

(subroutine_declaration_statement name: (_) @name body: (block) @body) @definition.function
(subroutine_declaration_statement name: (_) @name !body) @definition.function
(method_declaration_statement name: (_) @name body: (block) @body) @definition.method
(method_declaration_statement name: (_) @name !body) @definition.method
(class_phaser_statement (block) @body)

; A package or class without a block extends to the next one.
(package_statement name: (_) @name (block) @members) @definition.module
((package_statement name: (_) @name @level.1) @definition.module (#not-match? @definition.module "\\}$"))
(class_statement name: (_) @name (block) @members) @definition.class
((class_statement name: (_) @name @level.1) @definition.class (#not-match? @definition.class "\\}$"))

; Anonymous subroutines outside others are values of variables and arguments of functions.
[(expression_statement) (use_statement)] @scope.deep
(anonymous_subroutine_expression body: (block) @body)

((use_statement module: (package) @import)
  (#not-match? @import "^(strict|warnings|utf8|feature|constant|parent|base|lib|vars)$"))
(use_statement
  module: (package) @_parent
  (string_literal (string_content) @import)
  (#any-of? @_parent "parent" "base"))
(use_statement
  module: (package) @_parent
  (quoted_word_list (string_content) @import)
  (#any-of? @_parent "parent" "base"))
(expression_statement (require_expression (bareword) @import))

(use_statement
  module: (package) @_constant
  (list_expression . (autoquoted_bareword) @constant.member)
  (#eq? @_constant "constant"))
(use_statement
  module: (package) @_constant
  (anonymous_hash_expression (list_expression (autoquoted_bareword) @constant.member))
  (#eq? @_constant "constant"))

(source_file . (comment) @doc.leading)

; References.
(function_call_expression function: (function) @reference.call)
(ambiguous_function_call_expression function: (function) @reference.call)
(method_call_expression invocant: (_) @reference.scope method: (method) @reference.call)
(method_call_expression invocant: (bareword) @reference.type)
((use_statement
  module: (package) @_base
  (quoted_word_list content: (string_content) @reference.inherit))
  (#any-of? @_base "parent" "base"))
(use_statement module: (package) @reference.module)
