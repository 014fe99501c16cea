/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: the text of the last error. */
#include "bfsim.h"
#include "sim/base/last_error.h"

const char *bfsim_error(void)
{
	return sim_last_error();
}
