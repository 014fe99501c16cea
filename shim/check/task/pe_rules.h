/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/task/pe_rules.h - the rules that pe_calls.c and the watchdog call, as they follow a progress engine. */
#ifndef SHIM_CHECK_PE_RULES_H
#define SHIM_CHECK_PE_RULES_H

#include "shim/check/history/pe_records.h"

/* rules_threads.c: this thread begins a call on an engine that another thread is in a call on. */
void check_pe_shared(const struct shim_call *call, struct check_pe *engine, struct check_thread *other);

/* rules_stop.c: engine->pending_check is not NULL, and this thread progresses the engine. */
void check_stop_pending(const struct shim_call *call, struct check_pe *engine);

/* rules_perf.c: how the engine was used, at its end. */
void check_perf_inspect(struct check_pe *engine);

/* The same: num_empty is a multiple of this. */
#define CHECK_EMPTY_CALLS 8192
void check_empty_polls(const struct shim_call *call, struct check_pe *engine);

/* rules_notify.c: report a handle that is readable since an earlier event, if it is. Returns whether it is. */
bool check_uncleared_handle(const struct shim_call *call, struct check_pe *engine);

/* rules_notify.c: the program progressed the engine, which is armed, and nothing came. */
void check_parked_progress(const struct shim_call *call, struct check_pe *engine);

/* rules_notify.c: whether a thread sleeps on the engine's handle, which does not wake it, as no notification was requested. */
bool check_pe_sleeps_unarmed(const struct check_pe *engine);

/* rules_task_use.c: tasks that failed, and whose status the program has not read; one is submitted or freed. */
extern _Atomic uint32_t check_num_unread;
void check_unread_status(const struct shim_call *call, const struct doca_task *task);

/* rules_progress.c and rules_stop.c: the watchdog inspects an engine, @ns after the last tick; 0 = the time is not to be
 * counted. check_progress_inspect() returns whether something waits for progress. */
bool check_progress_inspect(struct check_pe *engine, uint64_t ns);
void check_stop_inspect(struct check_pe *engine, uint64_t ns);

#endif
