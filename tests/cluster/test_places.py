"""Which places a run has: the lines that are built, or the given cluster instead of them, or none, said out loud."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import programs as built
from tests.cluster.places import REAL
from tests.cluster.programs import LINES, ROOT
from tests.cluster.site import Site
from tests.support.outer import outer_environment


def _run(*what: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-n0", "-p", "no:cacheprovider", *what]
    env = outer_environment(**environ)
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=500)


@pytest.mark.parametrize("place", REAL[:1], indirect=True)
def test_a_given_cluster_serves_instead_of_the_lines(site: Site) -> None:
    """Tried with a control plane that the tests have started."""
    what = ("tests/cluster/test_reading.py", "tests/cluster/test_kueue_down.py", "--collect-only")
    kubeconfig = str(site.api.kubeconfig)
    collected = _run(*what, CLUSTER_KUBECONFIG=kubeconfig)
    assert collected.returncode == 0, collected.stdout
    assert not [line for line in LINES if line in collected.stdout]
    told = _run("tests/cluster/test_reading.py", "-k", "given", CLUSTER_KUBECONFIG=kubeconfig).stdout
    assert "PASSED tests/cluster/test_reading.py::test_who_wrote_the_quotas_last_is_read[given]" in told, told
    assert "\ngiven: 5 tests\n" in told
    assert "failed" not in told.splitlines()[-1]


@pytest.mark.parametrize(("ci", "status"), [("false", 0), ("true", 1)])
def test_with_neither_it_is_said_out_loud_and_fails_in_ci(tmp_path: Path, ci: str, status: int) -> None:
    what = ("tests/cluster/test_reading.py", "-k", "kueue or who_wrote")
    told = _run(*what, XDG_CACHE_HOME=str(tmp_path), CLUSTER_KUBECONFIG="", CI=ci)
    assert told.returncode == status, told.stdout
    for line in LINES:
        assert f"\n{line}: NOT RUN: the control plane of {line} is not built: scripts/control-plane.sh" in told.stdout
    skipped = "NOT RUN: 5 skipped" if ci == "false" else "skipped, and with CI=true nothing may be"
    assert skipped in told.stdout


@pytest.mark.parametrize(
    ("there", "kubernetes"),
    [(("kueue-0.19", "kubernetes-1.29"), "v1.29.15"), (("kueue-0.19",), "v1.36.3"), (("kubernetes-1.29",), "v1.29.15")],
)
def test_an_old_line_runs_on_the_best_kubernetes_that_is_built(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, there: tuple[str, ...], kubernetes: str
) -> None:
    versions = {"kueue-0.19": "k8s.io/kubernetes v1.36.3", "kubernetes-1.29": "k8s.io/kubernetes v1.29.15"}
    for line in (*there, "kueue-0.8"):
        (tmp_path / line).mkdir()
        (tmp_path / line / "versions").write_text(f"{versions.get(line, 'sigs.k8s.io/kueue v0.8.1')}\n")
    monkeypatch.setattr(built, "_place", tmp_path.joinpath)
    found = built.programs.__wrapped__("kueue-0.8")
    assert (found.kubernetes, found.kueue) == (kubernetes, "v0.8.1")
    assert found.control_plane.parent.name in there
