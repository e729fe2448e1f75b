"""The house rules that no linter knows, as searches over source text. tests/test_house.py shows that they bite.

Each search takes sources (path -> text) and yields one line per finding, "path:line what".
"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

Sources = Mapping[str, str]

# Time, ids and chance come in as arguments; these few places are where they come from.
MAY_ASK_THE_WORLD = {
    "bot/adapters/system_clock.py": "the one asker of the time and maker of ids",
    "bot/app/": "hands the clock and the ids to all others",
    "bot/demo/": "stands for the world outside, which has a clock of its own",
}
ASKING_THE_WORLD = re.compile(
    r"datetime\.datetime\.(now|utcnow|today)|datetime\.date\.today|time\.(time|time_ns|localtime|gmtime)"
    r"|uuid\.uuid\d|random\.\w+|secrets\.\w+|os\.urandom"
)
SLEEPING = re.compile(r"time\.sleep|asyncio\.sleep")
LOOPBACK = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1)"
FIXED_PORT = re.compile(rf"\[?{LOOPBACK}\]?:[1-9]\d*")

LAYERS = "adapters|app|chat|cli|core|demo|flows|ports|settings|views"
MODULE_OF_OURS = re.compile(
    rf"(?<![\w/.-])(?:bot/)?((?:{LAYERS})/[a-z_]\w*(?:/[a-z_]\w*)*(?:\.py)?)|(?<![\w/.])(app\.py)\b"
)
SIMULATORS = ("bot/demo/kube/", "bot/demo/slack/")
"""Their controls (a fault, a person's hand) are for whoever plays with them, most of it the tests."""
CALLED_FROM_OUTSIDE = {
    "documented": "the settings' reference, which the tests compare with docs/ and deploy/",
    "rebuild": "a whole database from the annotations; so far only the explorer of tests/core/convergence asks for it",
}

# In pieces, so that this file is not a finding of its own.
FORBIDDEN_TEXT = {
    "a package registry's host": re.compile(r"pypi\.(?:org|io)|python" + r"hosted\.org|npm" + r"js\.(?:org|com)"),
    "a path of one machine": re.compile(
        r"(?<![\w.$}/-])/(?:" + r"work/(?:main|shared|tools|wt)|root/\.\w|home/\w+/|Users/\w+/)"
    ),
}


def python_sources(folder: str, root: Path = ROOT) -> dict[str, str]:
    """Every module under `folder`, by its path from `root`."""
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted((root / folder).rglob("*.py"))}


def tracked_texts(root: Path = ROOT) -> dict[str, str]:
    """Every text file that git tracks or would with the next `git add`. Without git: OSError or CalledProcessError."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    texts = {}
    for name in filter(None, listed.split("\0")):
        data = (root / name).read_bytes() if (root / name).is_file() else b"\0"
        if b"\0" not in data:
            texts[name] = data.decode(errors="replace")
    return texts


def long_modules(sources: Sources) -> Iterator[str]:
    for path, text in sources.items():
        limit = 400 if path.startswith(("bot/views/", "bot/demo/")) else 300
        if (lines := len(text.splitlines())) > limit:
            yield f"{path}:1 {lines} lines, at most {limit}"


def long_functions(sources: Sources) -> Iterator[str]:
    for path, text in sources.items():
        limit = 30 if path.startswith("bot/core/") else 40
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > limit:
                    yield f"{path}:{node.lineno} {node.name} has {lines} lines, at most {limit}"


def modules_without_docstring(sources: Sources) -> Iterator[str]:
    for path, text in sources.items():
        module = ast.parse(text)
        if module.body and not ast.get_docstring(module):
            yield f"{path}:1 does not say what it is for"


def names_no_module(sources: Sources) -> Iterator[str]:
    """`flows/x`, `chat/x` and so on in a docstring or a comment, where there is no such module or folder."""
    for path, text in sources.items():
        for line, words in _said(text):
            for found in MODULE_OF_OURS.finditer(words):
                place = ROOT / "bot" / (found[1] or found[2])
                if not place.exists() and not place.with_suffix(".py").exists():
                    yield f"{path}:{line} there is no {found[0]}"


def _said(text: str) -> Iterator[tuple[int, str]]:
    """Docstrings (of modules, classes, functions, fields) and comments, with their first line."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(words))):
                yield node.lineno, words
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def called_by_nobody(sources: Sources) -> Iterator[str]:
    """Public functions and methods that no module of `sources` names. What a decorator registers, and the methods of
    a class with a base, are called by whoever that is; a Protocol's are not."""
    modules = {path: ast.parse(text) for path, text in sources.items()}
    named = {name for module in modules.values() for name in _names(module)} | CALLED_FROM_OUTSIDE.keys()
    for path, module in modules.items():
        if not path.startswith(SIMULATORS):
            for function in _functions(module):
                if not function.name.startswith("_") and not function.decorator_list and function.name not in named:
                    yield f"{path}:{function.lineno} nobody calls {function.name}"


def _names(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


def _functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Of the module, and of its classes without a base or with Protocol."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and all(ast.unparse(base) == "Protocol" for base in node.bases):
            yield from (one for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def asks_the_world(sources: Sources) -> Iterator[str]:
    for path, text in sources.items():
        if not path.startswith(tuple(MAY_ASK_THE_WORLD)):
            yield from _uses(path, text, ASKING_THE_WORLD)


def sleeps(sources: Sources) -> Iterator[str]:
    for path, text in sources.items():
        yield from _uses(path, text, SLEEPING)


def fixed_ports(sources: Sources) -> Iterator[str]:
    """("127.0.0.1", 8080), port=8080 and "localhost:8080"; not port 0, nor a port that was read from a server."""
    for path, text in sources.items():
        module = ast.parse(text)
        docstrings = {node.value for node in ast.walk(module) if isinstance(node, ast.Expr)}
        for node in ast.walk(module):
            if node not in docstrings and _is_fixed_port(node):
                line = node.value.lineno if isinstance(node, ast.keyword) else getattr(node, "lineno", 1)
                yield f"{path}:{line} a fixed port: {ast.unparse(node)}"


def _is_fixed_port(node: ast.AST) -> bool:
    match node:
        case ast.Tuple(elts=[ast.Constant(value=str(host)), ast.Constant(value=int(port))]):
            return port != 0 and re.fullmatch(LOOPBACK, host) is not None
        case ast.keyword(arg=str(name), value=ast.Constant(value=int(port))):
            return port != 0 and re.fullmatch(r"(?:.*_)?port", name) is not None
        case ast.Constant(value=str(text)):
            return FIXED_PORT.search(text) is not None
        case _:
            return False


def forbidden_texts(texts: Sources) -> Iterator[str]:
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            for what, pattern in FORBIDDEN_TEXT.items():
                if found := pattern.search(line):
                    yield f"{path}:{number} {what}: {found[0]}"


def _uses(path: str, text: str, forbidden: re.Pattern[str]) -> Iterator[str]:
    """Where a name is used that, through the module's imports, means something forbidden: called, or handed on."""
    module = ast.parse(text)
    meaning = dict(_imports(module))
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute | ast.Name):
            first, dot, rest = ast.unparse(node).partition(".")
            name = f"{meaning.get(first, '')}{dot}{rest}"
            if forbidden.fullmatch(name):
                yield f"{path}:{node.lineno} {name}"


def _imports(module: ast.Module) -> Iterator[tuple[str, str]]:
    """(name in the module, dotted name it stands for)."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
