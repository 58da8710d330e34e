; Markdown. Only the document's own headings, not those in quotes, lists or fenced code.
(section) @scope

(atx_heading (atx_h1_marker) @level.1 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h2_marker) @level.2 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h3_marker) @level.3 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h4_marker) @level.4 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h5_marker) @level.5 heading_content: (_)? @title) @definition.heading
(atx_heading (atx_h6_marker) @level.6 heading_content: (_)? @title) @definition.heading
(setext_heading heading_content: (_) @title (setext_h1_underline) @level.1 @members) @definition.heading
(setext_heading heading_content: (_) @title (setext_h2_underline) @level.2 @members) @definition.heading

; The first paragraph without badges and markup.
((paragraph) @doc.module (#not-match? @doc.module "^(\\[!\\[|!\\[|<)"))
