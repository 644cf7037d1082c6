# Gets Debian and Ubuntu packages installed; sourced by the other scripts of this folder.

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# install_packages REASON PACKAGE...
# As root it installs them; at a terminal it shows the command and asks; otherwise it says what to do and ends.
install_packages() {
    reason=$1
    shift
    line="sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
    if [ "$(id -u)" -eq 0 ]; then
        printf '%s\n' "$reason" "Installing: $*"
        apt_log=$(mktemp)
        if ! install_as_root "$@" >"$apt_log" 2>&1; then
            tail -n 15 "$apt_log" >&2
            rm -f "$apt_log"
            fail "These system packages could not be installed: $*. The reason stands above."
        fi
        rm -f "$apt_log"
    elif [ -t 0 ] && has sudo; then
        printf '%s\n' "$reason" "This would install what is missing:" "  $line"
        printf 'Run it now? [y/N] '
        IFS= read -r answer || answer=
        case $answer in
            [yY] | [yY][eE][sS]) ;;
            *) fail "Nothing was installed. Run the line above, then start again." ;;
        esac
        # Descriptor 9 holds the lock of the set-up; a service that a package starts must not inherit it.
        sudo apt-get update 9>&- || printf '%s\n' "The package lists could not be updated; trying with the old ones."
        sudo apt-get install -y --no-install-recommends "$@" 9>&- ||
            fail "These system packages could not be installed: $*. The reason stands above."
    else
        fail "$reason" "Install what is missing, then start again:" "  $line"
    fi
}

install_as_root() {
    export DEBIAN_FRONTEND=noninteractive
    # An unreachable third-party source must not stop us: the install itself says whether the lists suffice.
    apt-get -q update 9>&- || :
    # An earlier install that was killed in the middle has to be brought to its end first.
    apt_install "$@" || { dpkg --configure -a 9>&- && apt_install "$@"; }
}

apt_install() { apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" 9>&-; }
