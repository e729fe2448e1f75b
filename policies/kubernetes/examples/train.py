"""Training that may be preempted: saves at intervals and on SIGTERM, says so on its Job, starts from what it saved.

Run by training.yaml. Only the standard library; what it trains is a count of steps: put yours into `step`, and saving
its state into `save` and `load`.
"""

import json
import os
import signal
import ssl
import sys
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

FOLDER = Path(os.environ.get("CHECKPOINT_DIR", "/checkpoints"))
SECONDS = float(os.environ.get("CHECKPOINT_SECONDS", "1800"))
STEPS = int(os.environ.get("STEPS", "1000000"))
ACCOUNT = Path(os.environ.get("SERVICE_ACCOUNT_DIR", "/var/run/secrets/kubernetes.io/serviceaccount"))
API = os.environ.get("KUBERNETES_API", "https://kubernetes.default.svc")
FIRST = os.environ.get("JOB_COMPLETION_INDEX", "0") == "0"  # one of the pods saves for all

told_to_stop = False


def stop(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM: the loop saves and ends after the step that is under way."""
    global told_to_stop  # noqa: PLW0603 - a signal handler has nowhere else to leave a word
    told_to_stop = True


def load() -> int:
    """The step to go on from."""
    path = FOLDER / "state.json"
    return int(json.loads(path.read_text())["step"]) if path.exists() else 0


def save(step: int) -> None:
    """Whole or not at all: a kill in the middle leaves the checkpoint before."""
    if not FIRST:
        return
    new = FOLDER / "state.json.new"
    with new.open("w") as file:
        json.dump({"step": step}, file)
        file.flush()
        os.fsync(file.fileno())
    new.replace(FOLDER / "state.json")
    try:
        tell()
    except OSError as error:  # the work is saved, only the word of it is late
        sys.stderr.write(f"could not say that a checkpoint was saved: {error}\n")


def tell() -> None:
    """Write the annotation checkpoint-at on the own Job."""
    namespace = (ACCOUNT / "namespace").read_text().strip()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    body = {"metadata": {"annotations": {"gpu-quota-bot.io/checkpoint-at": now}}}
    request = urllib.request.Request(  # noqa: S310 - the API server's address
        f"{API}/apis/batch/v1/namespaces/{namespace}/jobs/{os.environ['JOB_NAME']}",
        data=json.dumps(body).encode(),
        method="PATCH",
        headers={
            "Authorization": f"Bearer {(ACCOUNT / 'token').read_text().strip()}",
            "Content-Type": "application/merge-patch+json",
        },
    )
    authority = ACCOUNT / "ca.crt"
    trust = ssl.create_default_context(cafile=str(authority)) if authority.exists() else None
    urllib.request.urlopen(request, timeout=10, context=trust).close()  # noqa: S310


def step(_number: int) -> None:
    """One step of training."""
    time.sleep(0.01)


def main() -> int:
    """0 when all steps are done, 143 when told to stop before."""
    signal.signal(signal.SIGTERM, stop)
    done, saved_at = load(), time.monotonic()
    sys.stdout.write(f"from step {done}\n")
    sys.stdout.flush()
    while done < STEPS and not told_to_stop:
        step(done)
        done += 1
        if time.monotonic() - saved_at >= SECONDS:
            save(done)
            saved_at = time.monotonic()
    save(done)
    sys.stdout.write(f"saved at step {done}\n")
    return 143 if told_to_stop else 0


if __name__ == "__main__":
    sys.exit(main())
