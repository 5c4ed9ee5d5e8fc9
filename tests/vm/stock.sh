# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
stock_image() { die 125 "not yet"; }
