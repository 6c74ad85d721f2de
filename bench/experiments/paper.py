"""The numbers of the paper: its table of experimental results.

Limits were 300 s and 5 GB; 54 documents; averages over 5 repetitions. Rows below the systems are for
gringo+clasp only. Numbers of choices and conflicts were printed rounded (1M, 331K).
"""

from dataclasses import dataclass

K, M = 1_000, 1_000_000


@dataclass(frozen=True)
class Figures:
    """One row of the table; `None` where there is nothing to say."""

    memory_outs: float
    time_outs: float
    satisfied: float
    """Runs that found a solution and did not prove it optimal."""
    optimal: float
    percent: float
    """Runs with a solution proven optimal, of all runs."""
    seconds: float
    megabytes: float
    grounding: float | None = None
    gap: float | None = None
    """Average (UB-LB)/LB."""
    worst_gap: float | None = None
    choices: float | None = None
    conflicts: float | None = None


PAPER: dict[str, Figures] = {
    "clingo": Figures(20, 0, 111, 301, 70, 96, 738, 5.7),
    "gringo-clasp": Figures(20, 0, 111, 301, 70, 96, 695, 2.7),
    "gringo-wasp": Figures(34, 81, 89, 228, 53, 145, 1075, 2.6),
    "CM": Figures(4, 0, 87, 125, 58, 137, 567, 3.7, 6.8, 368.9, 1 * M, 331 * K),
    "MM": Figures(16, 0, 24, 176, 82, 54, 822, 1.6, 1.0, 84.7, 132 * K, 5 * K),
    "U": Figures(2, 0, 38, 68, 63, 125, 398, 1.8, 1.2, 15.2, 2 * M, 538 * K),
    "V": Figures(2, 0, 3, 103, 95, 24, 397, 1.8, 0.0, 0.0, 177 * K, 22 * K),
    "UA": Figures(8, 0, 58, 42, 39, 177, 994, 3.5, 14.4, 368.9, 606 * K, 99 * K),
    "VA": Figures(8, 0, 12, 88, 81, 58, 990, 3.5, 0.0, 0.6, 132 * K, 13 * K),
    "DS1 U CM": Figures(0, 0, 21, 0, 0, 300, 384, 2.8, 5.8, 15.2, 5 * M, 2 * M),
    "DS1 U MM": Figures(2, 0, 1, 18, 86, 36, 806, 1.0, 0, 0, 8 * K, 314),
    "DS1 UA CM": Figures(2, 0, 19, 0, 0, 282, 1474, 8.3, 37.1, 368.9, 1 * M, 338 * K),
    "DS1 UA MM": Figures(4, 0, 8, 9, 43, 136, 1206, 1.0, 5.9, 84.7, 458 * K, 38 * K),
    "DS2 V CM": Figures(0, 0, 2, 31, 94, 35, 166, 1.6, 0.0, 0.0, 465 * K, 69 * K),
    "DS2 V MM": Figures(0, 0, 0, 33, 100, 13, 376, 1.9, 0, 0, 70 * K, 35),
    "DS2 VA CM": Figures(0, 0, 7, 26, 79, 87, 506, 3.7, 0.0, 0.6, 323 * K, 39 * K),
    "DS2 VA MM": Figures(2, 0, 5, 26, 79, 64, 1034, 2.0, 0.0, 0.0, 84 * K, 134),
}
"""The paper's rows by the names ours have."""

SCENARIOS = (("ds1", ("u", "ua")), ("ds2", ("v", "va")))
"""The datasets with the objectives that the paper found practically relevant for them."""
