/* SPDX-License-Identifier: BSD-3-Clause */
/* Links to other machines that rules take down: the gateway is told of each. One that is started again is told of what the one
 * before did not take, and of the rest of an outage that goes on. */
#include <stdlib.h>

#include "daemon_priv.h"
#include "pcie_model/arith.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

/* Of the link to one machine; several rules may have taken it down. */
struct outage {
	uint32_t machine;
	uint64_t end_ns;       /* by the monotonic clock */
	uint64_t untaken_seq;  /* of the last message that the gateway has not taken; 0 = there is none */
	uint64_t untaken_ns;   /* what such messages say: for how long */
	bool has_untaken_kill; /* and that connections break */
	LIST_ENTRY(outage) entry;
};

static struct outage *find(const struct daemon *daemon, uint32_t machine)
{
	struct outage *outage;

	LIST_FOREACH(outage, &daemon->gateway.outages, entry)
		if (outage->machine == machine)
			return outage;
	return NULL;
}

static struct outage *add(struct daemon *daemon, uint32_t machine)
{
	struct outage *outage = calloc(1, sizeof(*outage));

	if (!outage) {
		sim_warn("no memory: an outage of the link to a machine ends when the gateway does");
		return NULL;
	}
	outage->machine = machine;
	LIST_INSERT_HEAD(&daemon->gateway.outages, outage, entry);
	return outage;
}

void daemon_begin_outage(struct daemon *daemon, uint32_t machine, uint64_t ns, bool breaks)
{
	struct sim_msg msg = { .type = SIM_MSG_OUTAGE,
			       .seq = ++daemon->next_seq,
			       .body.outage = { .machine = machine, .breaks = breaks, .ns = ns } };
	struct outage *outage = find(daemon, machine);

	outage = outage ? outage : add(daemon, machine);
	if (outage) {
		outage->end_ns = max_u64(outage->end_ns, add_saturating_u64(sim_monotonic_ns(), ns));
		outage->untaken_seq = msg.seq;
		outage->untaken_ns = max_u64(outage->untaken_ns, ns);
		outage->has_untaken_kill |= breaks;
	}
	daemon_send(daemon, daemon->gateway.conn, &msg, -1);
}

void daemon_outage_taken(struct daemon *daemon, const struct conn *conn, uint64_t seq)
{
	struct outage *outage;

	if (conn != daemon->gateway.conn)
		return;
	LIST_FOREACH(outage, &daemon->gateway.outages, entry)
		if (outage->untaken_seq == seq) {
			outage->untaken_seq = outage->untaken_ns = 0;
			outage->has_untaken_kill = false;
		}
}

void daemon_tell_outages(struct daemon *daemon)
{
	const uint64_t now_ns = sim_monotonic_ns();
	struct outage *outage;

	LIST_FOREACH(outage, &daemon->gateway.outages, entry) {
		const uint64_t left_ns = outage->end_ns - min_u64(outage->end_ns, now_ns);

		if (outage->untaken_seq > 0 || left_ns > 0)
			daemon_begin_outage(daemon, outage->machine, max_u64(left_ns, outage->untaken_ns),
					    outage->has_untaken_kill);
	}
}

void daemon_free_outages(struct daemon *daemon)
{
	struct outage *outage;

	while ((outage = LIST_FIRST(&daemon->gateway.outages))) {
		LIST_REMOVE(outage, entry);
		free(outage);
	}
}
