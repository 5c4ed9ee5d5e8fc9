# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What the scripts of tests/ share: where things are, how they talk, and `need`, which installs Debian packages
# from the list in tests/packages. Sourced, never run. It changes nothing by itself; messages go to stderr only,
# so that stdout belongs to whoever sources it.

TESTS=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for who sources this
TOP=$(cd -- "$TESTS/.." && pwd)
PROGRAM=${0##*/}
# Kept between runs: kernels, root file systems. Every file in it can be made again.
CACHE=${CORESCHED_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/coresched}

say() {
        printf '%s: %s\n' "$PROGRAM" "$*" >&2
}

die() { # die STATUS MESSAGE...
        local status=$1
        shift
        printf '%s: %s\n' "$PROGRAM" "$*" >&2
        exit "$status"
}

# step WHAT COMMAND...: runs COMMAND with its output kept, and says what it does and how long that took. The
# output is shown when COMMAND fails, and step fails with it.
step() {
        local what=$1 log began status=0
        shift
        log=$(mktemp)
        began=$SECONDS
        say "$what ..."
        "$@" >"$log" 2>&1 </dev/null || status=$?
        if ((status)); then
                say "$what: FAILED with status $status after $((SECONDS - began)) s. The end of its output:"
                tail -n 40 -- "$log" | sed 's/^/    /' >&2
                rm -f -- "$log"
                return "$status"
        fi
        rm -f -- "$log"
        say "$what: done in $((SECONDS - began)) s"
}

# locked NAME COMMAND...: runs COMMAND while no other run does anything under NAME, so that two runs at once build
# a thing once. COMMAND is a function of the caller; its variables do not come back.
locked() {
        local name=$1
        shift
        mkdir -p -- "$CACHE"
        (
                exec {lock}>"$CACHE/.lock-$name"
                if ! flock -n "$lock"; then
                        say "another run is at work on $name; waiting for it"
                        flock "$lock"
                fi
                # What COMMAND leaves running must not keep the lock.
                "$@" {lock}>&-
        )
}

# packages_of GROUP...: the packages of these groups, one a line.
packages_of() {
        awk -v want="$*" '
                BEGIN { count = split(want, names, " "); for (i = 1; i <= count; i++) wanted[names[i]] = 1 }
                { sub(/#.*/, "") }
                NF == 2 { n = split($1, groups, ","); for (i = 1; i <= n; i++) if (groups[i] in wanted) { print $2; next } }
                NF != 2 && NF != 0 { print "tests/packages, line " NR ": not GROUPS PACKAGE" >"/dev/stderr"; exit 1 }
        ' "$TESTS/packages" | sort -u
}

# need GROUP...: installs what is missing of these groups.
need() {
        local list missing=() package status
        list=$(packages_of "$@") || die 125 "tests/packages cannot be read"
        [[ -n $list ]] || die 125 "tests/packages has no package in: $*"
        for package in $list; do
                status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
                [[ $status == installed ]] || missing+=("$package")
        done
        ((${#missing[@]})) || return 0
        ((EUID == 0)) || die 125 "these packages are missing, and only root can install them: ${missing[*]}"
        step "fetching the lists of Debian packages" apt_get update ||
                die 125 "the package lists could not be fetched; missing: ${missing[*]}"
        step "installing ${missing[*]}" apt_get install "${missing[@]}" ||
                die 125 "could not install: ${missing[*]}"
}

apt_get() {
        DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}
