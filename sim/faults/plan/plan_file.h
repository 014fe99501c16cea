/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/plan/plan_file.h - a plan as a YAML file.
 *
 *   seed: 42
 *   faults:
 *     - dma.memcpy nth=3 fail=IO_FAILED
 *     - {op: comch.send, size: ">=1k", every: 10, drop: true}
 *
 * A rule is a line, or a mapping with the same keywords as keys. A keyword without a
 * value has the value true in a mapping. Errors name file and line.
 */
#ifndef SIM_FAULTS_PLAN_FILE_H
#define SIM_FAULTS_PLAN_FILE_H

#include "plan.h"

#define SIM_PLAN_FILE_MAX_BYTES  (4u << 20)
#define SIM_PLAN_FILE_ERROR_SIZE 512

struct sim_plan_file_rule {
	struct sim_rule rule;
	char delays_file[SIM_DELAYS_FILE_SIZE]; /* "" = none */
	struct sim_delays *delays;              /* NULL until loaded */
	unsigned int line;
};

struct sim_plan_file {
	bool has_seed;
	uint64_t seed;
	uint32_t num_rules;
	struct sim_plan_file_rule *rules;
};

/* Read a plan from text; messages name the file @name. Files of delays are not
 * opened. The caller ends *ret_file with sim_plan_file_fini(). Returns 0, -EINVAL
 * with @error set ("file:line: reason") or -ENOMEM. */
int sim_plan_file_parse(const char *name, const char *yaml, size_t len, struct sim_plan_file *ret_file,
			char error[SIM_PLAN_FILE_ERROR_SIZE]);

/* Read the file @path and the files of delays that it names, relative to its
 * folder. Returns 0, -EINVAL, -ENOMEM or another -errno; @error is set. */
int sim_plan_file_load(const char *path, struct sim_plan_file *ret_file, char error[SIM_PLAN_FILE_ERROR_SIZE]);

void sim_plan_file_fini(struct sim_plan_file *file);

/* Add the rules of @file to @plan, and set its seed if @file has one. Returns 0, or as
 * sim_plan_add() with @error set and the rules before the failing one added. */
int sim_plan_file_apply(const struct sim_plan_file *file, struct sim_plan *plan, uint64_t now_ns,
			char error[SIM_PLAN_FILE_ERROR_SIZE]);

#endif
