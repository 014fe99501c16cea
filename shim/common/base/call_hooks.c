/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks of the checker, if it is loaded (shim/common/process/check_load.c). */
#include "call_hooks.h"

const struct shim_call_hooks *shim_call_hooks;
const struct shim_call_hooks *_Atomic shim_frequent_hooks;
