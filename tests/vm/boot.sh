# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Boots a guest: the part that `exec` and `shell` share. A run has a folder of its own, $RUN, removed at its end.
# The root image is never changed (QEMU's snapshot=on), so runs can go side by side. What a run brings along - the
# command, the units, the test programs, the package - is a tar archive that the guest sees as its second disk.
# Kernel messages go to $RUN/console and nowhere else.

# shellcheck source=tests/vm/kernel.sh
. "$TESTS/vm/kernel.sh"
# shellcheck source=tests/vm/stock.sh
. "$TESTS/vm/stock.sh"
# shellcheck source=tests/vm/rootfs.sh
. "$TESTS/vm/rootfs.sh"
# shellcheck source=tests/vm/product.sh
. "$TESTS/vm/product.sh"

# shellcheck disable=SC2034 # for the usage of who sources this
OPTIONS='[--smp S] [--numa N] [--cpu MODEL] [--kernel IMAGE|VERSION] [--memory MIB]
          [--image base|full] [--share DIR] [--timeout SECONDS] [--append ARGUMENTS] [--plain]'

smp=8,sockets=2,cores=2,threads=2
numa=1
cpu=Skylake-Server
kernel=6.1
memory=1024
image=base
share=
limit=600
plain=
extra=

# boot_options ARGUMENT...: reads the options; what is left is in $REST.
boot_options() {
        while (($#)); do
                case $1 in
                --smp | --numa | --cpu | --kernel | --memory | --image | --share | --timeout | --append)
                        (($# > 1)) || die 2 "$1 needs a value"
                        case $1 in
                        --smp) smp=$2 ;;
                        --numa) numa=$2 ;;
                        --cpu) cpu=$2 ;;
                        --kernel) kernel=$2 ;;
                        --memory) memory=$2 ;;
                        --image) image=$2 ;;
                        --share) share=$2 ;;
                        --timeout) limit=$2 ;;
                        --append) extra=$2 ;;
                        esac
                        shift 2
                        ;;
                --plain)
                        plain=yes
                        shift
                        ;;
                -h | --help)
                        usage
                        exit 0
                        ;;
                --)
                        shift
                        break
                        ;;
                *)
                        die 2 "'$1' is not an option; the command comes after --. See $PROGRAM --help"
                        ;;
                esac
        done
        [[ $numa =~ ^[1-9][0-9]*$ ]] || die 2 "--numa takes a number of nodes, not '$numa'"
        [[ $memory =~ ^[1-9][0-9]*$ ]] || die 2 "--memory takes a number of MiB, not '$memory'"
        [[ $limit =~ ^[1-9][0-9]*$ ]] || die 2 "--timeout takes a number of seconds, not '$limit'"
        [[ $image == base || $image == full ]] || die 2 "--image is base or full, not '$image'"
        [[ -z $share || -d $share ]] || die 2 "--share: there is no folder $share"
        REST=("$@")
}

# boot_prepare: everything that has to be built, and the folder of the run.
boot_prepare() {
        need bed
        KERNEL=$(kernel_image "$kernel") || exit 125
        ROOT=$(rootfs_image "$image") || exit 125
        build_guest || exit 125
        if [[ -z $plain && -e $TOP/CMakeLists.txt ]]; then
                build_deb || exit 125
        else
                plain=yes
        fi
        RUN=$(mktemp -d -t bed.XXXXXX)
        QEMU=
        trap boot_cleanup EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM HUP
}

boot_cleanup() {
        if [[ -n $QEMU ]]; then
                kill "$QEMU" 2>/dev/null || true
                wait "$QEMU" 2>/dev/null || true
        fi
        rm -rf -- "$RUN"
}

# boot_job: packs the second disk; $RUN/job/opt/bed may hold more already.
boot_job() {
        local bed=$RUN/job/opt/bed units=$RUN/job/etc/systemd/system
        mkdir -p -- "$bed/bin" "$units" "$RUN/job/etc/profile.d"
        cp -- "$TESTS"/vm/guest/{setup,run,prepare,case.sh,containers.sh} "$bed/"
        cp -- "$TESTS/vm/guest/show" "$bed/bin/bed-show"
        cp -- "$TESTS/vm/guest/cases" "$bed/bin/bed-cases"
        cp -r -- "$TESTS/vm/cases" "$bed/cases"
        cp -- "$TESTS/vm/guest/profile.sh" "$RUN/job/etc/profile.d/bed.sh"
        cp -- "$BUILD-guest"/bin/* "$bed/bin/"
        cp -- "$TESTS/vm/guest"/*.target "$TESTS/vm/guest"/*.service "$units/"
        [[ -n $plain ]] || cp -- "$BUILD/package.deb" "$bed/"
        [[ -z $share ]] || : >"$bed/share"
        tar -c --owner=0 --group=0 -f "$RUN/job.tar" -C "$RUN/job" opt etc
}

qpath() { # a path as QEMU's option lists want it
        printf '%s' "${1//,/,,}"
}

cpus_of() { # cpus_of SMP: how many CPUs that is
        local part product=1 seen=
        for part in ${1//,/ }; do
                case $part in
                cpus=*) printf '%s\n' "${part#cpus=}" && return ;;
                maxcpus=*) ;;
                *=*) product=$((product * ${part#*=})) && seen=yes ;;
                *) printf '%s\n' "$part" && return ;;
                esac
        done
        [[ -n $seen ]] && printf '%s\n' "$product"
}

# boot_machine UNIT: fills QEMU_LINE. UNIT is what the guest boots into.
boot_machine() {
        local append node cpus
        append="root=/dev/vda rw console=ttyS0 panic=-1 init=/opt/bed/init systemd.unit=$1 systemd.show_status=0${extra:+ $extra}"
        QEMU_LINE=(
                qemu-system-x86_64 -accel "tcg,thread=multi" -cpu "$cpu" -smp "$smp" -m "$memory"
                -nodefaults -no-user-config -display none -no-reboot
                -kernel "$KERNEL" -append "$append"
                -drive "if=virtio,format=raw,cache=unsafe,snapshot=on,file=$(qpath "$ROOT")"
                -drive "if=virtio,format=raw,readonly=on,file=$(qpath "$RUN/job.tar")"
                -device virtio-rng-pci -device virtio-serial-pci
                -serial "file:$RUN/console"
        )
        if [[ -e ${KERNEL%/*}/initrd-${KERNEL##*/} ]]; then
                QEMU_LINE+=(-initrd "${KERNEL%/*}/initrd-${KERNEL##*/}")
        fi
        if [[ -n $share ]]; then
                QEMU_LINE+=(
                        -fsdev "local,id=share,security_model=none,path=$(qpath "$(cd -- "$share" && pwd)")"
                        -device "virtio-9p-pci,fsdev=share,mount_tag=share"
                )
        fi
        if ((numa > 1)); then
                cpus=$(cpus_of "$smp") || die 2 "--smp '$smp' says no number of CPUs"
                ((cpus % numa == 0 && memory % numa == 0)) ||
                        die 2 "$cpus CPUs and $memory MiB cannot be shared evenly by $numa nodes"
                for ((node = 0; node < numa; node++)); do
                        QEMU_LINE+=(
                                -object "memory-backend-ram,id=ram$node,size=$((memory / numa))M"
                                -numa "node,nodeid=$node,memdev=ram$node,cpus=$((node * cpus / numa))-$(((node + 1) * cpus / numa - 1))"
                        )
                done
        fi
}

# The lines of the console that tell of trouble.
boot_trouble() {
        tr -d '\r' <"$RUN/console" 2>/dev/null | grep -aE \
                'Kernel panic|BUG:|WARNING: (CPU|possible)|Oops|general protection|soft lockup|rcu: INFO|blocked for more than|Out of memory|bed:' |
                sed 's/^/    /' | head -n 40 || true
}

boot_report() { # boot_report MESSAGE: what went wrong, with all there is to see
        say "$1"
        if [[ -s $RUN/qemu ]]; then
                say "QEMU said:"
                grep -v "TCG doesn't support requested feature" "$RUN/qemu" | tail -n 10 | sed 's/^/    /' >&2 || true
        fi
        say "the end of the guest's console:"
        tr -d '\r' <"$RUN/console" 2>/dev/null | tail -n 30 | sed 's/^/    /' >&2 || true
        if [[ -n $(boot_trouble) ]]; then
                say "what the kernel complained about:"
                boot_trouble >&2
        fi
}
