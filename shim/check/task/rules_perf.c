/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about how fast a program can be: they inspect its engines and maps when it is done with them. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "pe_rules.h"
#include "shim/check/report/hit.h"
#include "shim/common/mem/mmap_priv.h"
#include "sim/base/monotonic.h"

#define MIN_TASKS       10000 /* below, speed does not matter */
#define SMALL_PERCENT   90    /* of the tasks */
#define MIN_STARTS      1000  /* of maps, at one site */
#define TASKS_PER_START 2
#define BYTES_PER_START (1 << 20)
#define MAX_SITES       64
#define EMPTY_RATE      20 /* polls in a ms; of one thread that does nothing else, some thousand */

static void report_engine(enum sim_check_rule rule, const struct check_pe *engine, const void *caller,
			  const char *message)
{
	struct check_stack stack = check_stack_of(caller);
	struct check_hit *hit = check_hit_begin_at(rule, &stack, "%s", message);

	check_hit_add_object(hit, "engine", engine->pe, NULL);
	check_hit_end(hit);
}

static void check_depth(const struct check_pe *engine, uint64_t num_tasks)
{
	char message[128];

	if (check_load(&engine->max_in_flight) != 1)
		return;
	snprintf(message, sizeof(message),
		 "%" PRIu64 " tasks were submitted, and there was never more than one in flight", num_tasks);
	report_engine(BFC_ONE_IN_FLIGHT, engine, engine->submitted_at, message);
}

static void check_sizes(const struct check_pe *engine, uint64_t num_tasks)
{
	uint64_t num_seen = check_load(&engine->num_ended), num_small = check_load(&engine->num_small);
	char message[128];

	if (num_small * 100 < num_seen * SMALL_PERCENT || check_load(&engine->num_remote))
		return;
	snprintf(message, sizeof(message),
		 "%" PRIu64 " of %" PRIu64 " tasks moved less than %d bytes, within the memory of this side",
		 num_tasks * num_small / num_seen, num_tasks, CHECK_SMALL_BYTES);
	report_engine(BFC_SMALL_COPIES, engine, engine->submitted_at, message);
}

void check_perf_inspect(struct check_pe *engine)
{
	uint64_t num_tasks = check_pe_jobs(engine).num_ended;

	if (num_tasks < MIN_TASKS || !check_load(&engine->num_ended))
		return;
	check_depth(engine, num_tasks);
	check_sizes(engine, num_tasks);
}

/* ---- empty progress ---- */

/* Returns whether the polls have found nothing for long, and were more than EMPTY_RATE. The first call sets the time. */
static bool has_polled_long(struct check_pe *engine)
{
	uint64_t passed_ns, num_calls = check_load(&engine->num_empty) - CHECK_EMPTY_CALLS;

	if (num_calls == 0)
		engine->empty_since_ns = sim_monotonic_ns();
	passed_ns = sim_monotonic_ns() - engine->empty_since_ns;
	return passed_ns >= check_stall_timeout_ns() && num_calls * SIM_NS_PER_MS >= EMPTY_RATE * passed_ns;
}

static bool has_posted(const struct doca_pe *pe)
{
	for (const struct doca_ctx *ctx = pe->ctxs; ctx; ctx = ctx->next_in_pe)
		if (ctx->num_posted)
			return true;
	return false;
}

/* Messages and events of an engine that has some come at any time: polling for them is a choice. */
void check_empty_polls(const struct shim_call *call, struct check_pe *engine)
{
	struct check_hit *hit;

	if (!has_polled_long(engine) || check_uncleared_handle(call, engine) || engine->has_events ||
	    engine->transitional || has_posted(engine->pe))
		return;
	hit = check_hit_begin(BFC_EMPTY_PROGRESS, call,
			      "doca_pe_progress: for %" PRIu64 " ms, the program has polled, and no task was in flight",
			      (uint64_t)((sim_monotonic_ns() - engine->empty_since_ns) / SIM_NS_PER_MS));
	check_hit_add_object(hit, "engine", engine->pe, NULL);
	check_hit_end(hit);
}

/* ---- maps ---- */

/* Where the program starts memory maps. */
struct start_site {
	const void *caller;
	uint64_t num_starts, num_bytes;
};

static struct {
	pthread_mutex_t lock;
	uint32_t num;
	struct start_site sites[MAX_SITES];
} starts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void leave_start(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	uint32_t i = 0;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	pthread_mutex_lock(&starts.lock);
	while (i < starts.num && starts.sites[i].caller != call->caller)
		i++;
	if (i == starts.num && i < MAX_SITES)
		starts.sites[starts.num++] = (struct start_site){ .caller = call->caller };
	if (i < MAX_SITES) {
		starts.sites[i].num_starts++;
		starts.sites[i].num_bytes += mmap->len_bytes;
	}
	pthread_mutex_unlock(&starts.lock);
}

static void add_tasks(struct check_pe *engine, void *arg)
{
	uint64_t *sum = arg;

	*sum += check_pe_jobs(engine).num_ended;
}

static _Atomic uint64_t num_earlier_tasks; /* of engines that are destroyed */

static void enter_destroy(struct shim_call *call)
{
	const struct doca_pe *pe = check_arg(call, 0);
	struct check_pe *engine = shim_handle_is(pe, SHIM_PE) && !pe->ctxs ? check_pe_get(pe) : NULL;

	if (engine)
		num_earlier_tasks += check_pe_take_ended(engine);
}

static void report_starts(const struct start_site *site, uint64_t num_tasks)
{
	struct check_stack stack = check_stack_of(site->caller);

	check_hit_end(check_hit_begin_at(BFC_MAP_PER_OPERATION, &stack,
					 "memory maps were started %" PRIu64 " times here, for %" PRIu64
					 " tasks in all; a map had %" PRIu64 " bytes",
					 site->num_starts, num_tasks, site->num_bytes / site->num_starts));
}

static void at_exit(void)
{
	uint64_t num_tasks = num_earlier_tasks;

	check_pes_each(add_tasks, &num_tasks);
	if (num_tasks == 0)
		return;
	for (uint32_t i = 0; i < starts.num; i++) {
		const struct start_site *site = &starts.sites[i];

		if (site->num_starts >= MIN_STARTS && num_tasks <= site->num_starts * TASKS_PER_START &&
		    site->num_bytes / site->num_starts < BYTES_PER_START)
			report_starts(site, num_tasks);
	}
}

static void forked(void)
{
	starts.num = 0;
	num_earlier_tasks = 0;
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_pe_destroy, enter_destroy, NULL },
	{ SHIM_FN_doca_mmap_start, NULL, leave_start },
};

const struct check_part check_perf = {
	CHECK_WATCHES(watches), .mode = SIM_CHECK_API, .lock = &starts.lock, .forked = forked, .exit = at_exit,
};
