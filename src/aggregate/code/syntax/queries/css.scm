; CSS: rules by their selectors, and at-rules with their direct rules.
(stylesheet (rule_set (selectors) @title (block) @members) @definition.rule)

(stylesheet (media_statement (block) @members) @definition.rule)
(stylesheet (supports_statement (block) @members) @definition.rule)
(stylesheet (keyframes_statement (keyframe_block_list) @members) @definition.rule)
(stylesheet (scope_statement (block) @members) @definition.rule)
(stylesheet (at_rule (block)? @members) @definition.rule)

(stylesheet (media_statement (block (rule_set (selectors) @title (block) @members) @definition.rule)))
(stylesheet (supports_statement (block (rule_set (selectors) @title (block) @members) @definition.rule)))
(stylesheet (scope_statement (block (rule_set (selectors) @title (block) @members) @definition.rule)))
(stylesheet (at_rule (block (rule_set (selectors) @title (block) @members) @definition.rule)))

(import_statement [(string_value) (call_expression)] @import)

(stylesheet . (comment) @doc.leading)
