"""A provider and a gateway as scripts say."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """A server on this machine; `answer(handler, body)` answers."""

    def __init__(self, answer, port=0):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler):
                body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
                answer(handler, body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *_):
                pass

        self._server = Quiet(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def send(handler, status, body, content_type="application/json", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("content-type", content_type)
    handler.send_header("content-length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


class Gateway:
    """Takes exchanges as the real one does: an id has one effect."""

    def __init__(self, port=0, is_older=False):
        self.exchanges = {}
        self.batches, self.is_older = [], is_older
        self.sent = []
        self._server = Server(self._answer, port)
        self.url, self.port = self._server.url, self._server.port

    def _answer(self, handler, body):
        sent = json.loads(body)
        if not handler.path.endswith("/batch"):
            send(handler, 200, self._take(sent))
        elif self.is_older:
            send(handler, 404, {"error": {"code": "E_NOT_FOUND", "message": "no"}})
        else:
            self.batches.append(len(sent["exchanges"]))
            taken = [(one["id"], self._take(one)) for one in sent["exchanges"]]
            send(handler, 200, {"results": [{"id": name, "status": 200, "answer": one, "error": None} for name, one in taken]})

    def _take(self, exchange):
        self.sent.append(exchange["id"])
        self.exchanges[exchange["id"]] = exchange
        return {"attempt_id": exchange["id"], "history": "h", "branch": "h", "branchId": 0, "match": "named"}

    @property
    def questions(self):
        """The bodies of the requests, sorted."""
        return sorted(one["request"]["body"]["text"] for one in self.exchanges.values())

    def close(self):
        self._server.close()


CHAT = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
}
MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Yes."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 5, "output_tokens": 2},
}
EVENTS = [
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"%s"},"finish_reason":null}]}\n\n'
    % word
    for word in (b"One", b" two", b" three")
] + [b"data: [DONE]\n\n"]


class Provider:
    """Speaks the chat and messages APIs, streams too; notes what it was asked."""

    def __init__(self):
        self.bodies = []
        self._server = Server(self._answer)
        self.url = self._server.url

    def _answer(self, handler, body):
        self.bodies.append(body.decode())
        if b'"stream":true' in body.replace(b" ", b""):
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.send_header("transfer-encoding", "chunked")
            handler.end_headers()
            for event in EVENTS:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        elif b"refuse" in body:
            send(handler, 400, {"error": {"message": "no", "type": "invalid_request_error", "code": "no"}})
        elif b"forever" in body:
            handler.send_response(200)
            handler.send_header("content-length", "100")
            handler.end_headers()
            handler.wfile.write(b"{")
            handler.wfile.flush()
            threading.Event().wait(60)
        else:
            send(handler, 200, MESSAGE if handler.path.endswith("/messages") else CHAT)

    def close(self):
        self._server.close()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
