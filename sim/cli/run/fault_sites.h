/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/fault_sites.h - where the programs of a run could have been hit: their operations, from their recordings.
 *
 * A site is one kind of operation of one program at one device. Recordings have tasks, messages and contexts; exports,
 * imports, devices, allocations and connects are not recorded. Counts are exact; sizes are those of the operations that
 * were recorded one by one.
 */
#ifndef SIM_CLI_RUN_FAULT_SITES_H
#define SIM_CLI_RUN_FAULT_SITES_H

#include "pcie_model/topology/topology.h"
#include "sim/faults/plan/plan.h"
#include "sim/trace/export/merged_trace.h"

struct cli_fault_site {
	uint32_t recording; /* index of the process's */
	enum sim_op op;
	enum sim_trace_kind kind; /* of its records */
	uint32_t subject;         /* of its records */
	uint32_t object;          /* of the recording */
	uint64_t count;
	uint64_t min_bytes, max_bytes; /* min > max: no size is known */
	bool has_size;                 /* an operation has a size that the last rule asked for */
};

struct cli_fault_sites {
	struct sim_merged_trace merged;
	struct pcie_topology *topology;
	struct cli_fault_site *list;
	size_t count;
};

/* Collect the sites of the session in @dir, whose daemon must live. Returns 0 (the caller ends it), or -1 with a message. */
int cli_fault_sites_init(const char *dir, struct cli_fault_sites *ret_sites);
void cli_fault_sites_fini(struct cli_fault_sites *sites);

/* Set has_size of all sites for a rule's sizes. */
void cli_fault_sites_look_for_size(struct cli_fault_sites *sites, uint64_t min_bytes, uint64_t max_bytes);

#endif
