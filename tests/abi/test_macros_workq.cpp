/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_macros_workq.c"
