# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What every case sources. A check that fails ends the case, but for those of `expect`.

set -euo pipefail

CASE_OUTPUT=$(mktemp)

# A case that changes what outlasts it defines this anew; it is called at the end, whatever the end is.
cleanup() {
        :
}

trap 'status=$?; cleanup || true; rm -f -- "$CASE_OUTPUT"; exit $status' EXIT

passed() {
        echo "ok - $*"
}

failed() {
        echo "not ok - $*"
        exit 1
}

# check WHAT COMMAND...: COMMAND ends with 0. Its output is shown if it does not.
check() {
        check_status 0 "$@"
}

# check_status STATUS WHAT COMMAND...: COMMAND ends with STATUS; what it said is in $CASE_OUTPUT.
check_status() {
        local wanted=$1 what=$2 status=0
        shift 2
        "$@" >"$CASE_OUTPUT" 2>&1 || status=$?
        if ((status != wanted)); then
                cat -- "$CASE_OUTPUT"
                echo "$* ended with status $status, not $wanted"
                failed "$what"
        fi
        passed "$what"
}

# said WHAT REGEX: the last checked command said so.
said() {
        if ! grep -qE -- "$2" "$CASE_OUTPUT"; then
                cat -- "$CASE_OUTPUT"
                failed "$1 (looked for: $2)"
        fi
        passed "$1"
}

# is WHAT GOT WANTED
is() {
        [[ $2 == "$3" ]] || failed "$1: '$2', not '$3'"
        passed "$1"
}

# eventually SECONDS WHAT COMMAND...: COMMAND ends with 0 within that time.
eventually() {
        local limit=$((SECONDS + $1)) what=$2
        shift 2
        while ! "$@" >"$CASE_OUTPUT" 2>&1; do
                if ((SECONDS >= limit)); then
                        cat -- "$CASE_OUTPUT"
                        failed "$what (not within the time)"
                fi
                sleep 0.2
        done
        passed "$what"
}

# verify_every SECONDS: the daemon's VerifyIntervalSec=, to be taken back in cleanup().
verify_every() {
        mkdir -p /etc/coresched/coreschedd.conf.d
        printf '[Daemon]\nVerifyIntervalSec=%d\n' "$1" >/etc/coresched/coreschedd.conf.d/case.conf
        coreschedctl reload
}

# tasks SLICE NAME ARGUMENT...: the unit case-NAME.service in SLICE runs `load ARGUMENT...`; back when all tasks are there.
tasks() {
        local slice=$1 name=$2
        shift 2
        systemd-run --quiet --collect --unit="case-$name.service" --slice="$slice" --property=Type=notify \
                --property=TasksMax=infinity --property=LimitNPROC=infinity -- "$(command -v load)" "$@"
}

# inside CGROUP COMMAND...: COMMAND, which is `load ...` or ends up as it, runs in the cgroup of this path (case-*, not of
# systemd's), made if it is not there; back when all tasks are there.
inside() {
        local folder=/sys/fs/cgroup$1 line fd
        shift
        mkdir -p -- "$folder"
        exec {fd}< <(echo "$BASHPID" >"$folder/cgroup.procs" && exec "$@" 2>"$CASE_OUTPUT")
        if ! read -r -t 60 line <&"$fd" || [[ $line != ready ]]; then
                cat -- "$CASE_OUTPUT"
                failed "$* starts in $folder"
        fi
}

# Ends the tasks in a cgroup that `inside` made, and removes it and all below.
vanish() {
        local folder=/sys/fs/cgroup$1
        echo 1 >"$folder/cgroup.kill"
        eventually 10 "$1 is gone" find "$folder" -depth -type d -exec rmdir -- {} +
}
