/* SPDX-License-Identifier: BSD-3-Clause */
/* Home introduces two machines to each other. */
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "secure.h"

#define NOBODY_LISTENS "neither machine listens (bfsim join --listen)"

_Static_assert(GATEWAY_NONCE_BYTES == SECURE_NONCE_BYTES, "a nonce is the salt of a key");
_Static_assert(GATEWAY_HOST_SIZE == RAIL_HOST_SIZE, "an address is a rail's");

void direct_home_on_listens(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	struct gateway_machine *machine = &gateway->machines[link->machine];
	char host[GATEWAY_HOST_SIZE];

	if (frame->a > UINT16_MAX || gateway_host_read(frame->body, frame->len_bytes, host) < 0) {
		link_close(link, "it has sent what is no address");
		return;
	}
	if (!host[0])
		rail_peer_host(link->conn, host);
	machine->direct_port = host[0] ? (uint16_t)frame->a : 0;
	memcpy(machine->direct_host, host, sizeof(host));
}

/* The number of the last offer to a pair; NULL without memory. */
static uint64_t *last_offer(struct gateway *gateway, uint32_t a, uint32_t b)
{
	struct gateway_machine *machine = &gateway->machines[a < b ? a : b];

	if (!machine->offers)
		machine->offers = calloc(gateway->num_machines, sizeof(*machine->offers));
	return machine->offers ? &machine->offers[a < b ? b : a] : NULL;
}

void direct_home_forget(struct gateway *gateway, uint32_t machine)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (i != machine && gateway->machines[i < machine ? i : machine].offers)
			*last_offer(gateway, i, machine) = 0;
	gateway->machines[machine].direct_port = 0;
}

/* To the machine @to, of @other. @listener: NULL = @other connects. */
static void send_offer(struct gateway *gateway, uint32_t to, uint32_t other, uint64_t number,
		       const uint8_t nonce[GATEWAY_NONCE_BYTES], const struct gateway_machine *listener)
{
	struct gateway_offer offer = { 0 };
	uint8_t body[GATEWAY_OFFER_MAX_BYTES];
	struct gateway_frame frame = { .kind = GATEWAY_DIRECT_OFFER,
				       .from = (uint16_t)gateway->self,
				       .to = (uint16_t)to,
				       .id = number,
				       .a = other,
				       .b = listener ? listener->direct_port : 0,
				       .body = body };

	memcpy(offer.nonce, nonce, sizeof(offer.nonce));
	if (listener)
		memcpy(offer.host, listener->direct_host, sizeof(offer.host));
	frame.len_bytes = (uint32_t)gateway_offer_write(&offer, body);
	link_send(gateway->machines[to].link, &frame);
}

static void refuse(struct gateway *gateway, uint32_t asker, uint32_t other)
{
	struct gateway_frame frame = { .kind = GATEWAY_NO_DIRECT,
				       .from = (uint16_t)gateway->self,
				       .to = (uint16_t)asker,
				       .a = other,
				       .body = (const uint8_t *)NOBODY_LISTENS,
				       .len_bytes = sizeof(NOBODY_LISTENS) - 1 };

	link_send(gateway->machines[asker].link, &frame);
}

/* A machine that has not seen the last offer to the pair will see it: there is no second one. */
void direct_home_on_wish(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	const uint32_t asker = link->machine, other = (uint32_t)frame->a;
	uint8_t nonce[GATEWAY_NONCE_BYTES];
	uint32_t listener, dialler;
	uint64_t *last;

	if (frame->a >= gateway->num_machines || other == asker || !members_has(gateway, other) ||
	    !gateway->machines[other].link)
		return;
	listener = gateway->machines[other].direct_port > 0 ? other : asker;
	dialler = listener == other ? asker : other;
	if (gateway->machines[listener].direct_port == 0) {
		refuse(gateway, asker, other);
		return;
	}
	last = last_offer(gateway, asker, other);
	if (!last || frame->id < *last || secure_make_nonce(nonce) < 0)
		return;
	*last = ++gateway->last_offer;
	send_offer(gateway, listener, dialler, *last, nonce, NULL);
	send_offer(gateway, dialler, listener, *last, nonce, &gateway->machines[listener]);
}
