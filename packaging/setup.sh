#!/bin/sh
# Set up what `make run` (desktop) and `make test` (offscreen) need: Python, Qt's system libraries, .venv.
#
#     packaging/setup.sh offscreen|desktop
#
# Missing system packages are installed where that needs no question (root, or sudo without a password);
# otherwise the one command to run is printed.

set -eu

mode=${1:?offscreen or desktop}
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin  # ldconfig, where a user's path lacks it

# library:package
offscreen='libGL.so.1:libgl1 libEGL.so.1:libegl1 libxkbcommon.so.0:libxkbcommon0 libfontconfig.so.1:libfontconfig1
    libdbus-1.so.3:libdbus-1-3 libgthread-2.0.so.0:libglib2.0-0'
desktop="$offscreen libxcb-cursor.so.0:libxcb-cursor0 libxcb-icccm.so.4:libxcb-icccm4
    libxcb-keysyms.so.1:libxcb-keysyms1 libxcb-shape.so.0:libxcb-shape0 libxcb-xkb.so.1:libxcb-xkb1
    libxcb-render-util.so.0:libxcb-render-util0 libxkbcommon-x11.so.0:libxkbcommon-x11-0"

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return
        fi
    done
    fail "ckptplanner needs Python 3.11 or later, and none was found as python3 or python3.11 ... python3.14." \
        "Debian 12, Ubuntu 24.04 and later: apt-get install python3 python3-venv"
}

# The packages that this machine lacks, one after the other.
missing_packages() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null || printf '%s-venv ' "$python"
    [ "$(uname)" = Linux ] && command -v ldconfig >/dev/null || return 0
    known=$(ldconfig -p)
    case $mode in desktop) libraries=$desktop ;; *) libraries=$offscreen ;; esac
    for pair in $libraries; do
        case $known in *"${pair%%:*} "*) ;; *) printf '%s ' "${pair#*:}" ;; esac
    done
}

install_packages() {
    command="apt-get install -y --no-install-recommends $*"
    if ! command -v apt-get >/dev/null; then
        fail "These packages (by their names in Debian) are missing; install them, then try again: $*"
    elif [ "$(id -u)" = 0 ]; then
        as_root='env'
    elif sudo -n true 2>/dev/null; then
        as_root='sudo -n env'
    else
        fail "System packages are missing. Run this as root, then try again:" "    apt-get update && $command"
    fi
    echo "Installing system packages: $*"
    $as_root apt-get update -qq || echo "apt-get update failed; trying with the lists at hand" >&2
    # shellcheck disable=SC2086  # both are lists of words
    $as_root DEBIAN_FRONTEND=noninteractive $command -qq >/dev/null ||
        fail "apt-get could not install them. Run this as root, then try again:" "    apt-get update && $command"
}

make_venv() {
    if ! .venv/bin/python -c 'import pip' 2>/dev/null; then
        echo "Making .venv with $("$python" --version)"
        "$python" -m venv --clear .venv
    fi
    if [ -n "$(find pyproject.toml -newer .venv/.installed 2>&1)" ]; then
        echo "Installing ckptplanner and what it needs into .venv"
        .venv/bin/python -m pip install -q --disable-pip-version-check -e '.[dev]'
        touch .venv/.installed
    fi
}

# Load Qt as the program will; the plugin for X11 has libraries of its own.
check_qt() {
    .venv/bin/python -c 'import PySide6.QtWidgets' ||
        fail "Qt does not load (see above). Its packages in Debian: $(echo "$offscreen" | sed 's/[^ ]*://g' | tr -s ' \n' ' ')"
    [ "$mode" = desktop ] && [ "$(uname)" = Linux ] || return 0
    plugin=$(.venv/bin/python -c 'import PySide6; print(PySide6.__path__[0])')/Qt/plugins/platforms/libqxcb.so
    .venv/bin/python -c 'import PySide6.QtGui, ctypes, sys; ctypes.CDLL(sys.argv[1])' "$plugin" ||
        fail "Qt's plugin for X11 does not load (see above). Its packages in Debian: $(echo "$desktop" | sed 's/[^ ]*://g' | tr -s ' \n' ' ')"
}

python=$(find_python)
packages=$(missing_packages)
# shellcheck disable=SC2086  # a list of words
[ -z "$packages" ] || install_packages ${packages% }
make_venv
check_qt
