"""A host that asks GPT by its own client: planned and recorded by aggregate, sent by itself."""

import openai

from aggregate import plan_for, record, to_openai

planned = plan_for("manual_slop.toml", "gpt-5.6", "What does the parser do with a tab?")
for warning in planned.warnings:
    print(warning)

client = openai.OpenAI()
answer = client.chat.completions.create(**to_openai(planned))
text = answer.choices[0].message.content or ""
done = record(planned, answer.usage, text)

print(text)
print(done.reply.usage.cache_read, "tokens were read from the cache;", done.path)
if planned.prefix:
    print(planned.prefix.sentence)
