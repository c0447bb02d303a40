"""The conformance suite that every backend runs.

In a script::

    print(vkml.testing.backend_suite.run("vulkan"))

In a test module, where each case becomes a test and each refusal a skipped one::

    @pytest.mark.parametrize("case", backend_suite.cases(), ids=str)
    def test_backend(case):
        case.run(vkml.device("vulkan"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from vkml.device import DeviceLike, device
from vkml.testing.case import Case, Refused
from vkml.testing.memory import memory_cases
from vkml.testing.operations import operation_cases

__all__ = ["Case", "Refused", "Report", "cases", "run"]


@dataclass(frozen=True)
class Report:
    """What a device can do, cannot do, and does wrong.

    Attributes
    ----------
    passed : list of str
        Names of cases.
    refused : dict of str to str
        Cases that the device has no kernel for, with its reason.
    failed : dict of str to Exception
        Cases that went wrong, with the error.
    """

    device: str
    passed: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    failed: dict[str, Exception] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = (
            f"{len(self.passed)} passed, {len(self.refused)} refused, {len(self.failed)} failed"
        )
        lines = [f"{self.device}: {counts}"]
        lines += [f"  refused  {name}: {reason}" for name, reason in self.refused.items()]
        lines += [
            f"  FAILED   {name}: {type(error).__name__}: {error}"
            for name, error in self.failed.items()
        ]
        return "\n".join(lines)


def cases() -> list[Case]:
    """Return every case: about memory, and about every operation that is defined.

    Examples
    --------
    >>> from vkml.testing import backend_suite
    >>> "exp: transposed operands" in map(str, backend_suite.cases())
    True
    """
    return [*memory_cases(), *operation_cases()]


def run(
    on: DeviceLike,
    selected: Sequence[Case] | None = None,
    *,
    progress: Callable[[Case], None] | None = None,
) -> Report:
    """Run the cases on a device and return what came of them. Never raises for a failed case.

    Parameters
    ----------
    on : Device or str
        The device.
    selected : sequence of Case, optional
        Only these; all of `cases` by default.
    progress : callable, optional
        Called with each case before it runs.

    Raises
    ------
    DeviceError
        There is no such device.

    Examples
    --------
    >>> from vkml.testing import backend_suite
    >>> two = [case for case in backend_suite.cases() if str(case).startswith("exp: out")]
    >>> print(backend_suite.run("cpu", two))
    cpu: 2 passed, 0 refused, 0 failed
    """
    place = device(on)
    report = Report(str(place))
    for case in cases() if selected is None else selected:
        if progress is not None:
            progress(case)
        try:
            case.run(place)
        except Refused as refusal:
            report.refused[case.name] = str(refusal)
        except Exception as error:  # noqa: BLE001 - whatever a backend raises is the result
            report.failed[case.name] = error
        else:
            report.passed.append(case.name)
    return report
