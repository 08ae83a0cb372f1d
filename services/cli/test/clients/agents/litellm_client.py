"""LiteLLM, which speaks to many providers."""
import json

import litellm

tools = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather in a city",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
for model in ("openai/gpt-4o", "anthropic/claude-sonnet-4-5"):
    chat = [
        {"role": "system", "content": f"You know the weather, everywhere: 天気, {model}."},
        {"role": "user", "content": f"The weather in Zürich, {model}?"},
    ]
    while True:
        message = litellm.completion(model=model, messages=chat, tools=tools).choices[0].message
        chat.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            chat.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps({"celsius": 21})})
    chat.append({"role": "user", "content": "Say it again, please."})
    said = ""
    for chunk in litellm.completion(model=model, messages=chat, tools=tools, stream=True):
        said += chunk.choices[0].delta.content or ""
    print(said)
