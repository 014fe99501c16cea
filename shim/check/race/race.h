/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race.h - detectors of accesses to the memory of tasks in flight.
 *
 *   posted --> [armed] --its job runs: begin_job, the copy, end_job--> [armed] --> ended
 */
#ifndef SHIM_CHECK_RACE_H
#define SHIM_CHECK_RACE_H

#include "race_records.h"

struct check_lock;
struct race_foreign;

/* Notices accesses to the memory of records. Each slot but is_live may be NULL. Calls for one record do not overlap. */
struct race_detector {
	const char *name;
	struct check_lock *lock; /* is made anew in a forked child; NULL = none */
	bool (*is_live)(void);
	void (*start)(void);
	void (*posted)(struct race_record *record);
	void (*armed)(struct race_record *record);  /* each detector has seen the task */
	void (*forked)(struct race_record *record); /* in a forked child, whose memory is a copy */
	void (*refused)(struct race_record *record);
	void (*begin_job)(struct race_record *record);
	void (*end_job)(struct race_record *record);
	void (*ended)(struct race_record *record, bool has_failed);
	/* Of tasks of other processes that use this process's memory (race_session.h), in the listener's thread. */
	bool (*listens)(void); /* NULL = never */
	void (*guard)(const struct race_foreign *foreign);
	void (*unguard)(const struct race_foreign *foreign);
};

extern const struct race_detector race_session, race_plain, race_asan, race_tsan, race_valgrind, race_guard;

/* The bytes that race_plain wants behind a record, for a range of @len_bytes. */
size_t race_plain_room(size_t len_bytes);

/* Whether no sanitizer watches this process, and no valgrind. */
bool race_plain_is_alone(void);

/* Without detectors: the thread sanitizer, which does not know the order of tasks, does not see their copies. */
void check_race_stay_off(void);

/* The names of the live detectors, separated by commas; "" = none. */
const char *check_race_detectors(void);

#endif
