# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
#
# What a guest gets of this checkout: the product's .deb (build_deb) and the programs of tests/vm/guest
# (build_guest). Both are built only when a source has changed, in $BUILD.

BUILD=${CORESCHED_BUILD:-$TOP/build/bed}

# The state of all sources that lead to the package; the tests are not among them.
product_hash() {
        find "$TOP" \( -name .git -o -path "$TOP/build*" -o -path "$TESTS" \) -prune -o -type f -print0 |
                LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
}

# build_deb: leaves the package as $BUILD/package.deb.
build_deb() {
        need build
        locked "build-$(cksum <<<"$BUILD" | tr -d ' ')" build_deb_locked
}

build_deb_locked() {
        local hash
        hash=$(product_hash)
        [[ ! -e $BUILD/package.deb || $(cat -- "$BUILD/package.hash" 2>/dev/null) != "$hash" ]] || return 0
        rm -f -- "$BUILD/package.hash" "$BUILD"/*.deb
        step "building the package" build_deb_now || return 1
        printf '%s\n' "$hash" >"$BUILD/package.hash"
}

build_deb_now() {
        local debs
        cmake -S "$TOP" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_INSTALL_PREFIX=/usr -DTESTS=OFF &&
                cmake --build "$BUILD" &&
                (cd -- "$BUILD" && cpack -G DEB) || return 1
        debs=("$BUILD"/*.deb)
        [[ ${#debs[@]} == 1 && -e ${debs[0]} ]] || { echo "cpack made not one package: ${debs[*]}" && return 1; }
        mv -- "${debs[0]}" "$BUILD/package.deb"
}

# build_guest: leaves the programs in $BUILD-guest/bin.
build_guest() {
        need build
        locked "guest-$(cksum <<<"$BUILD" | tr -d ' ')" build_guest_locked
}

build_guest_locked() {
        local hash folder=$BUILD-guest
        hash=$(cat -- "$TESTS"/vm/guest/* "$TESTS/vm/CMakeLists.txt" "$TOP"/daemon/kernel/* "$TOP"/daemon/*.h \
                "$TOP"/daemon/{failure,pids,utf8}.c | sha256sum)
        [[ $(cat -- "$folder/hash" 2>/dev/null) != "$hash" ]] || return 0
        step "building the guest's programs" build_guest_now "$folder" || return 1
        printf '%s\n' "$hash" >"$folder/hash"
}

build_guest_now() { # build_guest_now FOLDER
        cmake -S "$TESTS/vm" -B "$1" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build "$1"
}
