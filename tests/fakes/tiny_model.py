"""A language model that knows nothing: one random layer over bytes, about 100 KB, written in milliseconds."""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType

EMBEDDING, HEADS, INNER, CONTEXT = 32, 2, 64, 16_384
TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
)


def write_model(path: Path) -> Path:
    """Write the model to ``path`` and return it."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    kinds += [*[TokenType.BYTE] * 256, TokenType.NORMAL]
    writer = GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)
    chance = np.random.default_rng(7)
    square, wide, high = (EMBEDDING, EMBEDDING), (INNER, EMBEDDING), (EMBEDDING, INNER)
    matrices = {"attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square}
    matrices |= {"ffn_gate": wide, "ffn_up": wide, "ffn_down": high}
    shapes = {f"blk.0.{name}.weight": shape for name, shape in matrices.items()}
    shapes |= {
        "token_embd.weight": (len(tokens), EMBEDDING),
        "output.weight": (len(tokens), EMBEDDING),
    }
    for name, shape in shapes.items():
        writer.add_tensor(
            name,
            chance.normal(0, 0.1, shape).astype(np.float32),
            raw_dtype=GGMLQuantizationType.F32,
        )
    for name in ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight"):
        writer.add_tensor(name, np.ones(EMBEDDING, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
