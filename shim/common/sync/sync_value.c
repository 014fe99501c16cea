/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of a sync event: memory, atomic operations, blocking waits. */
#include "sync_value.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "shim/common/pe/task_memory.h"
#include "shim/common/process/runtime.h"
#include "sim/base/memory_signals.h"
#include "sim/base/monotonic.h"

/* Phases of a wait: it spins, then yields the CPU between polls, then sleeps for longer and longer times.
 * A wake-up costs more than a short wait, which is worth a spin. After SPIN_NS the other side can get
 * this CPU. */
#define SPIN_NS      20000
#define YIELD_NS     300000
#define SLEEP_MIN_NS 50000
#define SLEEP_MAX_NS 5000000 /* a sleeper notices a close or the exporter's end within this time */

/* ---- life ---- */

int shim_sync_value_open_own(struct shim_sync_value *value)
{
	int rc = sim_segment_create(sizeof(struct sim_sync_cell), &value->segment, &value->segment_fd);

	if (rc < 0) {
		value->segment_fd = -1;
		return rc;
	}
	value->cell = value->segment.base;
	value->word = &value->cell->value;
	atomic_store(&value->is_open, true);
	return 0;
}

void shim_sync_value_open_user(struct shim_sync_value *value, uint64_t *word)
{
	value->segment_fd = -1;
	value->word = (_Atomic uint64_t *)word;
	value->is_foreign = true;
	sim_memory_signals_install();
	atomic_store(&value->is_open, true);
}

/* A region with room for a cell holds a cell, a smaller one a bare word. */
void shim_sync_value_open_imported(struct shim_sync_value *value, struct sim_remote *remote)
{
	value->segment_fd = -1;
	value->remote = remote;
	value->is_foreign = true;
	sim_memory_signals_install();
	value->word = (_Atomic uint64_t *)remote->base;
	if (remote->region.len_bytes >= sizeof(struct sim_sync_cell))
		value->cell = (struct sim_sync_cell *)remote->base;
	atomic_store(&value->is_open, true);
}

void shim_sync_value_open_alias(struct shim_sync_value *value, const struct shim_sync_value *other)
{
	value->segment_fd = -1;
	value->remote = other->remote;
	value->word = other->word;
	value->cell = other->cell;
	value->is_foreign = other->is_foreign;
	atomic_store(&value->is_open, true);
}

/* ---- accesses ---- */

/* Begin to access the memory of the user, or of another process, which may be gone. A system call on an unmapped address
 * fails without harm, so that a futex is woken behind end_foreign(). */
static __attribute__((noinline)) int begin_foreign(struct shim_sync_value *value, struct sim_range_guard *guard)
{
	if (value->remote && !sim_remote_acquire(value->remote))
		return -EIO;
	sim_range_guard_begin(guard, value->word, value->cell ? sizeof(*value->cell) : sizeof(*value->word),
			      value->remote ? &value->remote->mapping : NULL);
	return 0;
}

static void report_fault(const struct shim_sync_value *value, struct sim_range_guard *guard)
{
	const struct shim_memory memory = { .role = "value",
					    .addr = (uintptr_t)value->word,
					    .cpu_addr = (uintptr_t)value->word,
					    .len_bytes = sizeof(*value->word) };

	shim_memory_report_range("sync event", NULL, &memory, guard);
}

/* Returns 0, or -EIO: the memory was gone. */
static __attribute__((noinline)) int end_foreign(struct shim_sync_value *value, struct sim_range_guard *guard)
{
	bool is_lost = sim_range_guard_end(guard);

	if (doca_unlikely(guard->guard.has_faulted))
		report_fault(value, guard);
	if (value->remote) {
		is_lost |= atomic_load(&value->remote->mapping.is_lost);
		sim_remote_release(value->remote);
	}
	return is_lost ? -EIO : 0;
}

/* 0 or -EIO. The caller has entered the value. */
static inline int begin_access(struct shim_sync_value *value, struct sim_range_guard *guard)
{
	return doca_likely(!value->is_foreign) ? 0 : begin_foreign(value, guard);
}

static inline int end_access(struct shim_sync_value *value, struct sim_range_guard *guard)
{
	return doca_likely(!value->is_foreign) ? 0 : end_foreign(value, guard);
}

static void wake_waiters(struct shim_sync_value *value)
{
	struct sim_range_guard guard;

	if (!value->cell || begin_access(value, &guard) < 0)
		return;
	atomic_fetch_add(&value->cell->changes, 1);
	if (end_access(value, &guard) == 0)
		sim_sync_cell_wake(value->cell);
}

static void unmap_value(struct shim_sync_value *value)
{
	if (value->segment_fd >= 0)
		close(value->segment_fd);
	sim_segment_unmap(&value->segment);
	value->segment_fd = -1;
	value->cell = NULL;
	value->word = NULL;
	value->remote = NULL;
}

void shim_sync_value_close(struct shim_sync_value *value)
{
	if (!atomic_exchange(&value->is_open, false))
		return;
	wake_waiters(value);
	while (atomic_load(&value->num_active_ops) > 0)
		sched_yield();
	unmap_value(value);
}

void shim_sync_value_abandon(struct shim_sync_value *value)
{
	if (atomic_exchange(&value->is_open, false))
		unmap_value(value);
}

/* ---- operations ---- */

/* Return whether the value is open. If so, a close waits for leave_value(). */
static bool enter_value(struct shim_sync_value *value)
{
	atomic_fetch_add(&value->num_active_ops, 1);
	if (atomic_load(&value->is_open))
		return true;
	atomic_fetch_sub(&value->num_active_ops, 1);
	return false;
}

static void leave_value(struct shim_sync_value *value)
{
	atomic_fetch_sub_explicit(&value->num_active_ops, 1, memory_order_release);
}

/* Enter the value, and begin to access it. 0 or an error. */
static inline int enter_access(struct shim_sync_value *value, struct sim_range_guard *guard)
{
	int rc;

	if (!enter_value(value))
		return -ENOTCONN;
	rc = begin_access(value, guard);
	if (rc < 0)
		leave_value(value);
	return rc;
}

int shim_sync_value_get(struct shim_sync_value *value, uint64_t *ret)
{
	struct sim_range_guard guard;
	int rc = enter_access(value, &guard);
	uint64_t now;

	if (rc < 0)
		return rc;
	now = atomic_load(value->word);
	rc = end_access(value, &guard);
	leave_value(value);
	if (rc == 0)
		*ret = now;
	return rc;
}

/* A waiter on a bare word in virtual time takes an unannounced change for a plain store, so announce the
 * change before it as well as after it. */
static inline int begin_update(struct shim_sync_value *value, struct sim_range_guard *guard, bool is_virtual)
{
	int rc;

	if (doca_unlikely(is_virtual))
		sim_vclock_sched_begin_call(shim_vclock);
	rc = enter_access(value, guard);
	if (doca_unlikely(is_virtual) && rc == 0 && !value->cell)
		sim_vclock_sched_post_sync(shim_vclock);
	return rc;
}

/* The word has changed: wake the waiters that were counted before the change. */
static inline int end_update(struct shim_sync_value *value, struct sim_range_guard *guard, bool is_virtual)
{
	bool wanted;
	int rc;

	if (doca_unlikely(is_virtual))
		sim_vclock_sched_post_sync(shim_vclock);
	wanted = value->cell && sim_sync_cell_count_change(value->cell);
	rc = end_access(value, guard);
	if (wanted)
		sim_sync_cell_wake(value->cell);
	leave_value(value);
	return rc;
}

int shim_sync_value_set(struct shim_sync_value *value, uint64_t to)
{
	const bool is_virtual = shim_vclock != NULL;
	struct sim_range_guard guard;
	int rc = begin_update(value, &guard, is_virtual);

	if (rc < 0)
		return rc;
	atomic_store(value->word, to);
	return end_update(value, &guard, is_virtual);
}

int shim_sync_value_add(struct shim_sync_value *value, uint64_t count, uint64_t *ret_before)
{
	const bool is_virtual = shim_vclock != NULL;
	struct sim_range_guard guard;
	int rc = begin_update(value, &guard, is_virtual);

	if (rc < 0)
		return rc;
	*ret_before = atomic_fetch_add(value->word, count);
	return end_update(value, &guard, is_virtual);
}

/* ---- waiting ---- */

bool shim_sync_condition_holds(const struct shim_sync_condition *condition, uint64_t value)
{
	uint64_t masked = value & condition->mask;

	switch (condition->relation) {
	case SHIM_SYNC_EQ:
		return masked == condition->to;
	case SHIM_SYNC_NEQ:
		return masked != condition->to;
	case SHIM_SYNC_GT:
		return masked > condition->to;
	}
	return false;
}

static void change_waiters(struct shim_sync_value *value, uint32_t by)
{
	struct sim_range_guard guard;

	if (!value->cell || begin_access(value, &guard) < 0)
		return;
	atomic_fetch_add(&value->cell->waiters, by);
	end_access(value, &guard);
}

void shim_sync_value_add_waiter(struct shim_sync_value *value)
{
	change_waiters(value, 1);
}

void shim_sync_value_remove_waiter(struct shim_sync_value *value)
{
	change_waiters(value, UINT32_MAX);
}

const _Atomic uint32_t *shim_sync_value_futex(const struct shim_sync_value *value)
{
	return value->cell ? &value->cell->changes : NULL;
}

int shim_sync_value_sample(struct shim_sync_value *value, uint64_t *ret, uint32_t *ret_changes)
{
	struct sim_range_guard guard;
	int rc = enter_access(value, &guard);

	if (rc < 0)
		return rc;
	*ret_changes = value->cell ? atomic_load(&value->cell->changes) : 0;
	*ret = atomic_load(value->word);
	rc = end_access(value, &guard);
	leave_value(value);
	return rc;
}

uint64_t shim_sync_value_poll_interval_ns(const struct shim_sync_value *value)
{
	if (!value->cell)
		return SHIM_SYNC_USER_POLL_NS;
	return value->remote ? SHIM_SYNC_IMPORTED_POLL_NS : 0;
}

/* Sleep for @ns at most, or until the value has changed since @changes. */
static void sleep_until_change(const struct shim_sync_value *value, uint32_t changes, uint64_t ns)
{
	struct timespec pause = sim_timespec_from_ns(ns);

	if (value->cell)
		syscall(SYS_futex, &value->cell->changes, FUTEX_WAIT, changes, &pause, NULL, 0);
	else
		nanosleep(&pause, NULL);
}

/* The caller has entered the value, so its memory stays. */
static int wait_sleeping(struct shim_sync_value *value, const struct shim_sync_condition *condition,
			 const atomic_bool *is_over)
{
	const uint64_t max_ns = value->cell ? SLEEP_MAX_NS : SHIM_SYNC_USER_POLL_NS;
	uint64_t pause_ns = SLEEP_MIN_NS;
	uint64_t now;
	uint32_t changes;
	int rc;

	shim_sync_value_add_waiter(value);
	while ((rc = shim_sync_value_sample(value, &now, &changes)) == 0 &&
	       !shim_sync_condition_holds(condition, now)) {
		if (is_over && atomic_load(is_over)) {
			rc = -ECANCELED;
			break;
		}
		sleep_until_change(value, changes, pause_ns);
		pause_ns = min_u64(pause_ns * 2, max_ns);
	}
	shim_sync_value_remove_waiter(value);
	return rc;
}

int shim_sync_value_sleep(struct shim_sync_value *value, const struct shim_sync_condition *condition, uint64_t ns)
{
	uint32_t changes;
	uint64_t now;
	int rc;

	if (!enter_value(value))
		return -ENOTCONN;
	shim_sync_value_add_waiter(value);
	rc = shim_sync_value_sample(value, &now, &changes);
	if (rc == 0 && !shim_sync_condition_holds(condition, now))
		sleep_until_change(value, changes, value->cell ? ns : min_u64(ns, SHIM_SYNC_USER_POLL_NS));
	shim_sync_value_remove_waiter(value);
	leave_value(value);
	return rc;
}

static int wait_spinning(struct shim_sync_value *value, const struct shim_sync_condition *condition, bool yields)
{
	const uint64_t start_ns = sim_monotonic_ns();
	uint64_t now;
	int rc;

	for (uint64_t past = 0; past < YIELD_NS; past = sim_monotonic_ns() - start_ns) {
		rc = shim_sync_value_get(value, &now);
		if (rc < 0 || shim_sync_condition_holds(condition, now))
			return rc;
		if (yields || past > SPIN_NS)
			sched_yield();
	}
	return wait_sleeping(value, condition, NULL);
}

/* Return whether the wait ends although the scheduler runs another participant: the value is closed (its
 * closer waits for this thread), its exporter is gone, or a plain store changed a bare word. */
static bool may_return_unscheduled(struct shim_sync_value *value, const struct shim_sync_condition *condition,
				   const struct sim_vclock_source *vclock_handle, int *ret_rc)
{
	uint64_t now;

	*ret_rc = shim_sync_value_get(value, &now);
	if (*ret_rc < 0)
		return true;
	return !value->cell && shim_sync_condition_holds(condition, now) &&
	       !sim_vclock_source_has_message(vclock_handle);
}

/* Wait as a participant of virtual time, like a progress engine that waits for a message. */
static int wait_in_vclock(struct shim_sync_value *value, const struct shim_sync_condition *condition,
			  struct sim_vclock_source *vclock_handle)
{
	uint64_t now;
	int rc;

	for (;;) {
		if (sim_vclock_source_may_poll(vclock_handle)) {
			rc = shim_sync_value_get(value, &now);
			if (rc < 0 || shim_sync_condition_holds(condition, now))
				return rc;
			sim_vclock_source_wait_message(vclock_handle);
		} else if (may_return_unscheduled(value, condition, vclock_handle, &rc)) {
			sim_vclock_source_mark_busy(vclock_handle);
			return rc;
		}
	}
}

int shim_sync_value_wait(struct shim_sync_value *value, const struct shim_sync_condition *condition, bool yields)
{
	const struct sim_vclock_source_cfg cfg = { .hears_sync = true };
	struct sim_vclock_source *vclock_handle = NULL;
	int rc;

	if (!enter_value(value))
		return -ENOTCONN;
	if (shim_vclock && sim_vclock_source_create(shim_vclock, &cfg, &vclock_handle) == 0)
		rc = wait_in_vclock(value, condition, vclock_handle);
	else
		rc = wait_spinning(value, condition, yields);
	sim_vclock_source_destroy(vclock_handle);
	leave_value(value);
	return rc;
}

int shim_sync_value_wait_unless(struct shim_sync_value *value, const struct shim_sync_condition *condition,
				const atomic_bool *is_over)
{
	int rc;

	if (!enter_value(value))
		return -ENOTCONN;
	rc = wait_sleeping(value, condition, is_over);
	leave_value(value);
	return rc;
}
