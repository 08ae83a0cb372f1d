"""Sends an exchange to a gateway."""

import http.client
import json
import ssl
from typing import Any, Optional
from urllib.parse import urlsplit

_MAX_ANSWER = 1024 * 1024
# Codes that speak of the server, not of the exchange.
_OF_THE_SERVER = {
    "E_NOT_FOUND",
    "E_METHOD_NOT_ALLOWED",
    "E_NOT_ALLOWED",
    "E_USAGE",
    "E_INTERNAL",
    "E_CANCELLED",
}

# Codes of calls whose history was erased, or that no history can hold from which they could be erased.
_MUST_GO = {"E_HISTORY_ERASED", "E_CALL_NOT_ERASABLE"}


class Outcome:
    """What became of an exchange: `recorded`, `refused`, `erased` (and nothing of it may be kept), `too large`, `away`.

    is_fault: the server fails, perhaps on this exchange alone.
    warning: why it is recorded elsewhere than it was asked.
    """

    def __init__(self, kind: str, reason: str = "", is_fault: bool = False, warning: Optional[str] = None) -> None:
        self.kind, self.reason, self.is_fault, self.warning = kind, reason, is_fault, warning


def post(url: str, exchange_id: str, body: bytes, timeout: float) -> Outcome:
    """Never raises: whatever is wrong with the server may be right later."""
    try:
        status, text = _post(f"{url}/api/exchanges", body, timeout)
    except Exception as error:
        return Outcome("away", str(error) or type(error).__name__)
    return outcome_of(exchange_id, status, text)


def post_several(url: str, exchanges: "list[tuple[str, bytes]]", timeout: float) -> "list[Outcome]":
    """What became of the first of them, as far as the server got; empty: it takes one at a time. Never raises."""
    try:
        body = b'{"exchanges":[' + b",".join(one for _, one in exchanges) + b"]}"
        status, text = _post(f"{url}/api/exchanges/batch", body, timeout)
    except Exception as error:
        return [Outcome("away", str(error) or type(error).__name__)]
    return outcomes_of([exchange_id for exchange_id, _ in exchanges], status, text)


def outcomes_of(ids: "list[str]", status: int, text: str) -> "list[Outcome]":
    """What an answer to several means."""
    whole = _object(text)
    results = whole.get("results")
    if status >= 500 or status == 429:
        return [_outcome_in("", status, whole)]
    if status != 200 or not isinstance(results, list):
        return []
    outcomes = []
    for exchange_id, result in zip(ids, results):
        if not isinstance(result, dict) or result.get("id") != exchange_id or not isinstance(result.get("status"), int):
            outcomes.append(Outcome("away", "it answers another call"))
            continue
        answer = result.get("answer")
        known = answer if isinstance(answer, dict) else {"error": result.get("error")}
        outcomes.append(_outcome_in(exchange_id, result["status"], known))
    return outcomes


def outcome_of(exchange_id: str, status: int, text: str) -> Outcome:
    """What an answer of HTTP means. Anything that is not of the contract is a server of another kind or version."""
    return _outcome_in(exchange_id, status, _object(text))


def _outcome_in(exchange_id: str, status: int, answer: "dict[str, Any]") -> Outcome:
    if status == 413:
        return Outcome("too large")
    if status == 200 and answer.get("attempt_id") == exchange_id:
        warning = answer.get("warning")
        return Outcome("recorded", warning=warning[:500] if isinstance(warning, str) else None)
    error = answer.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, str) or not code.startswith("E_"):
        return Outcome("away", f"it answers {status}, as no gateway of this version does")
    reason = f"{str(error.get('message'))[:500]} ({code})"
    if status >= 500 or status == 429 or code in _OF_THE_SERVER:
        return Outcome("away", reason, code == "E_INTERNAL")
    return Outcome("erased" if code in _MUST_GO else "refused", reason)


def _object(text: str) -> "dict[str, Any]":
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _post(url: str, body: bytes, timeout: float) -> "tuple[int, str]":
    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ValueError(f"{address.scheme or url[:40]} is no address of a gateway")
    connection: http.client.HTTPConnection
    if address.scheme == "https":
        connection = http.client.HTTPSConnection(
            address.hostname, address.port, timeout=timeout, context=ssl.create_default_context()
        )
    else:
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=timeout)
    try:
        headers = {"content-type": "application/json"}
        credentials = _authorization(address.username, address.password)
        if credentials is not None:
            headers["authorization"] = credentials
        connection.request("POST", address.path, body, headers)
        response = connection.getresponse()
        return response.status, response.read(_MAX_ANSWER).decode("utf-8", "replace")
    finally:
        connection.close()


def _authorization(user: Optional[str], password: Optional[str]) -> Optional[str]:
    if user is None:
        return None
    import base64

    return "Basic " + base64.b64encode(f"{user}:{password or ''}".encode()).decode()
