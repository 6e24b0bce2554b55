#!/bin/sh
# Makes .venv with the pinned packages and this project in it.
#
#   tools/setup.sh [runtime|test]
#
# A second call with nothing changed does nothing. It needs Python 3.11 to 3.14 and no more: where
# Python comes without pip, as on a stock Debian, pip is found or fetched (see find_pip). It never
# asks for a password. PYTHON=/path/to/python chooses the interpreter of a new .venv.
set -eu
cd "$(dirname "$0")/.."
tier=${1:-runtime}
log=.cache/setup.log
started=$(date +%s)

say() { echo "setup: $*"; }

give_up() { # what went wrong and what to run
    [ ! -f "$log" ] || grep -v "^WARNING" "$log" | tail -n 5 >&2
    echo "setup: $*" >&2
    exit 1
}

# Everything that decides what belongs into .venv.
key() { cat "requirements/$1.txt" requirements/build.txt pyproject.toml tools/setup.sh src/skilloscope/__about__.py | cksum; }

# The environment runs, and was made in this folder (its scripts name the folder).
usable() { .venv/bin/python -c '' 2>/dev/null && grep -qF "$PWD/.venv" .venv/pyvenv.cfg; }

installed() { [ "$(cat ".venv/.installed-$1" 2>/dev/null)" = "$(key "$1")" ]; }

# The pinned packages have wheels for these versions.
find_python() {
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.14 python3.13 python3.12 python3.11 \
            /usr/bin/python3 /usr/local/bin/python3 /opt/homebrew/bin/python3 /opt/homebrew/bin/python3.14
    fi
    for candidate; do
        if "$candidate" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# pip for .venv, from the nearest place that has one. Defines pip().
find_pip() {
    pip() { .venv/bin/python -m pip "$@"; }
    pip --version && return
    .venv/bin/python -m ensurepip && return
    if "$python" -m pip --python .venv/bin/python --version; then
        pip() { "$python" -m pip --python .venv/bin/python "$@"; }
        return
    fi
    install_pip_wheel /usr/share/python-wheels && return
    command -v apt-get || return
    say "this Python comes without pip; fetching Debian's" >&3
    { tools/apt-install.sh python3-pip-whl && install_pip_wheel /usr/share/python-wheels; } ||
        { apt_unpack python3-pip-whl .cache/apt && install_pip_wheel .cache/apt/usr/share/python-wheels; }
}

install_pip_wheel() { # folder; a wheel of pip can run itself
    for wheel in "$1"/pip-*.whl; do
        [ -f "$wheel" ] && .venv/bin/python "$wheel/pip" install --no-index "$wheel" && return
    done
    return 1
}

apt_unpack() { # package, folder; by anybody: the system's sources, but lists and archives of our own
    package=$1
    folder=$PWD/$2
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
    set -- -o "Dir::State=$folder/state" -o "Dir::Cache=$folder/cache" -o Acquire::Languages=none
    apt-get "$@" update &&
        (cd "$folder" && apt-get "$@" download "$package" && dpkg-deb -x "$package"_*.deb .)
    result=$?
    rm -rf "$folder/state" "$folder/cache"
    return $result
}

# The source package of python-chess, pinned and hashed like all others, carries small Syzygy tables for tests.
fetch_tables() {
    scratch=.cache/chess
    rm -rf "$scratch" .cache/syzygy
    mkdir -p "$scratch"
    sed -n '/^chess==/,/[^\\]$/p' requirements/test.txt >"$scratch/pin.txt" &&
        pip download --quiet --require-hashes --no-deps --no-build-isolation --no-binary chess --dest "$scratch" -r "$scratch/pin.txt" &&
        source=$(basename "$scratch"/chess-*.tar.gz .tar.gz) &&
        tar -xzf "$scratch/$source.tar.gz" -C "$scratch" "$source/data/syzygy/regular" &&
        mv "$scratch/$source/data/syzygy/regular" .cache/syzygy
    result=$?
    rm -rf "$scratch"
    return $result
}

case $tier in
runtime | test) ;;
*) echo "usage: tools/setup.sh [runtime|test]" >&2 && exit 2 ;;
esac
if usable && { installed "$tier" || installed test; }; then exit 0; fi

mkdir -p .cache
: >"$log"
python=$(find_python) || give_up "found no Python 3.11 to 3.14; install one (Debian: apt-get install python3, macOS: brew install python@3.14) or name one: PYTHON=/path/to/python tools/setup.sh $tier"
if ! usable; then
    say "making .venv with $("$python" --version)"
    rm -rf .venv
    "$python" -m venv --without-pip .venv >>"$log" 2>&1 || give_up "could not make .venv; on Debian run: apt-get install python3-venv"
fi
rm -f .venv/.installed-*

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PIP_USER=0
find_pip 3>&1 >>"$log" 2>&1 </dev/null || give_up "found no pip; run (as root): apt-get install python3-venv, and then this again"

say "installing the pinned packages of requirements/$tier.txt"
# What builds a package from source is pinned as well; isolation would fetch the newest of it.
{
    pip install --quiet --require-hashes -r requirements/build.txt &&
        pip install --quiet --require-hashes --no-build-isolation --use-pep517 -r "requirements/$tier.txt" &&
        pip install --quiet --no-build-isolation --no-deps --editable .
} >>"$log" 2>&1 </dev/null ||
    give_up "pip failed (above; all of it in $log); check the network and run this again: tools/setup.sh $tier"
if [ "$tier" = test ]; then
    fetch_tables >>"$log" 2>&1 </dev/null || say "no Syzygy tables (see $log): the tests that need them are skipped"
fi
key "$tier" >".venv/.installed-$tier"
say "done in $(($(date +%s) - started)) s"
