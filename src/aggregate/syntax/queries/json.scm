; JSON, JSON with comments, JSON lines: the keys of the first value, with the kind of what they hold.
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: (object) @members @items) @definition.object))
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: (array) @members @items) @definition.array))
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: (string) @members) @definition.string))
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: (number) @members) @definition.number))
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: [(true) (false)] @members) @definition.boolean))
(document . (comment)* . (object (pair key: (string (string_content)? @title) value: (null) @members) @definition.null))

; A list at the top, and the shape of its first item.
(document . (comment)* . (array) @definition.array @items)
(document . (comment)* . (array . (object) @definition.object @items))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: (object) @members @items) @definition.object)))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: (array) @members @items) @definition.array)))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: (string) @members) @definition.string)))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: (number) @members) @definition.number)))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: [(true) (false)] @members) @definition.boolean)))
(document . (comment)* . (array . (object (pair key: (string (string_content)? @title) value: (null) @members) @definition.null)))

(document . (comment)+ @doc.module)
