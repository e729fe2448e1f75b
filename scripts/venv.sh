#!/bin/sh
# Makes .venv from requirements/$1.txt (run, test or check), hashes required, unless it is there already. Called by the
# Makefile. With --can-make it only says whether this machine has a Python to make it with.
#
# A stamp in .venv holds the hash of the lock it was installed from and is written last, so an install that was cut short
# is done again. The locks agree on every version (see `make lock`), so the three share one .venv.
set -eu
cd "$(dirname "$0")/.."

lock=requirements/$1.txt
stamp=.venv/installed-$1.sha256
python=.venv/bin/python

usable() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 </dev/null; }

find_python() {
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        if usable "$candidate"; then echo "$candidate"; return; fi
    done
    {
        echo "No suitable Python: 3.11 or newer with the venv and ensurepip modules is needed. Tried:"
        for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
            if command -v "$candidate" >/dev/null 2>&1; then
                echo "  $candidate: $("$candidate" --version 2>&1 | head -n 1); too old, not working, or without venv/ensurepip"
            else
                echo "  $candidate: not found"
            fi
        done
        echo "Install one (Debian, Ubuntu: apt-get install python3 python3-venv) or name one: make PYTHON=/path/to/python3.12 ..."
    } >&2
    return 1
}

if [ "$1" = --can-make ]; then find_python >/dev/null; exit; fi

hash_of() { "$python" -c 'import hashlib, pathlib, sys; print(hashlib.sha256(pathlib.Path(sys.argv[1]).read_bytes()).hexdigest())' "$1"; }

if ! usable "$python"; then
    base=$(find_python)
    echo "Making .venv with $("$base" --version)" >&2
    rm -rf .venv
    "$base" -m venv .venv
fi

wanted=$(hash_of "$lock")
if [ ! -f "$stamp" ] || [ "$(cat "$stamp")" != "$wanted" ]; then
    echo "Installing $lock into .venv" >&2
    rm -f "$stamp"
    "$python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --only-binary :all: -r "$lock" </dev/null
    echo "$wanted" >"$stamp"
fi
