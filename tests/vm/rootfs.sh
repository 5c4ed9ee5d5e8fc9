# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# The guests' root file systems. rootfs_image NAME gives the path of the image `base` or `full`, after building it if
# it is not in the cache. An image holds what the groups guest-* of tests/packages say, a way to unpack what a run
# brings along (see boot.sh) and nothing of the product; it is named after a hash of all that went into it and is
# never written to again.

rootfs_image() { # rootfs_image base|full
        local hash image
        hash=$({ packages_of "guest-$1" && cat -- "$TESTS/vm/rootfs.sh"; } | sha256sum) || return 1
        image=$CACHE/root-$1-${hash:0:16}.ext4
        if [[ ! -e $image ]]; then
                need bed
                locked "root-$1" rootfs_build "$1" "$image" || return 1
        fi
        touch -c -- "$image"
        printf '%s\n' "$image"
}

rootfs_build() { # rootfs_build NAME IMAGE
        local name=$1 image=$2 work
        [[ ! -e $image ]] || return 0
        ((EUID == 0)) || die 125 "only root can build the guest's root file system"
        work=$(mktemp -d -p "$CACHE")
        # shellcheck disable=SC2064 # the folder of now
        trap "rm -rf --one-file-system -- $(printf %q "$work")" EXIT
        step "installing Debian into the guest image '$name' ($(packages_of "guest-$name" | wc -l) packages and what they need)" \
                rootfs_install "$name" "$work/root" || return 1
        step "making the ext4 image '$name'" rootfs_pack "$name" "$work/root" "$work/image" || return 1
        mv -- "$work/image" "$image"
        # Other checkouts may use other images.
        find "$CACHE" -maxdepth 1 -name 'root-*.ext4' -mtime +14 -delete
}

# The same Debian mirrors that this machine uses, and only Debian's own.
rootfs_sources() {
        apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
                awk '$1 == "Debian" && $3 ~ /^bookworm(-updates|-security)?$/ && !seen[$0]++ { print "deb", $2, $3, $4 }'
}

rootfs_install() { # rootfs_install NAME FOLDER
        local sources
        sources=$(rootfs_sources)
        if [[ -z $sources ]]; then
                apt_get update || return 1
                sources=$(rootfs_sources)
        fi
        [[ -n $sources ]] || { echo "apt knows no mirror of Debian 12 (bookworm)" && return 1; }
        mmdebstrap --mode=root --variant=minbase --include="$(packages_of "guest-$1" | paste -sd,)" \
                --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
                bookworm "$2" - <<<"$sources" || return 1
        rootfs_settle "$2"
}

# What makes it the bed's guest rather than any Debian.
rootfs_settle() { # rootfs_settle FOLDER
        local root=$1 unit
        # Not left out while installing: mmdebstrap would send every package through a filter, which is slow.
        rm -rf -- "$root"/usr/share/{doc,man,info,locale}/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* \
                "$root"/etc/dpkg/dpkg.cfg.d/99mmdebstrap
        echo bed >"$root/etc/hostname"
        echo '127.0.0.1 localhost bed' >"$root/etc/hosts"
        # Else systemd takes each boot for the first one, and enables every unit it finds.
        echo b0ed0000b0ed0000b0ed0000b0ed0000 >"$root/etc/machine-id"
        # Not wanted in a guest that lives for a minute. The serial lines are ours: a getty's vhangup would cut them.
        for unit in serial-getty@ttyS0.service serial-getty@hvc0.service getty@tty1.service console-getty.service \
                apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer e2scrub_all.timer e2scrub_reap.service \
                systemd-timesyncd.service man-db.timer podman-auto-update.timer modprobe@.service \
                systemd-journal-flush.service systemd-update-utmp.service systemd-update-utmp-runlevel.service \
                systemd-pstore.service systemd-repart.service; do
                ln -sfn /dev/null "$root/etc/systemd/system/$unit"
        done
        # Only what a scenario starts runs there.
        for unit in mariadb.service libvirtd.service libvirt-guests.service virtlogd.service lxc.service lxc-net.service \
                iperf3.service podman.service podman-restart.service sysstat.service; do
                find "$root/etc/systemd/system" -path '*.wants/*' -name "$unit" -delete
        done
        # Started when somebody logs in or asks for it; it takes seconds of each boot.
        rm -f -- "$root"/lib/systemd/system/multi-user.target.wants/systemd-logind.service
        mkdir -p -- "$root/etc/systemd/journald.conf.d"
        printf '[Journal]\nStorage=volatile\n' >"$root/etc/systemd/journald.conf.d/bed.conf"
        # The bed's small kernels have no place for that many processes.
        ln -sfn /dev/null "$root/etc/sysctl.d/50-pid-max.conf"
        mkdir -p -- "$root/opt/bed" "$root/mnt/share"
        cat >"$root/opt/bed/init" <<'INIT'
#!/bin/sh
# Unpacks the second disk, which is a tar archive, over the root file system; what it holds goes on from there.
tar -x --no-overwrite-dir -f /dev/vdb -C / || echo "bed: the second disk cannot be unpacked" >/dev/console
exec /opt/bed/setup
INIT
        chmod 755 "$root/opt/bed/init"
}

rootfs_pack() { # rootfs_pack NAME FOLDER IMAGE
        local size=1G
        [[ $1 == base ]] || size=6G
        truncate -s "$size" -- "$3" || return 1
        # No journal: a guest's writes are thrown away.
        mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=1,nodiscard -m 0 -d "$2" "$3"
}
