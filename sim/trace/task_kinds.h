/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/task_kinds.h - names of the kinds of tasks, in recordings, in bfsim stats and in users' queries.
 *
 * The names stand in the descriptions of the libraries, and SIM_TASK_KINDS lists them all: a query can so tell an unknown
 * name from a kind that has no task yet.
 */
#ifndef SIM_TRACE_TASK_KINDS_H
#define SIM_TRACE_TASK_KINDS_H

#include <stdbool.h>

#include "sim/task_kind_names.h" /* written by gen_operations.py */

/* Whether @name is a kind of task. */
bool sim_task_kind_exists(const char *name);

/* All names, for messages: "DMA memcpy, Comch send, ...". A static string. */
const char *sim_task_kind_names(void);

#endif
