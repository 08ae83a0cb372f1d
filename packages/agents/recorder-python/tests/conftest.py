import os
import time

import pytest
import servers
import stemma_recorder as stemma


@pytest.fixture
def provider():
    made = servers.Provider()
    yield made
    made.close()


class Setting:
    """Recorders on one spool, and gateways."""

    def __init__(self, folder):
        self.folder, self.spool = str(folder), str(folder / "spool")
        self.said, self._opened = [], []

    def recorder(self, url, **options):
        options = {"directory": self.spool, "warn": self.said.append, "times": (0.01, 0.05, 5.0), **options}
        made = stemma.open_call_recorder(url=url, **options)
        self._opened.append(made)
        return made

    def gateway(self, port=0, **options):
        made = servers.Gateway(port, **options)
        self._opened.append(made)
        return made

    def server(self, answer, port=0):
        made = servers.Server(answer, port)
        self._opened.append(made)
        return made

    def files(self):
        return sorted(name for _, _, names in os.walk(self.spool) for name in names)

    def close(self):
        for one in self._opened:
            if isinstance(one, stemma.CallRecorder):
                one.close(0)
            else:
                try:
                    one.close()
                except OSError:
                    pass


@pytest.fixture
def setting(tmp_path):
    made = Setting(tmp_path)
    yield made
    made.close()


def until(condition, seconds=30.0):
    """Waits for a condition, with a deadline."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.005)


@pytest.fixture(name="until")
def until_fixture():
    return until
