/* SPDX-License-Identifier: BSD-3-Clause */
/* The same expectations of the same macros, from C++. */
#include "test_bitfield.c"
