"""Real clients: what they get is what they would have got, and what they sent is recorded byte for byte [calls §7.4]."""

import asyncio
import json
import os

import anthropic
import httpx
import openai
import servers
import stemma_recorder as stemma

KEY = "sk-proj-0penA1testKey"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


def files_hold(folder, text):
    return any(
        text.encode() in open(os.path.join(at, name), "rb").read() for at, _, names in os.walk(folder) for name in names
    )


def test_openai_is_recorded_byte_for_byte(setting, provider):
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)
    plain = openai.OpenAI(api_key=KEY, base_url=f"{provider.url}/v1")
    client = stemma.record(plain, calls=calls, history="talk")
    assert client is not plain and isinstance(client, openai.OpenAI)
    assert client.chat.completions.create(**ASKED).choices[0].message.content == "Yes."
    del plain
    stream = client.chat.completions.create(**ASKED, stream=True)
    assert "".join(chunk.choices[0].delta.content for chunk in stream) == "One two three"
    assert calls.flush()
    one, two = gateway.exchanges.values()
    assert [one["history"], one["request"]["path"], one["end"]["status"]] == ["talk", "/v1/chat/completions", "answered"]
    assert [each["request"]["body"]["text"] for each in (one, two)] == provider.bodies
    assert json.loads(one["end"]["response"]["body"]["text"]) == servers.CHAT
    assert two["end"]["response"]["body"]["text"].encode() == b"".join(servers.EVENTS)
    assert two["end"]["first_byte_ms"] <= two["end"]["duration_ms"]
    assert calls.status().recorded == 2 and setting.files() == []
    assert KEY not in json.dumps(list(gateway.exchanges.values()))


def test_async_openai_and_anthropic_are_recorded(setting, provider):
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)

    async def run():
        client = stemma.record(openai.AsyncOpenAI(api_key=KEY, base_url=f"{provider.url}/v1"), calls=calls)
        assert (await client.chat.completions.create(**ASKED)).choices[0].message.content == "Yes."
        stream = await client.chat.completions.create(**ASKED, stream=True)
        assert "".join([chunk.choices[0].delta.content async for chunk in stream]) == "One two three"
        claude = stemma.record(anthropic.AsyncAnthropic(api_key=KEY, base_url=provider.url), calls=calls)
        assert (await claude.messages.create(**ASKED, max_tokens=5)).content[0].text == "Yes."

    asyncio.run(run())
    client = stemma.record(anthropic.Anthropic(api_key=KEY, base_url=provider.url), calls=calls)
    assert client.messages.create(**ASKED, max_tokens=5).content[0].text == "Yes."
    assert calls.flush()
    found = list(gateway.exchanges.values())
    assert [one["request"]["path"] for one in found] == ["/v1/chat/completions"] * 2 + ["/v1/messages"] * 2
    assert [one["request"]["body"]["text"] for one in found] == provider.bodies
    assert {one["end"]["status"] for one in found} == {"answered"}


def test_errors_are_raised_as_before_and_recorded(setting, provider):
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)
    client = stemma.record(openai.OpenAI(api_key=KEY, base_url=f"{provider.url}/v1", max_retries=0), calls=calls)
    for text, error in (("refuse", openai.BadRequestError), ("forever", openai.APITimeoutError)):
        asked = {"model": "m", "messages": [{"role": "user", "content": text}]}
        try:
            client.with_options(timeout=0.2).chat.completions.create(**asked)
            raise AssertionError("no error")
        except error:
            pass
    away = stemma.record(openai.OpenAI(api_key=KEY, base_url="http://127.0.0.1:9/v1", max_retries=0), calls=calls)
    try:
        away.chat.completions.create(**ASKED)
        raise AssertionError("no error")
    except openai.APIConnectionError:
        pass
    assert calls.flush()
    ends = [one["end"] for one in gateway.exchanges.values()]
    assert [end["status"] for end in ends] == ["failed", "timed out", "failed"]
    assert [end["response"] and end["response"]["http_status"] for end in ends] == [400, 200, None]
    assert ends[2]["error"]["code"] == "ConnectError"


def test_whoever_leaves_a_stream_cancelled_it(setting, provider):
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)
    client = httpx.Client(transport=stemma.RecordingTransport(calls=calls, run="r"))
    url = f"{provider.url}/v1/chat/completions?key=QUERYKEY1"
    with client.stream("POST", url, json={**ASKED, "stream": True}) as response:
        assert next(response.iter_raw()) != b""
    assert client.get(f"{provider.url}/v1/models").status_code == 200
    assert client.post(url, json=ASKED).json() == servers.CHAT
    assert calls.flush()
    found = list(gateway.exchanges.values())
    assert [(one["run"], one["end"]["status"]) for one in found] == [("r", "cancelled"), ("r", "answered")]
    assert "QUERYKEY1" not in json.dumps(found)


def test_transports_wrap_others_and_responses_that_are_there_already(setting):
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)
    mock = httpx.MockTransport(lambda request: httpx.Response(200, json=servers.CHAT))
    client = httpx.Client(transport=stemma.RecordingTransport(mock, calls=calls))
    assert client.post("http://x/v1/responses", json=ASKED).json() == servers.CHAT

    async def run():
        async with httpx.AsyncClient(transport=stemma.AsyncRecordingTransport(mock, calls=calls)) as other:
            assert (await other.post("http://x/v1/messages", json=ASKED)).json() == servers.CHAT

    asyncio.run(run())
    recorded = stemma.record(httpx.Client(transport=mock), calls=calls)
    assert recorded.post("http://x/v1/chat/completions", json=ASKED).json() == servers.CHAT
    assert calls.flush()
    texts = [one["end"]["response"]["body"]["text"] for one in gateway.exchanges.values()]
    assert [json.loads(text) for text in texts] == [servers.CHAT] * 3


def test_a_client_of_an_unknown_kind_is_returned_as_it_is():
    said = []
    client = object()
    assert stemma.record(client, warn=said.append) is client
    assert len(said) == 1 and "RecordingTransport" in said[0]


def test_calls_that_a_program_says_itself_are_recorded_without_bytes(setting):
    """[calls §7.3]"""
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)

    class Message:
        def model_dump(self, exclude_none=False):
            return {"role": "assistant", "content": "Seen."}

    messages = [{"role": "user", "content": "Look."}, Message()]
    first = stemma.record_call(messages, model="local", tools=[{"type": "function"}], calls=calls, history="said")
    stemma.record_answer(first, answer="Yes.", usage={"input": 5, "output": 2}, finish_reason="stop", answer_id="resp_1")
    stemma.record_answer(first, error="too late")
    second = stemma.record_call(messages, parameters={"top_p": 1}, calls=calls)
    stemma.record_answer(second, error=ValueError("out of memory"))
    assert stemma.record_call([object()], calls=calls).id == ""
    stemma.record_answer(stemma.record_call(object(), calls=calls), answer="for nobody")
    assert calls.flush()
    one, two = gateway.exchanges.values()
    assert one["request"]["messages"] == [messages[0], {"role": "assistant", "content": "Seen."}]
    assert one["end"]["response"]["answer"] == {"role": "assistant", "content": "Yes."}
    assert one["end"]["response"]["usage"]["input"] == 5
    assert one["end"]["response"]["answer_id"] == "resp_1"
    assert (two["end"]["status"], two["end"]["error"]["message"]) == ("failed", "out of memory")
    assert calls.status().dropped == 2


def test_the_recorders_of_a_process_are_shared(setting, provider, monkeypatch):
    gateway = setting.gateway()
    monkeypatch.setenv("STEMMA_URL", gateway.url)
    monkeypatch.setenv("STEMMA_SPOOL", setting.spool)
    monkeypatch.setenv("STEMMA_HISTORY", "named")
    for _ in range(2):
        client = stemma.record(httpx.Client())
        assert client.post(f"{provider.url}/v1/chat/completions", json=ASKED).json() == servers.CHAT
    assert stemma.flush()
    assert (stemma.status().recorded, stemma.status().waiting) == (2, 0)
    assert {one["history"] for one in gateway.exchanges.values()} == {"named"}
    assert stemma.close() and stemma.status().recorded == 0


def test_options_that_nobody_knows_are_said_once_and_the_call_is_recorded(setting, provider, capsys):
    """[calls §7.4]"""
    said = []
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url, exit_timout=1)
    assert setting.said == ["open_call_recorder does not know exit_timout: nothing reads what stands there"]
    for _ in range(2):
        call = stemma.record_call([{"role": "user", "content": "Hi."}], calls=calls, histroy="x", warn=said.append)
        stemma.record_answer(call, answer="Yes.", finsh_reason="stop")
    assert said == ["record_call does not know histroy: nothing reads what stands there"]
    assert capsys.readouterr().err == "stemma: record_answer does not know finsh_reason: nothing reads what stands there\n"
    client = httpx.Client(transport=stemma.RecordingTransport(calls=calls, urll="x", warn=said.append))
    assert client.post(f"{provider.url}/v1/chat/completions", json={"model": "m"}).json() == servers.CHAT
    assert said[1:] == ["the recorder does not know urll: nothing reads what stands there"]
    assert calls.flush(30) and calls.status().recorded == 3
