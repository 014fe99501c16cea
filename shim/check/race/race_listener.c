/* SPDX-License-Identifier: BSD-3-Clause */
/* Listens to other processes of the session: while a task of theirs uses memory that this process exports, the detectors of
 * this process guard it.
 *
 *   importer: task in the ledger, request --> [asked] --guard, reply--> [guarded] --request--> unguard, reply
 *
 * What the ledger says is untrusted: ranges outside of this process's exports are answered, and not touched. A thread of
 * its own sleeps until the lane rings. A process that exports nothing has no such thread. */
#include "race_live.h"
#include "race_session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "shim/check/history/mmap_history.h"
#include "shim/check/mem/rules_task_memory.h"
#include "shim/common/process/runtime.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"

#define LOOK_MS 200   /* while memory is guarded: its task's process may die without a ring */
#define IDLE_MS 60000 /* a ring ends the wait */

struct exported {
	const struct doca_mmap *mmap;
	uint8_t *addr;
	size_t len_bytes;
	struct exported *next;
};

/* A slot that was seen with a task on this process's memory. */
struct guarded {
	uint32_t lane, slot, version;
	bool is_guarded, is_seen;
	struct race_foreign foreign;
	struct guarded *next;
};

static struct {
	pthread_mutex_t lock; /* protects the others */
	pthread_t thread;
	bool has_thread, ends;
	struct sim_shared_ledger *ledger;
	struct sim_ledger_lane *lane;
	struct exported *exports;
	struct guarded *guarded;
	uint32_t num_guarded;
} listener = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool should_listen(void)
{
	for (size_t i = 0; i < race_live.count; i++)
		if (race_live.detectors[i]->listens && race_live.detectors[i]->listens())
			return true;
	return false;
}

/* ---- guards ---- */

static bool is_exported(const struct sim_shared_range *range)
{
	for (const struct exported *one = listener.exports; one; one = one->next) {
		uintptr_t begin = (uintptr_t)one->addr;

		if (range->begin >= begin && range->begin < range->end && range->end - begin <= one->len_bytes)
			return true;
	}
	return false;
}

static void report_gone(const struct race_foreign *foreign, const struct check_stack *freed)
{
	struct check_hit *hit = check_hit_begin_at(
		BFC_TASK_MEMORY_GONE, freed,
		"the %s of a task of another process, in flight, %zu bytes at %p that this process exports, %s",
		foreign->is_write ? "destination" : "source", foreign->len_bytes, (void *)foreign->addr,
		freed->num_frames ? "was freed" : "is not mapped any more");

	check_session_add_task(hit, &foreign->range);
	check_hit_end(hit);
}

/* Returns false if the memory is gone. */
static bool find_memory(const struct race_foreign *foreign)
{
	struct check_stack freed;

	if (!check_memory_is_gone(foreign->addr, foreign->len_bytes, &freed))
		return true;
	if (check_mode >= SIM_CHECK_RACES)
		report_gone(foreign, &freed);
	return false;
}

static void guard(struct guarded *one)
{
	if (one->is_guarded || !is_exported(&one->foreign.range) || !find_memory(&one->foreign))
		return;
	FOR_EACH_DETECTOR(guard, &one->foreign);
	one->is_guarded = true;
	listener.num_guarded++;
}

/* Memory that was freed belongs to the heap. */
static void unguard(struct guarded *one)
{
	if (!one->is_guarded)
		return;
	if (find_memory(&one->foreign))
		FOR_EACH_DETECTOR(unguard, &one->foreign);
	one->is_guarded = false;
	listener.num_guarded--;
}

/* ---- the ledger ---- */

static struct guarded *get(uint32_t lane, uint32_t slot)
{
	struct guarded *one = listener.guarded;

	while (one && (one->lane != lane || one->slot != slot))
		one = one->next;
	if (one || !(one = calloc(1, sizeof(*one))))
		return one;
	one->lane = lane;
	one->slot = slot;
	one->next = listener.guarded;
	listener.guarded = one;
	return one;
}

static void set_range(struct guarded *one, uint32_t version, const struct sim_shared_range *range)
{
	unguard(one);
	one->version = version;
	one->foreign = (struct race_foreign){ .addr = (uint8_t *)(uintptr_t)range->begin,
					      .len_bytes = range->end - range->begin,
					      .is_write = range->is_write,
					      .number = one->lane * SIM_LEDGER_SLOTS + one->slot,
					      .range = *range };
}

static bool see(void *arg, uint32_t lane, uint32_t slot, uint32_t version, const struct sim_shared_range *range)
{
	uint32_t request = sim_shared_ledger_asked(listener.ledger, lane, slot);
	struct guarded *one = get(lane, slot);

	(void)arg;
	if (!one)
		return true;
	if (one->version != version)
		set_range(one, version, range);
	one->is_seen = true;
	if (request % 2 == 1)
		guard(one);
	else
		unguard(one);
	sim_shared_ledger_reply(listener.ledger, lane, slot, request);
	return true;
}

static void inspect_ledger(void)
{
	for (struct guarded *one = listener.guarded; one; one = one->next)
		one->is_seen = false;
	sim_shared_ledger_each(listener.ledger, listener.lane, see, NULL);
	for (struct guarded *one = listener.guarded; one; one = one->next)
		if (!one->is_seen)
			unguard(one);
}

static void *run(void *unused)
{
	uint32_t rings = 0, wait_ms;

	pthread_mutex_lock(&listener.lock);
	while (!listener.ends) {
		inspect_ledger();
		wait_ms = listener.num_guarded > 0 ? LOOK_MS : IDLE_MS;
		pthread_mutex_unlock(&listener.lock);
		rings = sim_ledger_lane_wait(listener.lane, rings, wait_ms);
		pthread_mutex_lock(&listener.lock);
	}
	pthread_mutex_unlock(&listener.lock);
	return unused;
}

/* With the lock. */
static void start_thread(void)
{
	struct sim_ledger_lane *lane = listener.has_thread ? NULL : check_session_lane(&listener.ledger);
	int rc;

	if (!lane)
		return;
	listener.lane = lane;
	listener.ends = false;
	rc = sim_thread_start(&listener.thread, "bfsim-races", run, NULL);
	listener.has_thread = rc == 0;
	if (rc == 0)
		sim_ledger_lane_listen(lane);
	else
		sim_err("the checker has no thread for tasks of other processes: %d; races for exported memory may be missed",
			-rc);
}

bool race_listener_find(const void *addr, struct race_foreign *ret_foreign)
{
	bool is_found = false;

	pthread_mutex_lock(&listener.lock);
	for (const struct guarded *one = listener.guarded; one && !is_found; one = one->next) {
		is_found = one->is_guarded && (const uint8_t *)addr >= one->foreign.addr &&
			   (const uint8_t *)addr < one->foreign.addr + one->foreign.len_bytes;
		if (is_found)
			*ret_foreign = one->foreign;
	}
	pthread_mutex_unlock(&listener.lock);
	return is_found;
}

/* ---- events ---- */

static void leave_export(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	struct exported *one;

	if (check_result(call) != DOCA_SUCCESS || !should_listen() || !(one = calloc(1, sizeof(*one))))
		return;
	*one = (struct exported){ .mmap = mmap,
				  .addr = (uint8_t *)(uintptr_t)shim_mmap_cpu_addr(mmap, mmap->addr),
				  .len_bytes = mmap->len_bytes };
	pthread_mutex_lock(&listener.lock);
	one->next = listener.exports;
	listener.exports = one;
	start_thread();
	pthread_mutex_unlock(&listener.lock);
}

static bool is_inside(const struct guarded *one, const struct exported *export)
{
	return one->foreign.addr >= export->addr && one->foreign.addr < export->addr + export->len_bytes;
}

/* The program may do with the memory what it likes from now on. */
static void enter_end(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);

	pthread_mutex_lock(&listener.lock);
	for (struct exported **link = &listener.exports; *link;) {
		struct exported *export = *link;

		if (export->mmap != mmap) {
			link = &export->next;
			continue;
		}
		*link = export->next;
		for (struct guarded *one = listener.guarded; one; one = one->next)
			if (one->is_guarded && is_inside(one, export))
				unguard(one);
		free(export);
	}
	pthread_mutex_unlock(&listener.lock);
}

static void forget_all(void)
{
	struct guarded *guarded;
	struct exported *export;

	while ((guarded = listener.guarded)) {
		listener.guarded = guarded->next;
		free(guarded);
	}
	while ((export = listener.exports)) {
		listener.exports = export->next;
		free(export);
	}
	listener.num_guarded = 0;
	listener.has_thread = false;
}

/* The session frees the ledger's mapping behind this. */
static void detach(void)
{
	if (!listener.has_thread)
		return;
	pthread_mutex_lock(&listener.lock);
	listener.ends = true;
	for (struct guarded *one = listener.guarded; one; one = one->next)
		unguard(one);
	pthread_mutex_unlock(&listener.lock);
	sim_ledger_lane_ring(listener.lane);
	pthread_join(listener.thread, NULL);
	forget_all();
}

/* In a forked child: the parent's tasks are not of its memory. */
static void forked(void)
{
	for (struct guarded *one = listener.guarded; one; one = one->next)
		unguard(one);
	forget_all();
}

static void start(void)
{
	static struct shim_runtime_user user = { .detach = detach };

	shim_runtime_add_user(&user);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_export_pci, NULL, leave_export },
	{ SHIM_FN_doca_mmap_export_rdma, NULL, leave_export },
	{ SHIM_FN_doca_mmap_stop, enter_end, NULL },
	{ SHIM_FN_doca_mmap_destroy, enter_end, NULL },
};

const struct check_part check_race_listener = {
	.mode = SIM_CHECK_OFF, /* a sanitizer is enough */
	CHECK_WATCHES(watches),
	.start = start,
	.lock = &listener.lock,
	.forked = forked,
};
