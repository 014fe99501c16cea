/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_macros_trace_workq.c"
