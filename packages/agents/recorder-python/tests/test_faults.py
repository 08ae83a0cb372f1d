"""Whatever happens to the server, the disk and the process: the agent is unharmed, and nothing that was kept is lost."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time

import httpx
import pytest
import servers
import stemma_recorder as stemma

AGENT = os.path.join(os.path.dirname(__file__), "agent.py")


def call(calls, provider, text):
    """Makes a call, and expects the provider's answer, whatever happens to its recording."""
    client = httpx.Client(transport=stemma.RecordingTransport(calls=calls))
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    assert client.post(f"{provider.url}/v1/chat/completions", json=body).json() == servers.CHAT
    return client.build_request("POST", "http://x", json=body).content.decode()


def test_calls_wait_while_the_server_is_away_and_are_recorded_when_it_is_back(setting, provider):
    """[calls §7.5]"""
    port = servers.free_port()
    calls = setting.recorder(f"http://127.0.0.1:{port}")
    asked = sorted(call(calls, provider, text) for text in ("One", "Two", "Three"))
    assert not calls.flush(0.1)
    status = calls.status()
    assert (status.waiting, status.recorded, status.dropped) == (3, 0, 0) and "refused" in status.last_error
    assert len(setting.said) == 1 and "they wait" in setting.said[0]
    assert [name.split(".")[-1] for name in setting.files()] == ["exchange"] * 3
    gateway = setting.gateway(port)
    assert calls.flush(30)
    assert gateway.questions == asked and setting.files() == [] and calls.status().last_error is None


@pytest.mark.parametrize("is_older", [False, True])
def test_what_waits_goes_out_together_or_one_at_a_time(is_older, setting, provider):
    """[calls §7.5]"""
    port = servers.free_port()
    calls = setting.recorder(f"http://127.0.0.1:{port}")
    asked = sorted(call(calls, provider, f"Question {n}") for n in range(70))
    assert not calls.flush(0.05)
    gateway = setting.gateway(port, is_older=is_older)
    assert calls.flush(60)
    assert gateway.questions == asked and setting.files() == [] and len(gateway.sent) == 70
    assert calls.status().recorded == 70
    assert max(gateway.batches, default=0) == (0 if is_older else 64)


def test_each_of_several_is_what_it_would_be_alone(setting, provider):
    """[calls §7.5]"""
    port = servers.free_port()
    calls = setting.recorder(f"http://127.0.0.1:{port}")
    for text in ("One", "Two", "Three", "Four", "Five", "Six"):
        call(calls, provider, text)
    assert not calls.flush(0.05)
    batches = []

    def answer(handler, body):
        sent = json.loads(body)
        if "exchanges" not in sent:
            servers.send(handler, 200, {"attempt_id": sent["id"]})
            return
        statuses = [200, 400, 503 if not batches else 200]
        batches.append(len(sent["exchanges"]))
        results = []
        for one, status in zip(sent["exchanges"], statuses):
            error = {"code": "E_COMMAND_INVALID" if status == 400 else "E_BUSY", "message": "no"}
            known = {"answer": {"attempt_id": one["id"]}} if status == 200 else {"error": error}
            results.append({"id": one["id"], "status": status, "answer": None, "error": None, **known})
        servers.send(handler, 200, {"results": results})

    setting.server(answer, port)
    assert calls.flush(30)
    status = calls.status()
    assert (status.recorded, status.refused, batches) == (4, 2, [5, 3])


def lost(handler, _):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def error(status, code):
    return lambda handler, _: servers.send(handler, status, {"error": {"code": code, "message": "no"}})


FAULTS = {
    "never answers": (lambda *_: time.sleep(1), "timed out"),
    "is full": (error(507, "E_IO"), "E_IO"),
    "is busy": (lambda handler, _: servers.send(handler, 503, b"busy"), "503"),
    "is older": (error(404, "E_NOT_FOUND"), "E_NOT_FOUND"),
    "is another program": (lambda handler, _: servers.send(handler, 200, b"<html>"), "answers 200"),
    "ends the connection": (lost, ""),
}


@pytest.mark.parametrize("what", FAULTS)
def test_nothing_is_lost_when_the_server(what, setting, provider, until):
    """[calls §7.4, §7.5]"""
    answer, said = FAULTS[what]
    server = setting.server(answer)
    calls = setting.recorder(server.url, times=(0.005, 0.02, 0.1))
    asked = call(calls, provider, "One")
    until(lambda: calls.status().last_error is not None)
    status = calls.status()
    assert said in status.last_error
    assert (status.waiting, status.recorded, status.dropped, status.refused) == (1, 0, 0, 0)
    server.close()
    gateway = setting.gateway(server.port)
    assert calls.flush(30)
    assert gateway.questions == [asked]


def test_a_refused_call_is_set_aside_and_the_next_recorder_sends_it_again(setting, provider):
    """[calls §7.5]"""
    gateway = servers.Gateway()

    def refuse(handler, body):
        if b"Two" in body:
            error(400, "E_COMMAND_INVALID")(handler, body)
        elif b"Three" in body:
            # It fails on this one whenever it gets it.
            error(500, "E_INTERNAL")(handler, body)
        else:
            gateway._answer(handler, body)

    server = setting.server(refuse)
    first = setting.recorder(server.url)
    asked = sorted(call(first, provider, text) for text in ("One", "Two", "Three", "Four"))
    assert first.close(30)
    assert (first.status().recorded, first.status().refused) == (2, 2)
    assert setting.said[0] == "a call cannot be recorded: no (E_COMMAND_INVALID)"
    server.close()
    again = setting.server(gateway._answer, server.port)
    assert setting.recorder(again.url).flush()
    assert gateway.questions == asked and setting.files() == []
    gateway.close()


def test_a_call_is_recorded_once_when_the_answer_of_the_server_is_lost(setting, provider):
    """[calls §7.2]"""
    gateway = servers.Gateway()
    tries = []

    def answer(handler, body):
        tries.append(1)
        if len(tries) < 3:
            gateway.exchanges[json.loads(body)["id"]] = json.loads(body)
            lost(handler, body)
        else:
            gateway._answer(handler, body)

    calls = setting.recorder(setting.server(answer).url)
    asked = call(calls, provider, "One")
    assert calls.flush(30)
    assert (len(tries), gateway.questions) == (3, [asked])
    gateway.close()


def test_what_finds_no_room_is_counted_and_said(setting, provider):
    """[calls §7.6]"""
    calls = setting.recorder(f"http://127.0.0.1:{servers.free_port()}", limit=2_500)
    for i in range(6):
        call(calls, provider, f"Question {i}")
    status = calls.status()
    assert status.waiting + status.dropped == 6 and status.dropped > 1 and status.waiting > 0
    assert len([said for said in setting.said if "2500 bytes" in said]) == 1


def test_where_no_file_can_be_written_calls_wait_in_memory(setting, provider, tmp_path):
    """[calls §7.6]"""
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url, directory=str(blocked / "spool"))
    asked = call(calls, provider, "One")
    assert calls.flush()
    assert gateway.questions == [asked] and calls.status().directory is None
    assert len(setting.said) == 1 and "wait in memory" in setting.said[0]


def test_files_are_for_their_owner_alone_and_a_full_disk_is_no_fault_of_the_agent(setting, provider, monkeypatch):
    """[calls §7.5, §7.6]"""
    gateway = setting.gateway()
    calls = setting.recorder(f"http://127.0.0.1:{servers.free_port()}")
    call(calls, provider, "One")
    folder = calls.status().directory
    (file,) = os.listdir(folder)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.join(folder, file)).st_mode) == 0o600
    full = setting.recorder(gateway.url)

    def replace(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", replace)
    asked = call(full, provider, "Two")
    assert full.flush() and gateway.questions == [asked]
    assert "No space left" in setting.said[-1]


def test_damaged_files_are_set_aside_and_said_and_the_rest_is_sent_once(setting, provider):
    """[calls §7.5]"""
    port = servers.free_port()
    first = setting.recorder(f"http://127.0.0.1:{port}")
    asked = [call(first, provider, text) for text in ("One", "Two", "Three", "Four")]
    first.close(0)
    paths = sorted(os.path.join(at, name) for at, _, names in os.walk(setting.spool) for name in names)
    with open(paths[1], "r+b") as file:
        file.truncate(os.path.getsize(paths[1]) - 5)
    with open(paths[2], "r+b") as file:
        file.seek(200)
        file.write(b"\x00")
    with open(os.path.join(os.path.dirname(paths[0]), "half.tmp"), "w") as file:
        file.write("st")
    gateway = setting.gateway(port)
    assert setting.recorder(f"http://127.0.0.1:{port}").flush(30)
    assert gateway.questions == sorted([asked[0], asked[3]])
    assert len([said for said in setting.said if "damaged" in said]) == 1
    assert [name.split(".")[-1] for name in setting.files()] == ["damaged"] * 2


@pytest.mark.parametrize("what", ["a pipe", "a folder", "an endless device", "nothing"])
def test_what_is_no_file_is_set_aside_and_said_and_the_rest_is_sent(what, setting, provider, tmp_path):
    """[calls §7.5]"""
    port = servers.free_port()
    first = setting.recorder(f"http://127.0.0.1:{port}")
    asked = [call(first, provider, text) for text in ("One", "Two", "Three")]
    first.close(0)
    path = sorted(os.path.join(at, name) for at, _, names in os.walk(setting.spool) for name in names)[1]
    os.remove(path)
    if what == "a pipe":
        os.mkfifo(path)
    elif what == "a folder":
        os.mkdir(path)
    else:
        os.symlink("/dev/zero" if what == "an endless device" else str(tmp_path / "nothing"), path)
    gateway = setting.gateway(port)
    assert setting.recorder(f"http://127.0.0.1:{port}").flush(30)
    assert gateway.questions == sorted([asked[0], asked[2]])
    assert len([said for said in setting.said if "damaged" in said]) == 1


def test_a_link_in_the_place_of_a_folder_that_a_process_left_is_not_followed(setting, provider, tmp_path):
    """[calls §7.5]"""
    port = servers.free_port()
    first = setting.recorder(f"http://127.0.0.1:{port}")
    call(first, provider, "One")
    first.close(0)
    outside = tmp_path / "outside"
    [left] = [at for at, _, names in os.walk(setting.spool) if names]
    os.rename(left, outside)
    (outside / "mine.tmp").write_text("mine")
    os.symlink(outside, left)
    gateway = setting.gateway(port)
    assert setting.recorder(f"http://127.0.0.1:{port}").flush(30)
    assert gateway.questions == [] and (outside / "mine.tmp").read_text() == "mine"


def test_secrets_are_never_written_and_without_readable_rules_nothing_is(setting, provider):
    """[calls §7.7]"""
    rules = [{"name": "badge", "pattern": r"badge (B-\d{6})"}]
    calls = setting.recorder(f"http://127.0.0.1:{servers.free_port()}", redact=rules)
    call(calls, provider, "My badge B-123456 is here")
    (path,) = [os.path.join(at, name) for at, _, names in os.walk(setting.spool) for name in names]
    text = open(path, encoding="utf-8").read()
    assert "B-123456" not in text and "badge [redacted:badge] is here" in text
    none = setting.recorder("http://127.0.0.1:9", redact=[{"name": "x", "pattern": "("}])
    call(none, provider, "My badge B-123456 is here")
    assert none.status().dropped == 1 and any("no call is recorded" in said for said in setting.said)


def run(setting, provider, url, count, then, patience=120):
    """patience: seconds that it waits for the server when it ends; a machine may be slow."""
    own = {"STEMMA_URL": url, "STEMMA_SPOOL": setting.spool, "AGENT_EXIT_TIMEOUT": str(patience)}
    variables = {**os.environ, **own}
    command = [sys.executable, AGENT, provider.url, str(count), then]
    return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read_until(child, word):
    for line in child.stdout:
        if line.strip() == word:
            return
    raise AssertionError(child.stderr.read())


def test_a_process_that_ends_has_sent_its_calls_and_never_hangs(setting, provider):
    """[calls §7.4]"""
    gateway = setting.gateway()
    out, said = run(setting, provider, gateway.url, 2, "end").communicate(timeout=60)
    assert (out.count("Yes."), said, len(gateway.exchanges)) == (2, "", 2)
    silent = setting.server(lambda *_: time.sleep(60))
    for url in (f"http://127.0.0.1:{servers.free_port()}", silent.url):
        out, said = run(setting, provider, url, 2, "end", patience=2).communicate(timeout=30)
        assert out.count("Yes.") == 2 and said.count("stemma:") <= 1
    assert len(setting.files()) == 4


def test_a_killed_process_loses_nothing_and_the_next_one_sends_it(setting, provider, until):
    """[calls §7.5]"""
    port = servers.free_port()
    url = f"http://127.0.0.1:{port}"
    child = run(setting, provider, url, 3, "inside")
    read_until(child, "inside")
    until(lambda: any(name.endswith(".open") for name in setting.files()))
    child.send_signal(signal.SIGKILL)
    child.wait()
    gateway = setting.gateway(port)
    run(setting, provider, url, 1, "end").communicate(timeout=60)
    ends = [one["end"] for one in gateway.exchanges.values()]
    assert [end and end["status"] for end in ends].count("answered") == 4 and ends.count(None) == 1
    assert setting.files() == []


def test_processes_share_a_spool_and_send_each_call_once(setting, provider):
    """[calls §7.8]"""
    port = servers.free_port()
    url = f"http://127.0.0.1:{port}"
    two = [run(setting, provider, url, 3, "all-answered") for _ in range(2)]
    for child in two:
        read_until(child, "all-answered")
        child.send_signal(signal.SIGKILL)
        child.wait()
    gateway = setting.gateway(port)
    three = [run(setting, provider, url, 2, "end") for _ in range(3)]
    for child in three:
        child.communicate(timeout=60)
    assert len(gateway.exchanges) == 12 and len(gateway.sent) == 12
    assert setting.files() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_folder_of_its_own(setting, provider):
    """[calls §7.8]"""
    gateway = setting.gateway()
    calls = setting.recorder(gateway.url)
    call(calls, provider, "Before")
    assert calls.flush()
    child = os.fork()
    if child == 0:
        try:
            call(calls, provider, "In the child")
            os._exit(0 if calls.flush(30) else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    call(calls, provider, "In the parent")
    assert calls.flush()
    assert len(gateway.questions) == 3
