#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Stands for tests that need programs which are not here.   skip.sh PROGRAMS      status 77
echo "SKIP: no $1; ci/deps test installs them"
exit 77
