"""The client that Anthropic publishes for Python."""
from anthropic import Anthropic

client = Anthropic()
MODEL = "claude-sonnet-4-5"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
tools = [
    {
        "name": "weather",
        "description": "The weather in a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
]
thinking = {"type": "enabled", "budget_tokens": 1024}
system = "You know the weather, everywhere: 天気."
messages = [
    {
        "role": "user",
        "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            {"type": "text", "text": "Where is this, and what is the weather?"},
        ],
    }
]
while True:
    with client.messages.stream(
        model=MODEL, max_tokens=2048, system=system, messages=messages, tools=tools, thinking=thinking
    ) as stream:
        message = stream.get_final_message()
    messages.append({"role": "assistant", "content": message.content})
    if message.stop_reason != "tool_use":
        break
    results = [
        {"type": "tool_result", "tool_use_id": part.id, "content": "21 °C"}
        for part in message.content
        if part.type == "tool_use"
    ]
    messages.append({"role": "user", "content": results})
messages.append({"role": "user", "content": "Say it again, please."})
last = client.messages.create(model=MODEL, max_tokens=512, system=system, messages=messages)
print(last.content[-1].text)
