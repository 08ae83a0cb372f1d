"""An agent whose calls are recorded: so many calls; then it ends, waits until it is killed, or waits inside a call."""

import os
import sys
import threading

import httpx
import stemma_recorder as stemma

provider, count, then = sys.argv[1], int(sys.argv[2]), sys.argv[3]
patience = float(os.environ.get("AGENT_EXIT_TIMEOUT", "120"))
client = httpx.Client(transport=stemma.RecordingTransport(exit_timeout=patience))


def ask(text):
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    return client.post(f"{provider}/v1/chat/completions", json=body, timeout=60)


for i in range(count):
    print(ask(f"Question {i} of {os.getpid()}").text, flush=True)
if then == "inside":
    threading.Thread(target=ask, args=("forever",), daemon=True).start()
if then != "end":
    print(then, flush=True)
    threading.Event().wait()
