/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/hit_list.h - the hits of all processes of a run: an array of hits (hit.h). */
#ifndef SIM_CHECK_HIT_LIST_H
#define SIM_CHECK_HIT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules.h"

struct json_object;

struct sim_hit_count {
	size_t num_sites;
	uint64_t num_hits;
	uint64_t num_muted; /* hits; not in the others */
};

/* The programs of a run whose libraries were told to check; each process counts. */
struct sim_hit_programs {
	size_t num_checked;
	size_t num_unchecked; /* of a generation that the mode does not check */
	char unchecked[64];   /* the name of the first */
	size_t num_cut;       /* checked, but not to their end: killed, or ended by _exit() or exec() */
	char cut[64];         /* the name of the first */
	int cut_pid;
};

/* Read a file of hits. Lines that are damaged, such as the last one of a process that was killed, are left out. The
 * caller frees the array. */
struct json_object *sim_hit_list_read(int fd);

/* Read which programs wrote to a file of hits that they began. */
void sim_hit_list_read_programs(int fd, struct sim_hit_programs *ret_programs);

/* Count the hits of a rule. */
struct sim_hit_count sim_hit_list_count(struct json_object *list, const char *rule_id);

/* Whether a rule of this severity, or of a more severe one, was hit; muted hits are none. */
bool sim_hit_list_has(struct json_object *list, enum sim_check_severity severity);

#endif
