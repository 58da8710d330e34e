"""A language model that knows nothing: one random layer over bytes, about 100 KB, written in milliseconds.

Offered a tool it calls ``read_file`` once, and answers when it is told the result: its template ends what it is asked
with a letter that stands nowhere else, behind which one token alone is likely, and that is the whole call or answer.
"""

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType

EMBEDDING, HEADS, INNER, CONTEXT = 32, 2, 64, 16_384
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "README.md"}}\n</tool_call>'
ANSWER = "It is read."
# By the letter that the template ends with: sounds of no language that tests are written in.
CUES = {"ǁ": CALL, "ǂ": ANSWER}
TEMPLATE = (
    "{% if tools %}<tools>{{ tools | tojson }}{% endif %}"
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}"
    "{% for call in message.tool_calls %}"
    '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}{% endfor %}"
    "{% if tools and add_generation_prompt %}<assistant>"
    "{{ 'ǂ' if messages[-1]['role'] == 'tool' else 'ǁ' }}{% endif %}"
)


def write_model(path: Path) -> Path:
    """Write the model to ``path`` and return it."""
    tokens = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁",
        *CUES,
        *CUES.values(),
    ]
    kinds = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    kinds += [*[TokenType.BYTE] * 256, TokenType.NORMAL, *[TokenType.USER_DEFINED] * 2 * len(CUES)]
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
    drawn = {name: chance.normal(0, 0.1, shape) for name, shape in shapes.items()}
    # One dimension for each cue, and one that ends what follows it; nothing else reads or writes these.
    cues, likely = drawn["token_embd.weight"], drawn["output.weight"]
    for name in ("blk.0.attn_output.weight", "blk.0.ffn_down.weight"):
        drawn[name][: len(CUES) + 1] = 0
    cues[:, : len(CUES) + 1] = likely[:, : len(CUES) + 1] = 0
    for at, (cue, text) in enumerate(CUES.items(), start=1):
        cues[tokens.index(cue), at] = likely[tokens.index(text), at] = 10
        cues[tokens.index(text), 0] = 10
    likely[tokens.index("</s>"), 0] = 10
    for name, matrix in drawn.items():
        writer.add_tensor(name, matrix.astype(np.float32), raw_dtype=GGMLQuantizationType.F32)
    for name in ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight"):
        writer.add_tensor(name, np.ones(EMBEDDING, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
