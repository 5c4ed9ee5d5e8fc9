# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# Debian's own kernel, as people run it: no core scheduling, and all drivers are modules. stock_image gives the path of
# it in the cache, with an initramfs of ours beside it that loads what the bed's machine needs. The package is only
# unpacked, never installed: this machine's boot is not touched.

stock_image() {
        local folder
        folder=$CACHE/stock-$(sha256sum <"$TESTS/vm/stock.sh" | cut -c1-16)
        if [[ ! -e $folder ]]; then
                need stock
                locked stock stock_build "$folder" || return 1
        fi
        printf '%s\n' "$folder/vmlinuz"
}

stock_build() { # stock_build FOLDER
        local folder=$1 work
        [[ ! -e $folder ]] || return 0
        work=$(mktemp -d -p "$CACHE")
        # shellcheck disable=SC2064 # the folder of now
        trap "rm -rf --one-file-system -- $(printf %q "$work")" EXIT
        step "fetching and unpacking Debian's stock kernel" stock_fetch "$work" || return 1
        step "making an initramfs for it" stock_pack "$work" || return 1
        mv -- "$work/out" "$folder"
}

stock_package() { # the package that linux-image-amd64 stands for
        apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" { print $2; exit }'
}

stock_fetch() { # stock_fetch FOLDER
        local package
        package=$(stock_package)
        if [[ -z $package ]]; then
                apt_get update || return 1
                package=$(stock_package)
        fi
        [[ -n $package ]] || { echo "apt knows no linux-image-amd64" && return 1; }
        cd -- "$1" && apt-get -q download "$package" && dpkg-deb -x ./*.deb tree
}

stock_pack() { # stock_pack FOLDER
        local version module root=$1/initramfs line
        version=$(ls -- "$1/tree/lib/modules") || return 1
        depmod -b "$1/tree" "$version" || return 1
        mkdir -p -- "$root"/{bin,dev,proc,root,modules} "$1/out"
        cp -- /bin/busybox "$root/bin/" || return 1
        # In the order that they have to be loaded in; a number keeps it.
        for module in virtio_pci virtio_blk ext4 virtio_console virtio-rng 9pnet_virtio 9p autofs4; do
                modprobe -d "$1/tree" -S "$version" --show-depends "$module" || return 1
        done >"$1/order"
        awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$1/order" | nl -n rz -w 3 |
                while read -r line module; do
                        cp -- "$module" "$root/modules/$line-${module##*/}" || return 1
                done || return 1
        cat >"$root/init" <<'INIT'
#!/bin/busybox sh
busybox mount -t devtmpfs dev /dev
for module in /modules/*; do
        busybox insmod "$module" || echo "bed: $module cannot be loaded" >/dev/console
done
until [ -b /dev/vda ] && [ -b /dev/vdb ]; do busybox sleep 0.1; done
busybox mount -t ext4 -o rw /dev/vda /root
busybox mount --move /dev /root/dev
exec busybox switch_root /root /opt/bed/init
INIT
        chmod 755 "$root/init"
        (cd -- "$root" && find . -print0 | cpio -0 -o -H newc -R 0:0 | zstd -q -o "$1/out/initrd-vmlinuz") &&
                cp -- "$1/tree/boot/vmlinuz-$version" "$1/out/vmlinuz"
}
