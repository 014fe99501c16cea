/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct links: offers, connections, and their ends. */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outage.h"
#include "pcie_model/arith.h"
#include "secure.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define MAX_PORT_DIGITS 6

/* ---- the listener ---- */

int direct_open(struct gateway *gateway)
{
	const struct rail_cfg cfg = { .provider = gateway->cfg.provider,
				      .host = gateway->cfg.listen_host,
				      .port = gateway->cfg.listen_port,
				      .is_listener = true,
				      .ops = gateway->rail_ops,
				      .arg = gateway,
				      .beside = gateway->rail };

	if (gateway->cfg.is_home)
		gateway->listener = gateway->rail;
	return gateway->cfg.is_home || !gateway->cfg.listen_port ? 0 : rail_open(&cfg, &gateway->listener);
}

void direct_say_listens(struct gateway *gateway)
{
	char host[RAIL_HOST_SIZE] = "";
	struct gateway_frame frame = { .kind = GATEWAY_LISTENS, .body = (const uint8_t *)host };

	if (!gateway->listener)
		return;
	if (gateway->cfg.advertised_host)
		snprintf(host, sizeof(host), "%s", gateway->cfg.advertised_host);
	else
		rail_host(gateway->listener, host);
	frame.a = gateway->cfg.advertised_port > 0 ? gateway->cfg.advertised_port : rail_port(gateway->listener);
	frame.len_bytes = (uint32_t)strlen(host);
	link_send(gateway->machines[gateway->home].link, &frame);
}

/* ---- to the other machine ---- */

/* By way of home, or over the link. */
static void send_about(struct gateway *gateway, uint32_t machine, enum gateway_kind kind, uint64_t number)
{
	gateway_send(gateway, machine, &(struct gateway_frame){ .kind = kind, .id = number });
}

static void send_refusal(struct gateway *gateway, uint32_t machine, const struct direct *direct)
{
	struct gateway_frame frame = { .kind = GATEWAY_NO_DIRECT,
				       .id = direct->number,
				       .b = gateway->listener != NULL,
				       .body = (const uint8_t *)direct->words,
				       .len_bytes = (uint32_t)strlen(direct->words) };

	gateway_send(gateway, machine, &frame);
}

/* ---- the end ---- */

/* No offer and no link any more. */
static void reset(struct gateway *gateway, struct direct *direct, uint64_t wish_ns)
{
	secure_keys_remove(gateway->keys, direct->number);
	if (direct->link)
		link_close(direct->link, "it is not needed any more");
	direct->link = NULL;
	direct->state = DIRECT_NONE;
	direct->way = DIRECT_BY_HOME;
	direct->switched = 0;
	direct->has_confirmed = false;
	direct->wish_ns = wish_ns;
	held_drop(&direct->held);
	gateway->is_status_old = true;
}

/* There was no link yet: nothing is lost. */
static void fail(struct gateway *gateway, uint32_t machine, const char *words)
{
	struct direct *direct = gateway->machines[machine].direct;

	snprintf(direct->words, sizeof(direct->words), "%s", words);
	reset(gateway, direct, sim_monotonic_ns() + DIRECT_RETRY_NS);
	sim_info("no direct link to machine %s: %s", gateway->machines[machine].name, direct->words);
}

/* What was under way is lost. What follows goes by way of home. */
static void lose(struct gateway *gateway, uint32_t machine, const char *words)
{
	struct direct *direct = gateway->machines[machine].direct;

	snprintf(direct->words, sizeof(direct->words), "the direct link has broken: %s", words);
	reset(gateway, direct, sim_monotonic_ns() + DIRECT_RETRY_NS);
	gateway->direct_ops->reset(gateway, machine, direct->words);
}

static void on_broken(struct gateway *gateway, uint32_t machine, const char *words)
{
	struct direct *direct = gateway->machines[machine].direct;

	lose(gateway, machine, words);
	direct->awaited = direct->number;
	send_about(gateway, machine, GATEWAY_BREAK, direct->number);
}

void direct_machine_lost(struct gateway *gateway, uint32_t machine)
{
	struct direct *direct = gateway->machines[machine].direct;

	if (!direct)
		return;
	reset(gateway, direct, 0);
	direct->awaited = 0;
	direct->words[0] = '\0';
}

/* ---- the link ---- */

/* The number of the machine whose link it is; LINK_NO_MACHINE = none. */
static uint32_t find_machine(const struct gateway *gateway, const struct link *link)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (gateway->machines[i].direct && gateway->machines[i].direct->link == link)
			return i;
	return LINK_NO_MACHINE;
}

/* The number of the machine with which home has offered a link by that number. */
static uint32_t find_offer(const struct gateway *gateway, uint64_t number)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (gateway->machines[i].direct && gateway->machines[i].direct->state == DIRECT_OFFERED &&
		    gateway->machines[i].direct->number == number)
			return i;
	return LINK_NO_MACHINE;
}

static void confirm(struct gateway *gateway, uint32_t machine)
{
	struct direct *direct = gateway->machines[machine].direct;
	struct gateway_frame frame = {
		.kind = GATEWAY_SWITCHED, .from = (uint16_t)gateway->self, .to = (uint16_t)machine, .id = direct->number
	};

	direct->has_confirmed = true;
	link_send(direct->link, &frame);
}

/* Frames that a fault holds back would come behind those that are sent now: the switch waits for the fault's end. */
static void begin_switch(struct gateway *gateway, uint32_t machine)
{
	struct direct *direct = gateway->machines[machine].direct;

	if (direct->state != DIRECT_UP || direct->way != DIRECT_BY_HOME || gateway->num_outages > 0)
		return;
	direct->way = DIRECT_SWITCHING;
	send_about(gateway, machine, GATEWAY_SWITCH, direct->number);
}

static void on_proved(void *arg, struct link *link)
{
	struct gateway *gateway = arg;
	const uint64_t number = secure_number(link->secure);
	uint32_t machine = find_offer(gateway, number);
	struct direct *direct = machine != LINK_NO_MACHINE ? gateway->machines[machine].direct : NULL;

	secure_keys_remove(gateway->keys, number);
	if (!direct || (direct->link && direct->link != link)) {
		link_close(link, "its offer is over");
		return;
	}
	direct->state = DIRECT_UP;
	direct->link = link;
	direct->words[0] = '\0';
	link_set_up(link, machine);
	gateway->is_status_old = true;
	sim_info("there is a direct link to machine %s", gateway->machines[machine].name);
	begin_switch(gateway, machine);
	if (direct->switched == number)
		confirm(gateway, machine);
}

static void take_confirmation(struct gateway *gateway, struct direct *direct, struct link *link,
			      const struct gateway_frame *frame)
{
	if (direct->way != DIRECT_SWITCHING || frame->id != direct->number) {
		link_close(link, "it confirms what was not asked");
		return;
	}
	direct->way = DIRECT_SWITCHED;
	held_send(&direct->held, gateway_pass_late, gateway);
}

static void on_frame(void *arg, struct link *link, const struct gateway_frame *frame)
{
	struct gateway *gateway = arg;
	uint32_t machine = find_machine(gateway, link);
	struct direct *direct = machine != LINK_NO_MACHINE ? gateway->machines[machine].direct : NULL;

	if (!direct || link->state != LINK_UP)
		return;
	if (frame->kind < GATEWAY_IMPORT)
		link_close(link, "it has sent a frame that is not its to send");
	else if (frame->from != machine || frame->to != gateway->self)
		link_close(link, "it speaks for another machine");
	else if (frame->kind == GATEWAY_SWITCHED)
		take_confirmation(gateway, direct, link, frame);
	else if (!direct->has_confirmed || gateway_kind_is_about_direct(frame->kind))
		link_close(link, "it has sent what goes by way of home");
	else
		gateway->direct_ops->take_frame(gateway, frame);
}

static void on_lost(void *arg, struct link *link, const char *words)
{
	struct gateway *gateway = arg;
	uint32_t machine = find_machine(gateway, link);
	struct direct *direct = machine != LINK_NO_MACHINE ? gateway->machines[machine].direct : NULL;
	char text[GATEWAY_WORDS_SIZE];

	if (gateway->stop)
		return;
	if (!direct) {
		if (link->is_server && link->machine == LINK_NO_MACHINE)
			gateway->direct_ops->refuse(gateway, words);
		return;
	}
	direct->link = NULL;
	if (direct->state == DIRECT_UP) {
		on_broken(gateway, machine, words);
		return;
	}
	snprintf(text, sizeof(text), "cannot connect to %s, port %u: %s", direct->host, direct->port, words);
	fail(gateway, machine, text);
	send_refusal(gateway, machine, direct);
}

const struct link_ops direct_link_ops = { .on_frame = on_frame, .on_proved = on_proved, .on_lost = on_lost };

/* ---- connecting ---- */

/* Returns 0 or -errno. */
static int dial(struct gateway *gateway, struct direct *direct)
{
	char port[MAX_PORT_DIGITS];
	const struct rail_cfg rail_cfg = { .provider = gateway->cfg.provider,
					   .host = direct->host,
					   .port = port,
					   .ops = gateway->rail_ops,
					   .arg = gateway,
					   .beside = gateway->rail };
	struct link *link = link_create(&(struct link_cfg){ .ops = &direct_link_ops,
							    .arg = gateway,
							    .keys = gateway->keys,
							    .number = direct->number,
							    .is_trusted = gateway->cfg.is_trusted });
	int rc;

	if (!link)
		return -ENOMEM;
	snprintf(port, sizeof(port), "%u", direct->port);
	rc = rail_open(&rail_cfg, &link->own_rail);
	if (rc == 0)
		rc = rail_connect(link->own_rail, link, &link->conn);
	if (rc < 0) {
		link_destroy(link);
		return rc;
	}
	LIST_INSERT_HEAD(&gateway->links, link, entry);
	direct->link = link;
	return 0;
}

static void take_ready(struct gateway *gateway, uint32_t machine, const struct gateway_frame *frame)
{
	struct direct *direct = gateway->machines[machine].direct;
	char text[GATEWAY_WORDS_SIZE];
	int rc;

	if (direct->state != DIRECT_OFFERED || direct->port == 0 || direct->link || frame->id != direct->number)
		return;
	rc = dial(gateway, direct);
	if (rc == 0)
		return;
	snprintf(text, sizeof(text), "cannot connect to %s, port %u: %s", direct->host, direct->port, strerror(-rc));
	fail(gateway, machine, text);
	send_refusal(gateway, machine, direct);
}

void direct_on_offer(struct gateway *gateway, const struct gateway_frame *frame)
{
	const uint32_t machine = (uint32_t)frame->a;
	struct gateway_offer offer;
	struct direct *direct;

	if (frame->a >= gateway->num_machines || !members_has(gateway, machine) || machine == gateway->home ||
	    gateway_offer_read(frame, &offer) < 0 || (frame->b == 0 && !gateway->listener))
		return;
	direct = direct_of(gateway, machine);
	if (!direct || direct->state == DIRECT_UP || direct->state == DIRECT_OFFERED)
		return;
	if (secure_keys_add(gateway->keys, frame->b == 0, frame->id, offer.nonce) < 0)
		return;
	direct->state = DIRECT_OFFERED;
	direct->number = frame->id;
	direct->port = (uint16_t)frame->b;
	direct->deadline_ns = sim_monotonic_ns() + DIRECT_OFFER_NS;
	memcpy(direct->host, offer.host, sizeof(direct->host));
	if (direct->port == 0)
		send_about(gateway, machine, GATEWAY_READY, direct->number);
}

/* ---- frames by way of home ---- */

static void take_refusal(struct gateway *gateway, uint32_t machine, const struct gateway_frame *frame)
{
	struct gateway_machine *other = &gateway->machines[machine];
	bool is_of_home = frame->from == gateway->home;
	bool may_wish = other->direct->wish_ns <= sim_monotonic_ns();
	char said[GATEWAY_WORDS_SIZE], words[GATEWAY_WORDS_SIZE + PCIE_SIDE_SIZE + 1];

	gateway_words_read(frame, said);
	if (is_of_home && other->direct->state == DIRECT_WISHED) {
		fail(gateway, machine, said);
		other->direct->wish_ns = UINT64_MAX; /* until it joins anew, perhaps with other options */
	} else if (!is_of_home && other->direct->state == DIRECT_OFFERED && other->direct->port == 0 &&
		   frame->id == other->direct->number) {
		snprintf(words, sizeof(words), "%s %s", other->name, said);
		fail(gateway, machine, words);
		if (may_wish && frame->b == 1) {
			other->direct->wish_ns = 0;
			direct_wish(gateway, machine);
		}
	}
}

static void take_switch(struct gateway *gateway, uint32_t machine, const struct gateway_frame *frame)
{
	struct direct *direct = gateway->machines[machine].direct;

	if (frame->id != direct->number)
		return;
	direct->switched = frame->id;
	if (direct->state == DIRECT_UP && !direct->has_confirmed)
		confirm(gateway, machine);
}

/* The other machine has dropped what it has of this one. */
static void take_break(struct gateway *gateway, uint32_t machine, const struct gateway_frame *frame)
{
	struct direct *direct = gateway->machines[machine].direct;
	struct gateway_frame answer = { .kind = GATEWAY_BREAK, .id = frame->id, .a = 1 };

	if (direct && direct->awaited == frame->id) {
		direct->awaited = 0;
		return;
	}
	if (frame->a == 1 || (direct && direct->state == DIRECT_UP && direct->number != frame->id))
		return;
	if (direct && direct->number == frame->id)
		lose(gateway, machine, "the other machine has lost it");
	gateway_send(gateway, machine, &answer);
}

void direct_on_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	uint32_t machine = frame->from == gateway->home ? (uint32_t)frame->a : frame->from;

	if (gateway->cfg.is_home || !members_has(gateway, machine) || machine == gateway->home)
		return;
	if (frame->kind == GATEWAY_BREAK)
		take_break(gateway, machine, frame);
	else if (!gateway->machines[machine].direct)
		return;
	else if (frame->kind == GATEWAY_READY)
		take_ready(gateway, machine, frame);
	else if (frame->kind == GATEWAY_NO_DIRECT)
		take_refusal(gateway, machine, frame);
	else if (frame->kind == GATEWAY_SWITCH)
		take_switch(gateway, machine, frame);
}

/* ---- time ---- */

static void expire(struct gateway *gateway, uint32_t machine)
{
	struct direct *direct = gateway->machines[machine].direct;
	char text[GATEWAY_WORDS_SIZE];

	snprintf(text, sizeof(text), "%s %s", direct->state == DIRECT_WISHED ? "home" : gateway->machines[machine].name,
		 direct->state == DIRECT_WISHED ? "has not answered" :
		 direct->port == 0              ? "has not connected to this machine" :
						  "was not ready");
	fail(gateway, machine, text);
}

uint64_t direct_tick(struct gateway *gateway, uint64_t now_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (uint32_t i = 0; i < gateway->num_machines; i++) {
		struct direct *direct = gateway->machines[i].direct;

		if (!direct)
			continue;
		begin_switch(gateway, i);
		if ((direct->state != DIRECT_OFFERED && direct->state != DIRECT_WISHED) || direct->link)
			continue;
		if (direct->deadline_ns <= now_ns)
			expire(gateway, i);
		else
			next_ns = min_u64(next_ns, direct->deadline_ns);
	}
	return next_ns;
}
