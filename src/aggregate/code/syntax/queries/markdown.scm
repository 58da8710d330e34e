; Markdown. Only headings of the document itself: not those in quotes and lists, nor what looks so in fenced code.
(section) @scope

(atx_heading (atx_h1_marker) @level.1 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h2_marker) @level.2 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h3_marker) @level.3 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h4_marker) @level.4 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h5_marker) @level.5 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h6_marker) @level.6 heading_content: (_)? @title) @definition.heading
(setext_heading heading_content: (_) @title (setext_h1_underline) @level.1 @members) @definition.heading
(setext_heading heading_content: (_) @title (setext_h2_underline) @level.2 @members) @definition.heading

; The first paragraph that is neither a badge nor markup.
((paragraph) @doc.module (#not-match? @doc.module "^(\\[!\\[|!\\[|<)"))
