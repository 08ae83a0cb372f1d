"""LangGraph's own checks of savers, all of them, against the gateway at `STEMMA_URL`."""

import asyncio
import uuid
from typing import Any

from langgraph.checkpoint.conformance import checkpointer_test, validate
from stemma_langgraph import StemmaSaver


@checkpointer_test(name="StemmaSaver")
async def stemma_saver() -> Any:
    yield StemmaSaver(prefix=f"t{uuid.uuid4().hex[:8]}-")


def test_passes_all_checks_of_langgraph() -> None:
    report = asyncio.run(validate(stemma_saver))
    assert {name: result.failures for name, result in report.results.items() if result.failures} == {}
    assert all(result.detected and result.passed for result in report.results.values())
    assert sum(result.tests_passed for result in report.results.values()) >= 70
