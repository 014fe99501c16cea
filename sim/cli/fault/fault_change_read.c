/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a change of a fault plan that another machine has sent. */
#include <errno.h>
#include <string.h>

#include "fault_change.h"

int cli_fault_change_read(const void *bytes, size_t len, struct cli_fault_change *ret_change,
			  const struct sim_delays **ret_delays)
{
	const struct sim_delays *delays = NULL;
	struct cli_fault_change change;

	if (len < sizeof(change))
		return -EPROTO;
	memcpy(&change, bytes, sizeof(change));
	if (change.change < SIM_FAULT_ADD || change.change > SIM_FAULT_SEED || change.refuses_noop > 1 ||
	    change.has_delays > 1 || change.lasts_ns > SIM_RULE_MAX_NS)
		return -EPROTO;
	if (change.change == SIM_FAULT_ADD && sim_rule_check(&change.rule) < 0)
		return -EPROTO;
	if (change.has_delays)
		delays = (const struct sim_delays *)((const char *)bytes + sizeof(change));
	if (change.has_delays ? sim_delays_check(delays, len - sizeof(change)) < 0 : len != sizeof(change))
		return -EPROTO;
	*ret_change = change;
	*ret_delays = delays;
	return 0;
}
