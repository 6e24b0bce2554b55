#!/bin/sh
# Makes sure there is a Stockfish, where that needs no password. Where there is none, what needs one says so itself.
# SKILLOSCOPE_NO_ENGINE=1 leaves the machine as it is. Ends with 0 in any case: an engine is needed
# to analyse new games, not to look at those whose analyses ship.

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

install_engine() {
    if command -v brew; then brew install --quiet stockfish; else "$(dirname "$0")/apt-install.sh" stockfish; fi
}

if ! engine >/dev/null && [ -z "${SKILLOSCOPE_NO_ENGINE:-}" ]; then
    install_engine >/dev/null 2>&1 </dev/null
fi
if found=$(engine); then echo "engine: $found"; fi
exit 0
