#!/bin/sh
# Makes sure there is a Chromium for the tests of the web application, where that needs no password. Without one those
# tests are skipped, and say so. SKILLOSCOPE_NO_BROWSER=1 leaves the machine as it is. Ends with 0 in any case.

browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if ! browser >/dev/null && [ -z "${SKILLOSCOPE_NO_BROWSER:-}" ]; then
    "$(dirname "$0")/apt-install.sh" chromium >/dev/null 2>&1 </dev/null
fi
if found=$(browser); then echo "browser: $found"; fi
exit 0
