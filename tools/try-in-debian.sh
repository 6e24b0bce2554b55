#!/bin/bash
# Proves the two commands on a fresh Debian stable: `make demo` and `make test` in a clone of what is
# committed here, inside a root that has python3, make, git and ca-certificates and nothing else of use.
#
#   tools/try-in-debian.sh [STEP...]     as root; needs debootstrap; without a step: all of them
#
#   base                     make the pristine root (once; kept)
#   root-demo   root-test    as root, who may install what is missing
#   user-demo   user-test    afterwards, in the same machine, as somebody without rights
#   bare-demo   bare-test    as somebody without rights in a machine of their own: no pip, no engine, no sudo
#
# FOLDER (default /tmp/skilloscope-debian) holds the roots and the logs; SUITE is stable unless told.
# The way to the mirror and to the packages is this machine's own, read when the script runs.
set -euo pipefail
checkout=$(cd "$(dirname "$0")/.." && pwd)
folder=${FOLDER:-/tmp/skilloscope-debian}
suite=${SUITE:-stable}
pristine=$folder/$suite
failed=0

base() {
    [ ! -e "$pristine/etc/made" ] || return 0
    # shellcheck disable=SC2016 # apt fills in its own variables
    local mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)}
    rm -rf "$pristine"
    mkdir -p "$pristine"
    debootstrap --variant=minbase --include=python3,make,git,ca-certificates "$suite" "$pristine" "$mirror"
    borrow_network "$pristine"
    chroot "$pristine" useradd --create-home --shell /bin/bash somebody
    touch "$pristine/etc/made"
}

# Names, certificates, proxies and package index as on this machine.
borrow_network() { # root
    cp /etc/resolv.conf /etc/hosts "$1/etc/"
    [ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$1/etc/"
    cp -r /usr/local/share/ca-certificates/. "$1/usr/local/share/ca-certificates/"
    chroot "$1" update-ca-certificates
    apt-config dump | grep -E '^Acquire::(https?::.*Proxy|Check-Valid-Until)' >"$1/etc/apt/apt.conf.d/99host" || true
}

network_environment() {
    env | grep -iE '^((https?|ftp|all|no)_proxy|PIP_INDEX_URL|PIP_TRUSTED_HOST|PIP_DEFAULT_TIMEOUT)=' || true
    local index
    index=$(python3 -m pip config get global.index-url 2>/dev/null) && echo "PIP_INDEX_URL=$index" || true
}

# A copy of the pristine root; the first step of each machine starts from a new one.
machine() { # name, step
    case $2 in root-demo | bare-demo) rm -rf "${folder:?}/$1" ;; esac
    [ -e "$folder/$1/etc/made" ] || cp -a "$pristine" "$folder/$1"
}

# A clone of the newest commit: a demo always starts from a fresh one, a test goes on in the demo's.
clone() { # root, user, home, target
    local there=$1$3/skilloscope newest
    newest=$(git -C "$checkout" rev-parse HEAD)
    if [ "$4" = test ] && [ "$(cat "$there/.git/cloned" 2>/dev/null)" = "$newest" ]; then return; fi
    rm -rf "$there"
    git clone --quiet --no-hardlinks "$checkout" "$there"
    echo "$newest" >"$there/.git/cloned"
    chroot "$1" chown -R "$2:" "$3/skilloscope"
}

# Runs `make TARGET` in a clone; /proc and /dev/shm are mounted in a namespace that ends with it.
try() { # step, machine, user, home, target
    local step=$1 root=$folder/$2 user=$3 home=$4 target=$5 started=$SECONDS result=ok environment
    local log=$folder/$suite-$step.log
    machine "$2" "$step"
    clone "$root" "$user" "$home" "$target"
    mapfile -t environment < <(network_environment)
    unshare --mount bash -c '
        root=$1 user=$2; shift 2
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        exec chroot --userspec="$user:$user" "$root" "$@"' - "$root" "$user" \
        env -i HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "${environment[@]}" \
        make -C "$home/skilloscope" "$target" </dev/null >"$log" 2>&1 || result=FAILED
    [ $result = ok ] || { failed=1 && tail -n 20 "$log"; }
    report "$step" "$result" $((SECONDS - started)) "$(grep -vE '^make' "$log" | tail -n 1)"
}

report() { printf '%-10s %-6s %5d s   %s\n' "$@"; }

run_step() {
    case $1 in
    base) base >"$folder/base.log" 2>&1 || { tail -n 20 "$folder/base.log" && exit 1; }
        report base ok $((SECONDS - $2)) "$suite: $(chroot "$pristine" python3 --version)" ;;
    root-*) try "$1" "$suite-common" root /root "${1#*-}" ;;
    user-*) try "$1" "$suite-common" somebody /home/somebody "${1#*-}" ;;
    bare-*) try "$1" "$suite-bare" somebody /home/somebody "${1#*-}" ;;
    *) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
    esac
}

[ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null ||
    { echo "try-in-debian: run as root, with debootstrap installed (apt-get install debootstrap)" >&2; exit 2; }
mkdir -p "$folder"
[ $# -gt 0 ] || set -- base root-demo root-test user-demo user-test bare-demo bare-test
for step in "$@"; do
    [ "$step" = base ] || [ -e "$pristine/etc/made" ] || run_step base $SECONDS
    run_step "$step" $SECONDS
done
exit $failed
