# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# The guests' kernels. kernel_image VERSION gives the path of an image: from the folder of ready images where there is
# one, else from the cache, else built from Debian's linux-source package with kernel.config. Versions are 6.1, 6.12,
# 7.3, each also as VERSION-nocore (without core scheduling), and `stock` (Debian's own, see stock.sh); anything with a
# slash in it is the path of an image.

IMAGES=${CORESCHED_VM_IMAGES:-$TOP/../shared/vm}

# The versions that need no building, one a line.
kernel_list() {
        local folder image
        for folder in "$IMAGES" "$CACHE"; do
                for image in "$folder"/bzImage-*; do
                        [[ ! -e $image ]] || printf '%s\n' "${image##*/bzImage-}"
                done
        done | sort -uV
}

kernel_image() { # kernel_image VERSION|PATH
        local folder
        case $1 in
        */*)
                [[ -r $1 ]] || die 125 "there is no kernel image $1"
                printf '%s\n' "$1"
                return
                ;;
        stock)
                stock_image
                return
                ;;
        esac
        for folder in "$IMAGES" "$CACHE"; do
                if [[ -r $folder/bzImage-$1 ]]; then
                        printf '%s\n' "$folder/bzImage-$1"
                        return
                fi
        done
        locked "kernel-$1" kernel_build "$1" || return 1
        printf '%s\n' "$CACHE/bzImage-$1"
}

kernel_build() { # kernel_build VERSION
        local version=$1 source=${1%-nocore} work
        [[ ! -e $CACHE/bzImage-$version ]] || return 0
        # What the list of packages has no source for cannot be built.
        packages_of kernel "kernel-$source" | grep -qx "linux-source-$source" ||
                die 125 "there is no kernel image $version here (looked in $IMAGES and $CACHE), and Debian 12 has no package" \
                        "linux-source-$source to build one from. At hand are: $(kernel_list | paste -sd' ')"
        need kernel
        [[ $source == 6.1 ]] || need "kernel-$source"
        work=$(mktemp -d -p "$CACHE")
        # shellcheck disable=SC2064 # the folder of now
        trap "rm -rf --one-file-system -- $(printf %q "$work")" EXIT
        step "unpacking the source of Linux $source" \
                tar -x -C "$work" --strip-components=1 -f "/usr/src/linux-source-$source.tar.xz" || return 1
        step "configuring Linux $version" kernel_configure "$version" "$work" || return 1
        step "building Linux $version (some 5 minutes on 2 cores)" \
                make -C "$work" -j"$(nproc)" bzImage || return 1
        mv -- "$work/arch/x86/boot/bzImage" "$CACHE/bzImage-$version"
}

kernel_configure() { # kernel_configure VERSION FOLDER
        local version=$1 folder=$2 fragment=$2/bed.config wish missing=
        cp -- "$TESTS/vm/kernel.config" "$fragment"
        [[ $version != *-nocore ]] || sed -i 's/^CONFIG_SCHED_CORE=y/CONFIG_SCHED_CORE=n/' "$fragment"
        cd -- "$folder" || return 1
        make tinyconfig && scripts/kconfig/merge_config.sh -m .config "$fragment" && make olddefconfig || return 1
        # An option that went missing would be a test that does not test.
        while read -r wish; do
                case $wish in
                *=n) ! grep -qx "${wish%=n}=y" .config ;;
                *) grep -qx -- "$wish" .config ;;
                esac || { echo "not to be had in Linux $version: $wish" && missing=yes; }
        done < <(grep '^CONFIG_' "$fragment")
        [[ -z $missing ]]
}
