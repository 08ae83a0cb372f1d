"""Commands and questions to a gateway over HTTP."""

import http.client
import json
import threading
import time
from typing import Any, Optional
from urllib.parse import quote, urlencode, urlsplit

from ._errors import StemmaError, error_of

_TRIES = 5
_AGAIN = {"E_IO", "E_OUTCOME_UNKNOWN", "E_BUSY", "E_ROWS_BEHIND", "E_TOO_MANY_REQUESTS"}


class Gateway:
    """Each question is asked up to 5 times; a command has one effect, however often it arrives."""

    def __init__(self, url: str, timeout: float) -> None:
        self.url = url.rstrip("/")
        self._parts = urlsplit(self.url)
        self._timeout = timeout
        self._local = threading.local()

    def start(self, body: "dict[str, Any]") -> Any:
        return self._ask("POST", "/api/histories", body)

    def command(self, branch: str, body: "dict[str, Any]") -> Any:
        return self._ask("POST", f"/api/histories/{quote(branch, safe='')}/commands", body)

    def history(self, history: str) -> Any:
        return self._ask("GET", f"/api/histories/{quote(history, safe='')}")

    def branches(self, history: str) -> Any:
        return self._ask("GET", f"/api/histories/{quote(history, safe='')}/branches")

    def histories(self, **query: Any) -> Any:
        return self._ask("GET", f"/api/histories?{urlencode(query)}")

    def export(self, history: str, at: str) -> Any:
        return self._ask("GET", f"/api/histories/{quote(history, safe='')}/export?{urlencode({'at': at})}")

    def events(self, history: str, **query: Any) -> Any:
        return self._ask("GET", f"/api/histories/{quote(history, safe='')}/events?{urlencode(query)}")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        for tries in range(1, _TRIES + 1):
            try:
                return self._once(method, path, body)
            except StemmaError as error:
                if error.code not in _AGAIN or tries == _TRIES:
                    raise
                time.sleep(min(0.1 * 2 ** (tries - 1), 1.6))
        raise AssertionError

    def _once(self, method: str, path: str, body: Any) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        headers = {"accept": "application/json", **({} if sent is None else {"content-type": "application/json"})}
        try:
            connection = self._connection()
            connection.request(method, self._parts.path + path, body=sent, headers=headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as cause:
            self._close()
            raise StemmaError(
                "E_IO",
                f"the gateway at {self.url} does not answer: start it with `stemma up`, or give its url to StemmaSaver",
            ) from cause
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if response.status >= 400 or answer is None:
            raise error_of(response.status, answer)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        """One for each thread, which stays open."""
        known: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        if known is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            known = kind(self._parts.hostname or "127.0.0.1", self._parts.port, timeout=self._timeout)
            self._local.connection = known
        return known

    def _close(self) -> None:
        known: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        self._local.connection = None
        if known is not None:
            known.close()
