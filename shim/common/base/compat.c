/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of the API. */
#include "compat.h"

static const struct shim_compat current;
const struct shim_compat *shim_compat = &current;
