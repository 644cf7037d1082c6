#!/bin/sh
# Makes .venv with the locked libraries and sees to what Qt needs from the system. `make` calls it; by hand:
#
#   setup.sh run       libraries to run Muntin, on the screen that QT_QPA_PLATFORM asks for
#   setup.sh test      libraries to check it as well, no screen
#   setup.sh screen    the same with an X screen: screenshots and benchmarks
#   setup.sh --stamps  the three files that stand for these set-ups; one that exists needs no set-up
set -eu
here=$(dirname -- "$0")
CDPATH='' cd -- "$here/.."
. packaging/system_packages.sh
. packaging/qt_libraries.sh

oldest=3.11
newest=3.14

main() {
    case ${1:-} in
        --stamps) stamps ;;
        --locked) prepare "$2" ;;
        run | test | screen) lock_and_prepare "$1" ;;
        *) fail "usage: packaging/setup.sh run|test|screen|--stamps" ;;
    esac
}

# --- which set-up, and is it there ---

# A changed lock or script changes the digest, so the stamp of the old state no longer counts.
digest() {
    cat requirements/*.txt packaging/setup.sh packaging/qt_libraries.sh packaging/system_packages.sh |
        { sha256sum 2>/dev/null || shasum -a 256 2>/dev/null || cksum; } | cut -c 1-16 | tr -d ' '
}

stamps() {
    # The name "never" is written by nobody.
    if venv_is_ours; then now=$(digest); else now=never; fi
    echo "$(stamp run "$now") $(stamp test "$now") $(stamp screen "$now")"
}

stamp() { echo ".venv/ready-$1-$(screen_of "$1")-$2"; }

screen_of() {
    case $1 in
        test) echo none ;;
        screen) echo x11 ;;
        run)
            case ${QT_QPA_PLATFORM:-} in
                '') if [ -n "${WAYLAND_DISPLAY:-}" ] && [ -z "${DISPLAY:-}" ]; then echo wayland; else echo x11; fi ;;
                xcb*) echo x11 ;;
                wayland*) echo wayland ;;
                *) echo none ;;
            esac ;;
    esac
}

lock_of() { if [ "$1" = run ]; then echo runtime; else echo dev; fi; }

# --- one set-up at a time ---

# The kernel gives the lock back when the last process that holds it ends, however it ends.
lock_and_prepare() {
    locker=$(find_python || :)
    if [ -z "$locker" ]; then prepare "$1"; return; fi
    exec "$locker" -c '
import os, signal, sys

signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    import fcntl

    lock = os.open("packaging/setup.sh", os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Another set-up of this folder is at work; waiting for it ...", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.dup2(lock, 9)
    os.set_inheritable(9, True)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
except (ImportError, OSError):
    pass  # A file system without locks: go on, as most people start one program at a time.
os.execvp("sh", ["sh", "packaging/setup.sh", "--locked", sys.argv[1]])
' "$1"
}

# --- the steps ---

prepare() {
    purpose=$1
    lock=$(lock_of "$purpose")
    now=$(digest)
    # Another set-up may have done the work while this one waited.
    if venv_is_ours && [ -e "$(stamp "$purpose" "$now")" ]; then return; fi
    [ -w . ] || fail "Muntin sets itself up in this folder, and it may not write here: $(pwd)"
    # What is needed to check Muntin holds all that is needed to run it.
    if ! venv_is_ours || ! { [ -e ".venv/wheels-$lock-$now" ] || [ -e ".venv/wheels-dev-$now" ]; }; then
        announce
        need_venv
        install_wheels
    fi
    need_qt_libraries "$(screen_of "$purpose")"
    : >"$(stamp "$purpose" "$now")"
    printf '%s\n' "Muntin is set up."
}

announce() {
    if venv_is_ours; then
        printf '%s\n' "Bringing Muntin's libraries up to date …"
    elif [ "$lock" = runtime ]; then
        printf '%s\n' "Setting up Muntin (first start only; about 120 MB to fetch) …"
    else
        printf '%s\n' "Setting up Muntin with the tools to check it (once; about 150 MB to fetch) …"
    fi
}

need_venv() {
    if venv_works; then return; fi
    if [ -e .venv ]; then printf '%s\n' "The .venv here is broken, moved or half done; making it anew."; fi
    python=$(find_python || :)
    if has_uv; then
        rm -rf .venv
        # With no fitting Python here uv fetches one.
        uv venv --quiet --python "${python:->=$oldest,<3.15}" .venv || fail "uv could not make .venv; the reason stands above."
        : >.venv/installing
        return
    fi
    if [ -z "$python" ] && ! has python3 && has apt-get; then
        install_packages "Muntin needs Python, and this system has none." python3-venv
        python=$(find_python || :)
    fi
    [ -n "$python" ] || fail "Muntin needs Python $oldest to $newest; $(found_python)." \
        "Install one of them, or install uv, which brings its own."
    need_ensurepip
    rm -rf .venv
    mkdir .venv
    : >.venv/installing
    "$python" -m venv .venv || fail "$python could not make .venv; the reason stands above."
}

need_ensurepip() {
    if has_ensurepip; then return; fi
    has apt-get || fail "Python's ensurepip is missing, and without it $python can't make .venv." \
        "Install the package of your system that holds it, then start again."
    install_packages "Python's venv is missing: Debian and Ubuntu have it in a package of its own." "$(basename -- "$python")-venv"
    has_ensurepip || fail "Python's ensurepip is still missing, and without it $python can't make .venv."
}

has_ensurepip() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }

install_wheels() {
    : >.venv/installing
    forget_old_stamps
    if has_uv; then
        set -- uv
    else
        # A setting for pip's own installs would not work inside a venv.
        PIP_USER=0 .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
            --require-hashes --only-binary :all: -r requirements/bootstrap.txt || cannot_install
        set -- .venv/bin/python -m uv
    fi
    "$@" pip install --quiet --python .venv/bin/python --require-hashes --no-build --compile-bytecode \
        -r "requirements/$lock.txt" || cannot_install
    made_with >.venv/made-with
    : >".venv/wheels-$lock-$now"
    rm .venv/installing
}

# Tools added to what is there leave the set-up to run Muntin good.
forget_old_stamps() {
    for stamp in .venv/ready-* .venv/wheels-*; do
        case $stamp in
            *-"$now") ;;
            *) rm -f "$stamp" ;;
        esac
    done
}

cannot_install() {
    fail "The libraries could not be fetched and installed; the reason stands above." \
        "Start again when it is solved: the set-up begins afresh."
}

# --- looking at what is there ---

# Quick, as every `make` asks it: made by this script, not moved, and with the same Python behind it.
venv_is_ours() {
    [ -x .venv/bin/python ] && [ ! -e .venv/installing ] && [ -e .venv/made-with ] &&
        [ "$(cat .venv/made-with)" = "$(made_with)" ]
}

made_with() {
    pwd -P
    readlink -f .venv/bin/python 2>/dev/null || echo .venv/bin/python
}

# Thorough; a .venv made by hand will do.
venv_works() {
    [ -x .venv/bin/python ] && [ ! -e .venv/installing ] || return 1
    if [ -e .venv/made-with ] && ! venv_is_ours; then return 1; fi
    python_fits .venv/bin/python && .venv/bin/python -c '
import os, sys, sysconfig

sys.exit(not (os.path.samefile(sys.prefix, ".venv") and os.path.isdir(sysconfig.get_path("purelib"))))
' 2>/dev/null || return 1
    has_uv || .venv/bin/python -m pip --version >/dev/null 2>&1
}

# Some version managers put a `uv` on the path that only says it isn't installed.
has_uv() { uv --version >/dev/null 2>&1; }

find_python() {
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if has "$candidate" && python_fits "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

python_fits() {
    "$1" -c '
import sys

sys.exit(not (sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 14)))
' >/dev/null 2>&1
}

found_python() {
    if has python3; then
        python3 -c 'import platform as p; print("python3 is", p.python_implementation(), p.python_version())' 2>/dev/null ||
            echo "python3 does not start"
    else
        echo "none was found"
    fi
}

main "$@"
