"""A host that asks Gemini by its own client: planned and recorded by aggregate, sent by itself."""

from google import genai

from aggregate import plan_for, record, to_gemini

planned = plan_for("manual_slop.toml", "gemini-3.5-flash", "What does the parser do with a tab?")
for warning in planned.warnings:
    print(warning)

client = genai.Client()
answer = client.models.generate_content(**to_gemini(planned))
text = answer.text or ""
done = record(planned, answer.usage_metadata, text)

print(text)
print(done.reply.usage.cache_read, "tokens were read from the cache;", done.path)
if planned.prefix:
    print(planned.prefix.sentence)
