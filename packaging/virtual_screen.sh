#!/bin/sh
# virtual_screen.sh COMMAND...: runs it on the X screen there is, or on a virtual one.
set -eu
. "$(dirname -- "$0")/system_packages.sh"

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
