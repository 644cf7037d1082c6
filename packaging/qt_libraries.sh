# Finds the system libraries that Qt needs and gets them installed; sourced by setup.sh after the wheels are in.

# need_qt_libraries none|x11|wayland
need_qt_libraries() {
    # macOS and Windows carry all that Qt needs.
    if [ "$(uname -s)" != Linux ] || ! has ldd; then return 0; fi
    missing=$(missing_libraries "$1")
    if [ -n "$missing" ]; then
        has apt-get || fail "Qt, which draws Muntin's window, needs libraries that this system lacks:" \
            "$(printf '%s\n' "$missing" | sed 's/^/  /')" \
            "Install the packages of your system that hold them, then start again."
        # Names of packages hold no blanks: splitting is wanted.
        # shellcheck disable=SC2046
        install_packages "Qt, which draws Muntin's window, needs libraries that this system lacks." \
            $(printf '%s\n' "$missing" | packages_of | sort -u)
        missing=$(missing_libraries "$1")
        [ -z "$missing" ] || fail "Qt still lacks these libraries:" "$(printf '%s\n' "$missing" | sed 's/^/  /')" \
            "Install the packages of your system that hold them, then start again."
    fi
    need_a_font
}

missing_libraries() {
    qt=$(.venv/bin/python -c 'from importlib.util import find_spec; print(*find_spec("PySide6").submodule_search_locations)')
    set -- "$1" "$qt"/Qt/plugins/platforms/libqoffscreen.so
    for module in Core Gui Widgets Network Svg DBus PrintSupport Test; do set -- "$@" "$qt/Qt$module.abi3.so"; done
    case $1 in
        x11) set -- "$@" "$qt"/Qt/plugins/platforms/libqxcb.so "$qt"/Qt/plugins/xcbglintegrations/*.so ;;
        wayland) set -- "$@" "$qt"/Qt/plugins/platforms/libqwayland*.so "$qt"/Qt/plugins/wayland-*/*.so ;;
    esac
    shift
    # ldd ends with 1 when one of the files is absent from this version of Qt.
    { ldd "$@" 2>/dev/null || :; } | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u
}

# Names of libraries in, names of Debian packages out; tried on Debian 12, on Ubuntu 24.04 listed only.
# The rule: libxcb-icccm.so.4 is in libxcb-icccm4, and libX11.so.6, with a digit before its number, in libx11-6.
packages_of() {
    while IFS= read -r library; do
        case $library in
            libglib-2.0.so.* | libgthread-2.0.so.* | libgobject-2.0.so.* | libgio-2.0.so.*) glib_package ;;
            libz.so.1) echo zlib1g ;;
            *) printf '%s\n' "$library" | tr '[:upper:]_' '[:lower:]-' |
                sed -e 's/\([0-9]\)\.so\.\([0-9]*\).*/\1-\2/' -e 's/\.so\.\([0-9]*\).*/\1/' ;;
        esac
    done
}

# Ubuntu 24.04 and Debian 13 renamed it.
glib_package() {
    if apt-cache show libglib2.0-0t64 >/dev/null 2>&1; then echo libglib2.0-0t64; else echo libglib2.0-0; fi
}

# Starts Qt without a screen; a system without a single font would show boxes for letters.
need_a_font() {
    status=0
    problem=$(first_font 2>&1) || status=$?
    case $status in
        0) return 0 ;;
        3) ;;
        *) fail "Qt does not start on this system:" "$problem" ;;
    esac
    has apt-get || fail "This system has no font to draw text with. Install one, DejaVu for example, then start again."
    install_packages "This system has no font to draw text with." fonts-dejavu-core
    first_font >/dev/null 2>&1 || fail "Qt still finds no font to draw text with. Install one, DejaVu for example, then start again."
}

first_font() {
    QT_QPA_PLATFORM=offscreen .venv/bin/python -c '
import sys
from PySide6.QtGui import QFont, QFontInfo, QGuiApplication

application = QGuiApplication([])
# The list of families holds "Serif" and its like even where there is no font at all.
sys.exit(0 if QFontInfo(QFont()).family() else 3)
'
}
