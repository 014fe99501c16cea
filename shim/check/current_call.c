/* SPDX-License-Identifier: BSD-3-Clause */
/* What every part may ask: the mode, and the public function that a thread is in. */
#include "check.h"

enum sim_check_mode check_mode;

static __thread struct shim_call *current_call __attribute__((tls_model("initial-exec")));

const struct shim_call *check_current_call(void)
{
	return current_call;
}

void check_begin_call(struct shim_call *call)
{
	call->outer = current_call;
	current_call = call;
}

void check_end_call(const struct shim_call *call)
{
	current_call = call->outer;
}
