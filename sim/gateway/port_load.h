/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/port_load.h - in timed mode, the load of this machine's ports, and of the links on the way to them, by all machines.
 *
 * A requester's model knows what the programs of its own machine send. Here, what other machines send to a port or read from it takes
 * its turn on the port's link and on those between switches, in the model that the programs of this machine use:
 *
 *   a message has come --the links, from its due time on--> due then, if that is later
 *   a write or a read is done --the links, as late as by the model of an idle network--> its answer leaves then
 *
 * So a requester completes neither before its own model's time nor before the links have served what came earlier. Answers of a stream
 * keep their order. The link of the requester's own port is left to the model of its machine. What passes a link between switches
 * from one other machine to another is not known here.
 */
#ifndef SIM_GATEWAY_PORT_LOAD_H
#define SIM_GATEWAY_PORT_LOAD_H

#include "gateway.h"
#include "pcie_model/net.h"

/* The links that one requester's data pass, without that of its own port. */
struct port_load {
	bool is_known;                /* in timed mode, between ports that reach each other */
	struct pcie_net_path in, out; /* to the port, and from it */
	uint64_t there_ps;            /* latency of the path from the requester to the first of the links in */
	uint64_t arrive_ps;           /* the same to the port */
	uint64_t deliver_ps;          /* from a message's last byte on the last link to its receive */
};

/* Between the function @here of this machine and @there of another one. */
void port_load_find(const struct gateway *gateway, uint32_t here, uint32_t there, struct port_load *ret_load);

/* A message of @bytes arrives at the session time @due_ns by its requester's model. Returns when it does by this one. */
uint64_t port_load_message(struct gateway *gateway, const struct port_load *load, uint64_t bytes, uint64_t due_ns);

/* Send the answer to a request, when it is time. @load: of the memory, or NULL. */
void port_load_answer(struct gateway *gateway, const struct port_load *load, const struct gateway_frame *request,
		      struct gateway_frame *answer);

/* Send what is due. Returns when that is to be called again. */
uint64_t port_load_tick(struct gateway *gateway, uint64_t now_ns);

/* What waits for the machine goes. */
void port_load_drop(struct gateway *gateway, uint32_t machine);

#endif
