/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about an engine's notification handle: requested before a thread sleeps on it, and cleared behind that. */
#include <poll.h>

#include "shim/check/base/sleepers.h"
#include "pe_rules.h"
#include "shim/check/report/hit.h"
#include "sim/base/monotonic.h"

/* Requests in a row. An event may come just before the first of them; a thread that sleeps behind that finds it. */
#define MAX_UNCLEARED 2
#define PROBE_NS      SIM_NS_PER_MS

bool check_pe_sleeps_unarmed(const struct check_pe *engine)
{
	int handle = engine->handle;

	return handle && !engine->armed_handle && check_is_slept_on(handle);
}

static bool is_readable(int handle)
{
	struct pollfd pollfd = { .fd = handle, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

/* A notification was requested and came, and was not cleared. In mode PROGRESS_ALL the next request clears it. */
static bool is_uncleared(const struct check_pe *engine)
{
	int handle = engine->armed_handle;

	return handle && engine->pe->event_mode == DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE && is_readable(handle);
}

static void report(const struct shim_call *call, const struct check_pe *engine, const char *effect)
{
	struct check_hit *hit = check_hit_begin(
		BFC_NOTIFICATION_NOT_CLEARED, call,
		"%s: an event came after an earlier doca_pe_request_notification() and was not cleared: %s",
		check_call_name(call), effect);

	check_hit_add_object(hit, "progress engine", engine->pe, NULL);
	check_hit_end(hit);
}

bool check_uncleared_handle(const struct shim_call *call, struct check_pe *engine)
{
	bool found = is_uncleared(engine);

	if (found)
		report(call, engine, "the handle stays readable, and a thread does not sleep on it");
	return found;
}

/* The handle is probed once in a while, as that is a system call. */
void check_parked_progress(const struct shim_call *call, struct check_pe *engine)
{
	uint64_t now_ns = sim_monotonic_ns(), since_ns = engine->uncleared_since_ns;

	if (since_ns) {
		if (now_ns - since_ns < check_stall_timeout_ns())
			return;
		engine->uncleared_since_ns = 0;
		if (is_uncleared(engine))
			report(call, engine, "an armed engine delivers nothing that comes later");
		return;
	}
	if (now_ns - engine->parked_probe_ns < PROBE_NS)
		return;
	engine->parked_probe_ns = now_ns;
	if (is_uncleared(engine))
		engine->uncleared_since_ns = now_ns;
}

static void enter_request(struct shim_call *call)
{
	struct check_pe *engine = check_this_thread->engine;

	if (check_this_thread->engine_call != call)
		return;
	engine->num_uncleared = is_uncleared(engine) ? engine->num_uncleared + 1 : 0;
	engine->uncleared_since_ns = 0;
	if (engine->num_uncleared == MAX_UNCLEARED)
		report(call, engine, "the engine was not to be armed again before");
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_pe_request_notification, enter_request, NULL },
};

const struct check_part check_notify = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
