; TOML: the top keys with the kinds of their values, tables, arrays of tables.
(document (pair . (_) @title (array) @members @items) @definition.array)
(document (pair . (_) @title (inline_table) @members @items) @definition.table)
(document (pair . (_) @title (string) @members) @definition.string)
(document (pair . (_) @title [(integer) (float)] @members) @definition.number)
(document (pair . (_) @title (boolean) @members) @definition.boolean)
(document
  (pair
    .
    (_) @title
    [(offset_date_time) (local_date_time) (local_date) (local_time)] @members) @definition.date)

(table . (_) @title . (pair)? @members) @definition.table
(table_array_element . (_) @title . (pair)? @members) @definition.table

(document . (comment) @doc.leading)
