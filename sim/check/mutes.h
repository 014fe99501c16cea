/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/check/mutes.h - hits that a project knows and does not want to see: a YAML file.
 *
 *   mutes:
 *     - rule: BFC-TASK-001          # id or name; "*" = any, with a site only
 *       site:                       # all that is given must match; globs
 *         function: "legacy_*"      # and file: of one frame of the hit's stack
 *         file: "src/old.c:120"     # the end of the path; the line may be left out
 *         object: "export-*"        # the name of one of the hit's objects
 *       reason: the old path is replaced in 2.0      # required
 *       expires: 2027-01-31         # the last day; may be left out
 *
 * A muted hit is not printed and does not change the exit status; reports have it with the reason. A mute that has
 * expired mutes nothing.
 */
#ifndef SIM_CHECK_MUTES_H
#define SIM_CHECK_MUTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pcie_model/yaml_doc.h"
#include "rules.h"

struct json_object;

#define SIM_CHECK_DATE_SIZE        11
#define SIM_CHECK_MUTES_ERROR_SIZE 512

struct sim_check_mute {
	const struct sim_check_rule_entry *rule; /* NULL = any */
	char *function, *file, *object;          /* globs; NULL = any */
	int source_line;                         /* of @file; 0 = any */
	char *reason;
	char expires[SIM_CHECK_DATE_SIZE]; /* YYYY-MM-DD; "" = never */
	bool is_expired;
	int line; /* of the file of mutes */
};

struct sim_check_mutes {
	const char *path;
	uint32_t count;
	struct sim_check_mute *list;
	struct pcie_yaml_doc doc; /* has the memory of all texts and of the list */
};

/* Read a file. The caller frees *ret_mutes with sim_check_mutes_free(). Returns 0, or a -errno and the reason with file
 * and line in @error. */
int sim_check_mutes_read(const char *path, struct sim_check_mutes **ret_mutes, char error[SIM_CHECK_MUTES_ERROR_SIZE]);

/* NULL is fine. */
void sim_check_mutes_free(struct sim_check_mutes *mutes);

/* The first mute that holds for a hit (hit.h), or NULL; @mutes may be NULL. */
const struct sim_check_mute *sim_check_mutes_find(const struct sim_check_mutes *mutes,
						  const struct sim_check_rule_entry *rule, struct json_object *hit);

/* Mark a hit as muted: by a line of the file, or 0 if the program muted it. */
void sim_check_hit_mute(struct json_object *hit, const char *reason, int line);

/* Print a line for each mute that has expired or that muted none of @hits. */
void sim_check_mutes_print_useless(const struct sim_check_mutes *mutes, struct json_object *hits, FILE *out);

#endif
