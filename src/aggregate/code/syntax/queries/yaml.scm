; YAML: the top keys of each document with the kinds of their values.
(stream (document) @definition.document . (document))
(stream (document) . (document) @definition.document)

(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ [(block_mapping) (flow_mapping)] @items) @members) @definition.object)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ [(block_sequence) (flow_sequence)] @items) @members) @definition.array)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title
  value: (_ [(block_scalar) (double_quote_scalar) (single_quote_scalar) (plain_scalar (string_scalar))]) @members) @definition.string)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar [(integer_scalar) (float_scalar)])) @members) @definition.number)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar (boolean_scalar))) @members) @definition.boolean)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar (null_scalar))) @members) @definition.null)))
(document (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (alias)) @members) @definition.alias)))
(document (block_node (block_mapping (block_mapping_pair key: (_) @title !value) @definition.null)))

(document (flow_node (flow_mapping (flow_pair
  key: (_) @title value: (_ [(block_mapping) (flow_mapping)] @items) @members) @definition.object)))
(document (flow_node (flow_mapping (flow_pair
  key: (_) @title value: (_ [(block_sequence) (flow_sequence)] @items) @members) @definition.array)))
(document (flow_node (flow_mapping (flow_pair
  key: (_) @title
  value: (_ [(block_scalar) (double_quote_scalar) (single_quote_scalar) (plain_scalar (string_scalar))]) @members) @definition.string)))
(document (flow_node (flow_mapping (flow_pair
  key: (_) @title value: (_ (plain_scalar [(integer_scalar) (float_scalar)])) @members) @definition.number)))
(document (flow_node (flow_mapping (flow_pair
  key: (_) @title value: (_ (plain_scalar (boolean_scalar))) @members) @definition.boolean)))
(document (flow_node (flow_mapping (flow_pair
  key: (_) @title value: (_ (plain_scalar (null_scalar))) @members) @definition.null)))

; A list at the top, with the shape of its first item.
(document (block_node (block_sequence) @definition.array @items))
(document (flow_node (flow_sequence) @definition.array @items))
(document (block_node (block_sequence . (block_sequence_item (_ (block_mapping) @items) @definition.object))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ [(block_mapping) (flow_mapping)] @items) @members) @definition.object))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ [(block_sequence) (flow_sequence)] @items) @members) @definition.array))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title
  value: (_ [(block_scalar) (double_quote_scalar) (single_quote_scalar) (plain_scalar (string_scalar))]) @members) @definition.string))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar [(integer_scalar) (float_scalar)])) @members) @definition.number))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar (boolean_scalar))) @members) @definition.boolean))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (plain_scalar (null_scalar))) @members) @definition.null))))))
(document (block_node (block_sequence . (block_sequence_item (block_node (block_mapping (block_mapping_pair
  key: (_) @title value: (_ (alias)) @members) @definition.alias))))))

(stream . (document . (comment) @doc.leading))
(stream . (comment) @doc.leading)
