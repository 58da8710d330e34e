; JSON, JSON with comments, JSON Lines: the keys of the first value with the kinds of their values; of a list at the top
; the shape of its first item.
(document . (comment)* . (object) @scope)
(document . (comment)* . (array) @definition.array @items)
(document . (comment)* . (array . (object) @scope @definition.object @items))

(pair key: (string (string_content)? @title) value: (object) @members @items) @definition.object
(pair key: (string (string_content)? @title) value: (array) @members @items) @definition.array
(pair key: (string (string_content)? @title) value: (string) @members) @definition.string
(pair key: (string (string_content)? @title) value: (number) @members) @definition.number
(pair key: (string (string_content)? @title) value: [(true) (false)] @members) @definition.boolean
(pair key: (string (string_content)? @title) value: (null) @members) @definition.null

(document . (comment) @doc.leading)
