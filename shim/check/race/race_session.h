/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race_session.h - tasks that use memory of another process.
 *
 *   importer   race_session.c    a task is entered in the session's ledger, and compared with those of other processes;
 *                                the memory's owner is asked to guard it
 *   owner      race_listener.c   the owner's detectors guard the memory until the task has ended
 *
 * Overlap in time is what counts: of the order of two processes, the checker knows what passes through bfsim alone. With
 * BFSIM_CHECK_SYNC=doca the program promises that its processes agree by nothing else (Comch, sync events, exports); then
 * the sanitizers' detectors judge by that order.
 */
#ifndef SHIM_CHECK_RACE_SESSION_H
#define SHIM_CHECK_RACE_SESSION_H

#include "race.h"
#include "shim/check/history/session_tasks.h"

/* A task of another process that uses this process's memory. */
struct race_foreign {
	uint8_t *addr;
	size_t len_bytes;
	bool is_write;
	uint32_t number; /* of its slot in the ledger */
	struct sim_shared_range range;
};

/* BFSIM_CHECK_SYNC=doca. */
bool race_sync_is_doca(void);

/* For detectors that do not tell reads from writes. A program may look into memory for what another process's task writes:
 * without the promise, only strict mode guards it. Sources are for strict mode, as those of own tasks. */
static inline bool race_foreign_is_guarded(const struct race_foreign *foreign)
{
	return check_mode == SIM_CHECK_STRICT || (race_sync_is_doca() && foreign->is_write);
}

/* race_listener.c: the task of another process that the detectors guard this byte for. Returns false if there is none. */
bool race_listener_find(const void *addr, struct race_foreign *ret_foreign);

#endif
