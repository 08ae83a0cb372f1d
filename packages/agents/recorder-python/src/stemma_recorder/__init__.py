"""Records an agent's calls to models on a Stemma server. The calls go straight to the provider."""

from ._client import record
from ._recorder import CallRecorder, RecorderStatus, open_call_recorder
from ._said import RecordedCall, record_answer, record_call
from ._shared import close, flush, status
from ._transport import AsyncRecordingTransport, RecordingTransport

__all__ = [
    "AsyncRecordingTransport",
    "CallRecorder",
    "RecordedCall",
    "RecorderStatus",
    "RecordingTransport",
    "close",
    "flush",
    "open_call_recorder",
    "record",
    "record_answer",
    "record_call",
    "status",
]
