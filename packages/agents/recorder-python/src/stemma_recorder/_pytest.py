"""What pytest finds once the package is installed: the fixture `stemma_rerun`."""

import pytest

from .rerun import rerun


@pytest.fixture
def stemma_rerun():
    """Runs an agent once more, answered from a recorded run: `stemma_rerun("run.stemma", "python", "agent.py")`."""
    return rerun
