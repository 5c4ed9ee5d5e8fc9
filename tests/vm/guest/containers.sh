# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What cases about containers source: podman, with the guest's own programs in a root file system.

root=/root/case-root
cleanup() {
        podman rm -f -a -t 0 >/dev/null 2>&1
        systemctl --quiet unmask --runtime coreschedd
        systemctl --quiet start coreschedd
        rm -rf -- $root /root/case-*
}

# A root file system: the guest's own programs, and nothing that can be written.
mkdir -p $root/{usr,proc,sys,dev,tmp,etc,run,opt}
ln -s usr/bin usr/lib usr/lib64 usr/sbin $root/
cat >/root/case-self.py <<'END'
# cookie: what it carries; leave: it gives itself another one; leave-high: the same with an option whose upper half,
# which the kernel does not look at, is not 0
import ctypes, sys
prctl = lambda option, *a: ctypes.CDLL(None, use_errno=True).syscall(157, ctypes.c_long(option), *map(ctypes.c_ulong, a))
cookie = ctypes.c_uint64(0)
if sys.argv[1] == "leave":
    sys.exit(prctl(62, 1, 0, 0, 0) != 0)
if sys.argv[1] == "leave-high":
    sys.exit(prctl(62 | 1 << 32, 1, 0, 0, 0) != 0)
if sys.argv[1] == "name":
    sys.exit(prctl(15, ctypes.addressof(ctypes.create_string_buffer(b"case"))) != 0)
sys.exit(prctl(62, 0, 0, 0, ctypes.addressof(cookie)) != 0 or print("cookie %08x" % cookie.value))
END
cp /root/case-self.py $root/opt/self.py
run() { # run OPTION... -- COMMAND...
        local options=()
        while [[ $1 != -- ]]; do
                options+=("$1") && shift
        done
        shift
        podman run --network=none --volume=/usr:/usr:ro "${options[@]}" --rootfs $root "$@"
}
id_of() {
        podman inspect --format '{{.Id}}' "$1"
}
cgroup_of() {
        echo "/machine.slice/libpod-$(id_of "$1").scope"
}
gone() { # gone TENANT
        ! coreschedctl list --quiet | grep -qx -- "$1"
}
# shellcheck disable=SC2034 # the cases do
REQUIRED='--annotation=org.coresched1.required=true'
