#!/bin/sh
# Installs one Debian package, as root or through a sudo that asks for no password; fails otherwise.
set -eu
command -v apt-get >/dev/null
if [ "$(id -u)" = 0 ]; then as_root=; else as_root="sudo -n"; fi

install() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$1"
}

$as_root true
# A fresh machine has no package lists, an old one has stale ones: fetch them only when they are needed.
install "$1" || { $as_root apt-get update && install "$1"; }
