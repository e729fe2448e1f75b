"""The rules of the house hold, and each of their checks bites on a planted example."""

import configparser
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import house
from tests.support.house import ROOT, Sources

Search = Callable[[Sources], Iterator[str]]

RULES: dict[Search, Callable[[], Sources]] = {
    house.long_modules: lambda: house.python_sources("bot"),
    house.long_functions: lambda: house.python_sources("bot"),
    house.modules_without_docstring: lambda: house.python_sources("bot"),
    house.names_no_module: lambda: house.python_sources("bot"),
    house.called_by_nobody: lambda: house.python_sources("bot"),
    house.asks_the_world: lambda: house.python_sources("bot"),
    house.sleeps: lambda: house.python_sources("tests"),
    house.fixed_ports: lambda: house.python_sources("tests"),
    house.forbidden_texts: house.tracked_texts,
}


@pytest.mark.parametrize("search", RULES, ids=lambda search: search.__name__)
def test_the_house_keeps_its_rules(search: Search) -> None:
    try:
        sources = RULES[search]()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git, or no git repository: which files are tracked is not known")
    assert sources, "nothing was searched"
    assert list(search(sources)) == []


def _function(lines: int) -> str:
    return "def planted():\n" + "    pass\n" * (lines - 1)


HOST = "127.0.0.1"


@pytest.mark.parametrize(
    ("search", "path", "text"),
    [
        (house.long_modules, "bot/flows/x.py", "\n" * 301),
        (house.long_modules, "bot/views/x.py", "\n" * 401),
        (house.long_functions, "bot/flows/x.py", _function(41)),
        (house.long_functions, "bot/core/x.py", _function(31)),
        (house.modules_without_docstring, "bot/x.py", "import os"),
        (house.names_no_module, "bot/x.py", '"""Called by flows/nothing_here."""'),
        (house.names_no_module, "bot/x.py", "class A:\n    b: int\n    'See bot/core/nothing.py.'"),
        (house.names_no_module, "bot/x.py", "x = 1  # as core/nothing does"),
        (house.names_no_module, "bot/x.py", '"""Built by app.py."""'),
        (house.called_by_nobody, "bot/core/x.py", "def planted(): ..."),
        (house.called_by_nobody, "bot/ports/x.py", "class A(Protocol):\n    def planted(self): ..."),
        (house.asks_the_world, "bot/core/x.py", "from datetime import datetime as dt, UTC\nnow = dt.now(UTC)"),
        (house.asks_the_world, "bot/flows/x.py", "import datetime\ndef f(clock=datetime.datetime.utcnow): ..."),
        (house.asks_the_world, "bot/flows/x.py", "from time import time\ntime()"),
        (house.asks_the_world, "bot/chat/x.py", "from uuid import uuid4\ndef f():\n    return str(uuid4())"),
        (house.asks_the_world, "bot/workers.py", "import random as chance\nchance.random()"),
        (house.sleeps, "tests/x.py", "import time\ntime.sleep(0.1)"),
        (house.sleeps, "tests/x.py", "from time import sleep as nap\nnap(1)"),
        (house.fixed_ports, "tests/x.py", f"bind(('{HOST}', 8080))"),
        (house.fixed_ports, "tests/x.py", "serve(http_port=8080)"),
        (house.fixed_ports, "tests/x.py", f"get(f'http://{HOST}:80' '80/{{path}}')"),
        (house.forbidden_texts, "a.txt", "--index-url https://py" + "pi.org/simple"),
        (house.forbidden_texts, "a.txt", "see /wo" + "rk/shared/notes.md"),
        (house.forbidden_texts, "a.txt", "prefix=/ro" + "ot/.cache"),
    ],
)
def test_a_broken_rule_is_found(search: Search, path: str, text: str) -> None:
    assert len(list(search({path: text}))) == 1


@pytest.mark.parametrize(
    ("search", "path", "text"),
    [
        (house.long_modules, "bot/views/x.py", "\n" * 400),
        (house.long_functions, "bot/flows/x.py", _function(40)),
        (house.asks_the_world, "bot/adapters/system_clock.py", "from uuid import uuid4\nuuid4()"),
        (house.asks_the_world, "bot/flows/x.py", "def f(random, clock):\n    return random.random(), clock.now()"),
        (house.names_no_module, "bot/x.py", '"""flows/cards, core/policy and demo/kube; core."""\nx = "core/v1"'),
        (house.called_by_nobody, "bot/core/x.py", "def planted(): ...\nplanted()"),
        (house.called_by_nobody, "bot/cli/x.py", "@app.command()\ndef planted(): ..."),
        (house.called_by_nobody, "bot/app/x.py", "class A(Collector):\n    def collect(self): ..."),
        (house.called_by_nobody, "bot/demo/slack/x.py", "def planted(): ..."),
        (house.fixed_ports, "tests/x.py", f"bind(('{HOST}', 0), port=server.port)"),
        (house.sleeps, "tests/x.py", "def test_f(clock):\n    clock.sleep(1)"),
        (
            house.forbidden_texts,
            "a.txt",
            "https://example.org/work/shared, .venv/root/.cache, cohort /root/research/llm",
        ),
    ],
)
def test_a_rule_leaves_alone_what_it_is_not_about(search: Search, path: str, text: str) -> None:
    assert list(search({path: text})) == []


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    arguments = [sys.executable, "-c", command, "--no-logo", "--no-cache"]
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


PLANTED = {
    "bot/core/planted.py": ("bot.flows", "os", "logging", "bot.resources"),
    "bot/views/planted.py": ("bot.adapters", "slack_sdk", "threading", "bot.resources"),
    "bot/flows/planted.py": ("bot.settings", "bot.adapters", "sqlmodel", "slack_sdk", "kubernetes"),
    "bot/adapters/planted.py": ("bot.flows", "bot.chat", "bot.settings"),
    "bot/chat/planted.py": ("bot.adapters", "bot.settings", "kubernetes"),
    "bot/resources.py": ("bot.settings", "bot.views"),
    "bot/settings/planted.py": ("bot.demo",),
    "bot/demo/kube/planted.py": ("bot.core", "bot.settings", "bot.demo.slack"),
    "bot/demo/slack/planted.py": ("bot.views", "bot.adapters", "bot.flows"),
}


def test_the_contracts_bite(tmp_path: Path) -> None:
    """Every planted import is reported, and so is a module that no layer has a place for."""
    shutil.copy(ROOT / ".importlinter", tmp_path)
    shutil.copytree(ROOT / "bot", tmp_path / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    for path, imports in PLANTED.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).with_name("__init__.py").touch()
        with (tmp_path / path).open("a") as module:
            module.write("".join(f"\nimport {name}" for name in imports))
    done = _lint_imports(tmp_path)
    reported = set(re.findall(r"([\w.]+) -> ([\w.]+)", done.stdout))
    expected = {(_module(path), name) for path, names in PLANTED.items() for name in names}
    assert done.returncode == 1, done.stdout + done.stderr
    assert expected - reported == set()


def test_a_module_without_a_layer_is_reported(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".importlinter", tmp_path)
    shutil.copytree(ROOT / "bot", tmp_path / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "bot/stray.py").touch()
    done = _lint_imports(tmp_path)
    assert done.returncode == 1
    assert "stray" in done.stdout


def test_the_tree_as_it_is_keeps_the_contracts() -> None:
    done = _lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _children(package: str) -> set[str]:
    """The modules and packages right below `package`, as dotted names."""
    folder = ROOT / package.replace(".", "/")
    found = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return {f"{package}.{path.stem}" for path in found} - {f"{package}.__init__", f"{package}.__main__"}


def _contract(name: str, option: str) -> set[str]:
    """The modules that an option of a contract names, optional or not."""
    config = configparser.ConfigParser()
    config.read(ROOT / ".importlinter")
    return set(re.findall(r"[\w.]+", config[f"importlinter:contract:{name}"][option]))


def test_the_simulators_contract_names_every_module_of_ours_and_every_simulator() -> None:
    """In bot/demo only `run` and the scripts meet the bot; all else there is the world outside."""
    meeting = {name for name in _children("bot.demo") if re.match(r"bot\.demo\.(run|script)", name)}
    named = _contract("simulators", "layers")
    assert (_children("bot") - {"bot.demo"}) | (_children("bot.demo") - meeting) <= named


def test_the_vendors_contract_names_every_module_that_has_no_vendor() -> None:
    without = {"bot.flows", "bot.ports", "bot.workers", "bot.jobs", "bot.watch"}
    assert _contract("vendors", "source_modules") == without & _children("bot"), "say so in .importlinter"


def _locked(name: str) -> dict[str, str]:
    """Package -> version (with its marker) in requirements/<name>.txt."""
    text = (ROOT / f"requirements/{name}.txt").read_text()
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(.+?) \\$", text, re.MULTILINE))


def test_the_locks_cover_what_pyproject_asks_for_and_agree_on_every_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    asked = {"run": project["project"]["dependencies"], **groups}
    everything = _locked("test") | _locked("check")
    for name, requirements in asked.items():
        lock = _locked(name)
        packages = {re.split(r"[^\w.-]", item)[0].lower() for item in requirements if isinstance(item, str)}
        assert packages <= lock.keys(), f"requirements/{name}.txt is behind pyproject.toml: make lock"
        assert lock.items() <= everything.items(), f"requirements/{name}.txt has a version of its own: make lock"
        if name != "build":
            assert _locked("run").items() <= lock.items()


@pytest.mark.parametrize("name", ["run", "test", "check", "build"])
def test_a_lock_holds_hashes_for_everything_and_says_no_index(name: str) -> None:
    text = (ROOT / f"requirements/{name}.txt").read_text()
    entries = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert len(entries) == len(_locked(name)) > 0
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in text
    assert "index" not in text


def test_the_image_is_built_from_what_is_there_and_runs_as_nobody_in_particular() -> None:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = text.splitlines()
    copied = [word for line in lines if re.match(r"COPY (?!--from)", line) for word in line.split()[1:-1]]
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {f"!{name.partition('/')[0]}" for name in copied} <= set(ignored)
    assert [line for line in lines if line.startswith("USER")][-1].split()[1].partition(":")[0].isdigit()
    assert all("--require-hashes" in line or "--no-deps" in line for line in lines if "pip install" in line)
    assert 'ENTRYPOINT ["gpu-quota-bot"]' in lines
    assert "index" not in text


def test_the_ci_script_can_be_run() -> None:
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
