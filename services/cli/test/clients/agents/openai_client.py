"""The client that OpenAI publishes for Python."""
import asyncio
import json

from openai import AsyncOpenAI, OpenAI

client = OpenAI()
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
about = {
    "name": "weather",
    "description": "The weather in a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}

chat = [
    {"role": "system", "content": "You know the weather, everywhere: 天気."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Where is this, and what is the weather?"},
            {"type": "image_url", "image_url": {"url": PIXEL}},
        ],
    },
]
tools = [{"type": "function", "function": about}]
while True:
    message = client.chat.completions.create(model="gpt-4o", messages=chat, tools=tools).choices[0].message
    chat.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        chat.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps({"celsius": 21})})
chat.append({"role": "user", "content": "Say it again, please."})
said = ""
for chunk in client.chat.completions.create(model="gpt-4o", messages=chat, stream=True):
    said += chunk.choices[0].delta.content or ""

asked = [{"role": "user", "content": "The weather in Zürich?"}]
flat = [{"type": "function", **about}]
with client.responses.stream(model="o4-mini", input=asked, tools=flat, reasoning={"effort": "low"}) as stream:
    for _ in stream:
        pass
    first = stream.get_final_response()
asked += [item.model_dump(exclude_none=True) for item in first.output]
asked += [
    {"type": "function_call_output", "call_id": item.call_id, "output": "21 °C"}
    for item in first.output
    if item.type == "function_call"
]
last = client.responses.create(model="o4-mini", input=asked, tools=flat)


async def many() -> None:
    """Several calls at a time, of one client."""
    shared = AsyncOpenAI()
    texts = [[{"role": "user", "content": f"Number {i}"}] for i in range(5)]
    await asyncio.gather(*(shared.chat.completions.create(model="gpt-4o", messages=each) for each in texts))


asyncio.run(many())
print(said, last.output_text)
