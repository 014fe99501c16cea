/* SPDX-License-Identifier: BSD-3-Clause */
/* The mark of a participant that waits inside of bfsim. */
#include "call_mark.h"

#include "participant_priv.h"

static _Atomic uint32_t generation; /* grows when pages are about to be unmapped */
static _Thread_local struct sim_participant own;
static _Thread_local uint32_t own_generation;

void sim_participant_remember_calls(const struct sim_participant *participant)
{
	own = *participant;
	own_generation = generation;
}

void sim_participant_forget_calls(void)
{
	generation++;
}

static bool count(uint16_t by)
{
	if (!own.shared || own_generation != generation || !sim_participant_is_ours(&own))
		return false;
	atomic_fetch_add_explicit(&own.shared->in_call, by, memory_order_relaxed);
	return true;
}

bool sim_clock_begin_wait(void)
{
	return count(1);
}

void sim_clock_end_wait(bool marked)
{
	if (marked)
		count(UINT16_MAX);
}
