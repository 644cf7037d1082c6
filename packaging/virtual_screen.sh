#!/bin/sh
# virtual_screen.sh [--keyboard] COMMAND...: runs it on the X screen there is, or on a virtual one.
# With --keyboard there must be xdotool and Xvfb too, which the command uses by itself.
set -eu
. "$(dirname -- "$0")/system_packages.sh"

if [ "${1:-}" = --keyboard ]; then
    shift
    if ! has xdotool || ! has Xvfb; then
        has apt-get || fail "Windows are driven with xdotool on a screen of Xvfb. Install both."
        install_packages "Windows are driven with xdotool on a screen of Xvfb, which this system lacks." xdotool xvfb xauth
    fi
    exec "$@"
fi

if [ -z "${DISPLAY:-}" ]; then
    if ! has xvfb-run || ! has xauth; then
        has apt-get || fail "There is no X screen here, and no xvfb-run to make a virtual one. Install Xvfb with xvfb-run and xauth."
        install_packages "There is no X screen here, and no xvfb-run to make a virtual one." xvfb xauth
    fi
    # Under a Wayland session Qt would draw there instead.
    unset WAYLAND_DISPLAY
    set -- xvfb-run -a -s "-screen 0 1920x1200x24" "$@"
fi
export QT_QPA_PLATFORM=xcb
exec "$@"
