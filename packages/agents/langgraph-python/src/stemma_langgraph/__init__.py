"""A checkpointer of LangGraph that keeps each thread as a history of Stemma."""

from ._errors import StemmaError
from ._saver import StemmaSaver

__all__ = ["StemmaError", "StemmaSaver"]
