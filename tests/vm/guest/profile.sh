# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh
# The bed's programs are found in a login, as they are in a command.
export PATH="/opt/bed/bin:$PATH"
