/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/fault/fault_change.h - a change of a machine's fault plan, made there.
 *
 *   this machine      cli_fault_apply()
 *   another one       cli_fault_send() --change, then the delays--> its helper: cli_fault_change_read(), cli_fault_apply()
 */
#ifndef SIM_CLI_FAULT_FAULT_CHANGE_H
#define SIM_CLI_FAULT_FAULT_CHANGE_H

#include <json-c/json.h>

#include "sim/control/control.h"

struct cli_fault_change {
	uint32_t change; /* enum sim_fault_change */
	uint32_t id;     /* REMOVE: the rule */
	uint64_t seed;
	uint64_t lasts_ns;     /* ADD: the rule ends so long after it is added; 0 = by itself, or never */
	uint32_t refuses_noop; /* 0 or 1: ADD fails if the rule would change none of the functions that it names */
	uint32_t has_delays;   /* 0 or 1: they follow in the helper's input */
	struct sim_rule rule;
};

#define CLI_FAULT_CHANGE_MAX_BYTES (sizeof(struct cli_fault_change) + sim_delays_size(SIM_DELAYS_MAX))

/* Read a change from another machine; *ret_delays points into it, or is NULL. Returns 0 or -EPROTO. */
int cli_fault_change_read(const void *bytes, size_t len, struct cli_fault_change *ret_change,
			  const struct sim_delays **ret_delays);

/* Whether the topology has a function that the rule names; if not, with a message. */
bool cli_fault_has_device(const struct pcie_topology *topology, const char *dir, const struct sim_rule *rule);

/* Change the plan of this machine's session. *ret_id is the id of an added rule. Returns 0, or -1 with a message. */
int cli_fault_apply(const struct cli_fault_change *change, const struct sim_delays *delays, int dir_fd, const char *dir,
		    uint32_t *ret_id);

/* The same on @machine. */
int cli_fault_send(const char *dir, const char *machine, const struct cli_fault_change *change,
		   const struct sim_delays *delays, uint32_t *ret_id);

/* The rules of this machine's plan as a list of objects; NULL with a message. */
json_object *cli_fault_rules(int dir_fd, const char *dir);

/* Those of @machine. */
json_object *cli_fault_rules_of(const char *dir, const char *machine);

#endif
