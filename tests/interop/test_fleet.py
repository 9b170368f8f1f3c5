"""Two replicas behind HAProxy and Varnish, changed under load: a quick run of bench/fleet."""

from pathlib import Path

from bench.fleet.changes import CHANGES
from bench.fleet.marked_editions import make_editions
from bench.fleet.trial import make_trial
from bench.fleet.visitors import Pace

NAMES = (
    "both at once",
    "each replica is killed, one after the other",
    "the origin is killed while replicas fetch new data",
)
PACE = Pace(balancer_clients=2, cache_clients=2, rate=20, streams=1, pause=0.5)


def test_no_change_of_a_fleet_fails_or_mixes_an_answer_and_no_planned_one_cuts_any(tmp_path: Path) -> None:
    """New data during a rolling restart, killed replicas, and a killed origin."""
    changes = [change for change in CHANGES if change.name in NAMES]
    assert len(changes) == len(NAMES)
    editions = make_editions(tmp_path, stores=5000, count=3)
    trial = make_trial(tmp_path / "trial", editions, changes, replicas=2, pace=PACE)
    assert trial.missed == []
    assert all(outcome.complete for outcome in trial.outcomes)
    assert trial.compared > 100
