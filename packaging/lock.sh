#!/bin/sh
# lock.sh [--upgrade]: writes requirements/*.txt for every system and Python at once. Versions stay unless asked.
set -eu
here=$(dirname -- "$0")
CDPATH='' cd -- "$here/.."
. packaging/system_packages.sh

main() {
    if uv --version >/dev/null 2>&1; then
        uv=uv
    else
        uv=".venv/bin/python -m uv"
    fi
    # The layers on top keep to the versions of the runtime.
    compile requirements/bootstrap.txt requirements/bootstrap.in "$@"
    compile requirements/runtime.txt pyproject.toml "$@"
    compile requirements/dev.txt pyproject.toml --group dev -c requirements/runtime.txt "$@"
    # A host in a lock would tie everybody to one registry.
    if grep -n '://' requirements/*.txt >&2; then fail "A lock names a host; see above. Don't commit it."; fi
}

compile() {
    out=$1
    shift
    $uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
        -o "$out" "$@"
}

main "$@"
