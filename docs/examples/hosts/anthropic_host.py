"""A host that asks Claude by its own client: planned and recorded by aggregate, sent by itself."""

import anthropic

from aggregate import plan_for, record, to_anthropic

planned = plan_for("manual_slop.toml", "claude-sonnet-5", "What does the parser do with a tab?")
for warning in planned.warnings:
    print(warning)

client = anthropic.Anthropic()
answer = client.messages.create(**to_anthropic(planned))
text = "".join(block.text for block in answer.content if block.type == "text")
done = record(planned, answer.usage, text)

print(text)
print(done.reply.usage.cache_read, "tokens were read from the cache;", done.path)
if planned.prefix:
    print(planned.prefix.sentence)
