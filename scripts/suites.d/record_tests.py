"""A plugin of pytest's for scripts/python-suites: keeps some tests, and notes how each ended at once.

RECORD is the file of notes, one JSON object a line: a test's id and when it begins, or how it ended. Tests that
have an end there are left out, so that a run which was stopped goes on. KEEP is N of "one in N by hash of the id",
TEST_SECONDS what a test may take (the process ends after it), PART_ENDS when no test begins any more (UNIX time).
"""
import faulthandler
import json
import os
import time
import zlib

import pytest

RECORD = os.environ["RECORD"]
TEST_SECONDS = float(os.environ["TEST_SECONDS"])


def note(**what):
    with open(RECORD, "a") as file:
        file.write(json.dumps(what) + "\n")


def kept(item):
    return zlib.crc32(item.nodeid.encode()) % int(os.environ["KEEP"]) == 0 and not list(item.iter_markers("multi_gpu"))


class Recorder:
    def __init__(self):
        self.outcome, self.reason = "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        with open(RECORD) as file:
            ended = {found["id"] for found in map(json.loads, file) if "outcome" in found}
        items[:] = [item for item in items if kept(item) and item.nodeid not in ended]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        if time.time() > float(os.environ["PART_ENDS"]):
            pytest.exit("the time of this part is over", returncode=0)
        self.outcome, self.reason = "passed", ""
        note(id=item.nodeid, begins=time.time())
        faulthandler.dump_traceback_later(TEST_SECONDS, exit=True)
        answer = yield
        faulthandler.cancel_dump_traceback_later()
        note(id=item.nodeid, outcome=self.outcome, reason=self.reason)
        return answer

    def pytest_runtest_logreport(self, report):
        if report.failed and self.outcome != "failed":
            text = getattr(report.longrepr, "reprcrash", None)
            self.outcome = "failed"
            message = text.message if text else str(report.longrepr)
            # What CuPy compares with NumPy tells the error itself at the end.
            self.reason = message if len(message) < 1000 else f"{message[:300]} ... {message[-700:]}"
        elif report.skipped and self.outcome == "passed":
            # What is expected to fail and does is as it should be.
            self.outcome = "passed" if hasattr(report, "wasxfail") else "skipped"
            self.reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)[:300]


def pytest_configure(config):
    config.pluginmanager.register(Recorder())
