/* SPDX-License-Identifier: BSD-3-Clause */
/* Due times by the differences of clocks. */
#include "model_time.h"

#include <string.h>

#include "gateway.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"
#include "sim/rdma/inbox.h"

/* By how much home's clock is ahead. Returns whether that is known. */
static bool find_home(const struct gateway *gateway, uint64_t *ret_ahead_ns)
{
	const struct link *link = gateway->cfg.is_home ? NULL : gateway->machines[gateway->home].link;

	*ret_ahead_ns = link ? link->clock.ahead_ns : 0;
	return gateway->cfg.is_home || (link && link->clock.error_ns > 0);
}

/* ---- records ---- */

static bool has_due_time(const struct gateway *gateway, uint32_t kind, size_t len)
{
	return gateway->clock == SIM_CLOCK_TIMED && kind != SIM_INBOX_MORE && len >= sizeof(struct sim_inbox_head);
}

void model_time_send(const struct gateway *gateway, uint32_t kind, uint8_t *record, size_t len)
{
	struct sim_inbox_head head;
	uint64_t ahead_ns;

	if (!has_due_time(gateway, kind, len))
		return;
	memcpy(&head, record, sizeof(head));
	if (head.due_ns == 0)
		return;
	head.due_ns = find_home(gateway, &ahead_ns) ?
			      sim_clock_real_ns(sim_session_clock(gateway->session), head.due_ns) + ahead_ns :
			      0;
	memcpy(record, &head, sizeof(head));
}

void model_time_receive(struct gateway *gateway, uint32_t kind, uint8_t *record, size_t len)
{
	const uint64_t now_ns = sim_monotonic_ns();
	struct sim_inbox_head head;
	uint64_t ahead_ns, due_ns;

	if (!has_due_time(gateway, kind, len))
		return;
	memcpy(&head, record, sizeof(head));
	if (head.due_ns == 0)
		return;
	due_ns = find_home(gateway, &ahead_ns) ? head.due_ns - ahead_ns : now_ns;
	head.due_ns = due_ns - min_u64(due_ns, sim_clock_real_ns(sim_session_clock(gateway->session), 0));
	memcpy(record, &head, sizeof(head));
	gateway->num_timed++;
	if (due_ns >= now_ns)
		return;
	gateway->num_late++;
	gateway->max_late_ns = max_u64(gateway->max_late_ns, now_ns - due_ns);
}
