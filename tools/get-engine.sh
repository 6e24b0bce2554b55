#!/bin/sh
# Makes sure there is a Stockfish, where that needs no password; with `tests` the other engines that tests play with, too.
# Where there is none, what needs one says so itself. SKILLOSCOPE_NO_ENGINE=1 leaves the machine as it is.
# Ends with 0 in any case: an engine is needed to analyse new games, not to look at those whose analyses ship.
folder=$(dirname "$0")
others="ethereal-chess fairy-stockfish toga2 gnuchess glaurung gnubg"

engine() {
    for candidate in "${STOCKFISH_EXECUTABLE:-}" "$(command -v stockfish)" \
        /usr/games/stockfish /usr/local/bin/stockfish /opt/homebrew/bin/stockfish; do
        if [ -x "$candidate" ] && [ ! -d "$candidate" ]; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

install_package() {
    if command -v brew; then brew install --quiet "$1"; else "$folder/apt-install.sh" "$1"; fi
}

if ! engine >/dev/null && [ -z "${SKILLOSCOPE_NO_ENGINE:-}" ]; then
    install_package stockfish >/dev/null 2>&1 </dev/null
fi
if [ "${1:-}" = tests ] && [ -z "${SKILLOSCOPE_NO_ENGINE:-}" ] && command -v apt-get >/dev/null; then
    for package in $others; do
        [ -x "/usr/games/$package" ] || "$folder/apt-install.sh" "$package" >/dev/null 2>&1 </dev/null
    done
fi
if found=$(engine); then echo "engine: $found"; fi
exit 0
