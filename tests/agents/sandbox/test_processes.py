"""The processes behind the sandboxes: kept warm, replaced, never left behind, and missed with a clear sentence."""

from datetime import UTC, datetime

from aggregate.agents.sandbox import run_python
from tests.processes import python


def test_a_missing_extra_is_named() -> None:
    """Without the extra a merge fails with the documented value and says what to install, as does analysis.

    Rules: O-9, D-92.
    """
    printed = python(
        """
        import sys
        from aggregate import LabelledOutput, execute_data_analysis, merge_outputs
        sys.modules["pydantic_monty"] = None
        print(merge_outputs([LabelledOutput("a")], "custom", custom_function="len(results)").errors[0])
        print(execute_data_analysis("result = 1", {}))
        """,
        PATH="",
    )
    assert printed.splitlines() == [
        "Custom merge function failed: Python code needs pydantic-monty: install manual-slop[sandbox]",
        "{'success': False, 'error': 'Python code needs pydantic-monty: install manual-slop[sandbox]', 'retry': False}",
    ]


def test_a_forked_child_does_not_answer_for_its_parent() -> None:
    """Monty, whose threads do not survive a fork, refuses in a forked child (O-9)."""
    printed = python(
        """
        import os
        from aggregate.base.errors import SandboxError
        from aggregate.agents.sandbox import run_python
        print(run_python("1", {}).value, flush=True)
        child = os.fork()
        if child == 0:
            try:
                run_python("2", {})
            except SandboxError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(run_python("3", {}).value)
        """
    )
    refusal = "Monty cannot run in a process that was forked after its use: start it with spawn"
    assert printed.splitlines() == ["1", refusal, "3"]


def test_the_same_code_gives_the_same_result() -> None:
    """The clock stands at the run's time and the random numbers begin at the same place (O-53)."""
    now = datetime(2031, 5, 6, 7, 8, 9, tzinfo=UTC)
    code = "import random\nfrom datetime import datetime\n[str(datetime.now()), random.random()]"
    for _ in range(2):
        assert run_python(code, {}, now=now).value == ["2031-05-06 07:08:09", 0.8444218515250481]


def test_inputs_of_any_size_pass() -> None:
    """Megabytes go through the pipes in both directions (O-52)."""
    value = ["x" * 1000] * 3000
    assert run_python("v", {"v": value}).value == value
