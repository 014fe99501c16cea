/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines of a session: joining and leaving. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels.h"
#include "direct.h"
#include "near.h"
#include "outage.h"
#include "queues.h"
#include "reach.h"
#include "port_load.h"
#include "slow_link.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"

#define RECONNECT_NS        1000000000u
#define MAX_NOT_JOINED_LOGS 20
#define LEFT                "it has left the session"

/* ---- the end of a machine ---- */

/* The machine counts as lost meanwhile, so that nothing is sent to it. */
static void drop_all(struct gateway *gateway, uint32_t machine)
{
	gateway->machines[machine].is_joined = false;
	queues_machine_lost(gateway, machine);
	far_machine_lost(gateway, machine);
	near_machine_lost(gateway, machine);
	near_forget_streams(gateway, machine);
	channels_machine_lost(gateway, machine);
	reach_machine_lost(gateway, machine);
	slow_link_drop(gateway, machine);
	port_load_drop(gateway, machine);
	gateway->is_status_old = true;
}

void members_lose(struct gateway *gateway, uint32_t machine, const char *words)
{
	struct gateway_machine *lost = &gateway->machines[machine];

	if (!lost->is_joined || machine == gateway->self)
		return;
	lost->link = NULL;
	snprintf(lost->words, sizeof(lost->words), "%s", words);
	if (!gateway->is_leaving)
		sim_warn("machine %s is gone: %s; connections to it are broken", lost->name, words);
	direct_machine_lost(gateway, machine);
	if (gateway->cfg.is_home)
		direct_home_forget(gateway, machine);
	drop_all(gateway, machine);
	slow_link_forget(gateway, machine);
}

static void reset(struct gateway *gateway, uint32_t machine, const char *words)
{
	sim_warn("connections to machine %s are broken: %s; new ones go through home", gateway->machines[machine].name,
		 words);
	outage_drop(gateway, machine);
	drop_all(gateway, machine);
	gateway->machines[machine].is_joined = true;
}

/* The machine is there, perhaps again: faults of the link to it are to act on both ends. */
static void tell_of_faults(struct gateway *gateway, uint32_t machine)
{
	struct gateway_frame frame = { .kind = GATEWAY_OUTAGE, .b = outage_left_ns(gateway, machine) };

	slow_link_tell(gateway, machine);
	if (frame.b > 0)
		gateway_send(gateway, machine, &frame);
}

void members_find(struct gateway *gateway, uint32_t machine)
{
	struct gateway_machine *found = &gateway->machines[machine];

	if (gateway->cfg.is_home || !found->is_at_home || found->is_joined || !gateway->is_ready)
		return;
	found->is_joined = true;
	found->words[0] = '\0';
	tell_of_faults(gateway, machine);
	gateway->is_status_old = true;
}

/* ---- home ---- */

static void tell_machines(struct gateway *gateway)
{
	uint8_t *body = malloc(2 * (size_t)gateway->num_machines);
	struct gateway_frame frame = { .kind = GATEWAY_MACHINES, .from = (uint16_t)gateway->self, .body = body };
	struct link *link;

	for (uint32_t i = 0; body && i < gateway->num_machines; i++)
		if (gateway->machines[i].is_joined || gateway->machines[i].has_left) {
			gateway_put(body + frame.len_bytes, gateway->machines[i].is_joined ? i : i | GATEWAY_HAS_LEFT,
				    2);
			frame.len_bytes += 2;
		}
	LIST_FOREACH(link, &gateway->links, entry)
		if (link->state == LINK_UP) {
			frame.to = (uint16_t)link->machine;
			link_send(link, &frame);
		}
	free(body);
	gateway->is_status_old = true;
}

static void refuse(struct link *link, const char *words, bool is_final)
{
	struct gateway_frame frame = { .kind = GATEWAY_REFUSED,
				       .a = !is_final,
				       .body = (const uint8_t *)words,
				       .len_bytes = (uint32_t)strlen(words) };

	link_send(link, &frame);
	link_close(link, words);
}

static void welcome(struct gateway *gateway, struct link *link)
{
	size_t yaml_len = strlen(gateway->yaml), len = SIM_SESSION_ID_SIZE + yaml_len;
	uint8_t *body = len <= GATEWAY_MAX_DATA ? malloc(len) : NULL;
	struct gateway_frame frame = { .kind = GATEWAY_WELCOME,
				       .from = (uint16_t)gateway->self,
				       .id = gateway->clock,
				       .a = gateway->self,
				       .b = sim_monotonic_ns(),
				       .body = body,
				       .len_bytes = (uint32_t)len };

	if (!body) {
		refuse(link, "home's topology is longer than 64 KiB, which is more than another machine can be told",
		       true);
		return;
	}
	memcpy(body, gateway->session_id, SIM_SESSION_ID_SIZE);
	memcpy(body + SIM_SESSION_ID_SIZE, gateway->yaml, yaml_len);
	link_send(link, &frame);
	free(body);
}

static uint32_t find_machine(const struct gateway *gateway, const char *name)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (strcmp(gateway->machines[i].name, name) == 0)
			return i;
	return LINK_NO_MACHINE;
}

/* A machine that comes back may be refused for that until home has noticed that it was gone. */
static bool is_taken(const struct gateway *gateway, uint32_t machine)
{
	return machine != LINK_NO_MACHINE && machine != gateway->self && gateway->machines[machine].is_joined;
}

/* Returns why the machine can't join, or NULL. */
static const char *find_objection(const struct gateway *gateway, const struct gateway_frame *frame, const char *name,
				  uint32_t *ret_machine, char text[256])
{
	static const uint8_t none[SIM_SESSION_ID_SIZE];
	uint32_t machine = find_machine(gateway, name);

	*ret_machine = machine;
	if (frame->a != gateway->cfg.is_trusted)
		snprintf(text, 256,
			 "home was started %s --trusted-network: give that option on all machines, or on none",
			 gateway->cfg.is_trusted ? "with" : "without");
	else if (machine == LINK_NO_MACHINE)
		snprintf(text, 256, "the session's topology has no machine %s", name);
	else if (machine == gateway->self)
		snprintf(text, 256, "%s is home itself", name);
	else if (is_taken(gateway, machine))
		snprintf(text, 256, "another machine has joined as %s", name);
	else if (memcmp(frame->body, none, sizeof(none)) != 0 &&
		 memcmp(frame->body, gateway->session_id, sizeof(none)) != 0)
		snprintf(text, 256, "home has another session by now: join it anew");
	else
		return NULL;
	return text;
}

static void take_join(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	char name[PCIE_SIDE_SIZE] = "", text[256];
	const char *objection;
	uint32_t machine;

	if (frame->len_bytes < SIM_SESSION_ID_SIZE + 1 || frame->len_bytes >= SIM_SESSION_ID_SIZE + sizeof(name)) {
		link_close(link, "it joins without a name");
		return;
	}
	memcpy(name, frame->body + SIM_SESSION_ID_SIZE, frame->len_bytes - SIM_SESSION_ID_SIZE);
	objection = find_objection(gateway, frame, name, &machine, text);
	if (objection) {
		refuse(link, objection, !is_taken(gateway, machine));
		return;
	}
	welcome(gateway, link);
	link->is_visit = frame->id == 1;
	if (link->is_visit || link->state != LINK_JOINING)
		return;
	link_set_up(link, machine);
	gateway->machines[machine].is_joined = true;
	gateway->machines[machine].link = link;
	gateway->machines[machine].words[0] = '\0';
	gateway->machines[machine].has_left = false;
	sim_info("machine %s has joined", name);
	tell_machines(gateway);
	tell_of_faults(gateway, machine);
}

/* ---- a joined machine ---- */

static void send_join(struct gateway *gateway, struct link *link)
{
	uint8_t body[SIM_SESSION_ID_SIZE + PCIE_SIDE_SIZE];
	size_t len = strlen(gateway->cfg.name);
	struct gateway_frame frame = { .kind = GATEWAY_JOIN,
				       .id = !gateway->cfg.dir,
				       .a = gateway->cfg.is_trusted,
				       .body = body,
				       .len_bytes = (uint32_t)(SIM_SESSION_ID_SIZE + len) };

	memcpy(body, gateway->session_id, SIM_SESSION_ID_SIZE);
	memcpy(body + SIM_SESSION_ID_SIZE, gateway->cfg.name, len);
	link->join_ns = sim_monotonic_ns();
	link_send(link, &frame);
}

/* Without a directory, this process was started to print what home says. */
static void print_welcome(struct gateway *gateway, const struct gateway_frame *frame)
{
	for (int i = 0; i < SIM_SESSION_ID_SIZE; i++)
		printf("%02x", frame->body[i]);
	printf(" %s\n%.*s", sim_clock_mode_name((enum sim_clock_mode)frame->id),
	       (int)(frame->len_bytes - SIM_SESSION_ID_SIZE), (const char *)frame->body + SIM_SESSION_ID_SIZE);
	gateway->is_failed = fflush(stdout) != 0;
	gateway->stop = true;
}

static void take_welcome(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	if (frame->id >= SIM_CLOCK_NUM_MODES) {
		link_close(link, "it has a clock that is not known here");
		return;
	}
	if (!gateway->cfg.dir) {
		print_welcome(gateway, frame);
		return;
	}
	if (frame->a >= gateway->num_machines || frame->a == gateway->self ||
	    memcmp(frame->body, gateway->session_id, SIM_SESSION_ID_SIZE) != 0) {
		link_close(link, "home has another session by now");
		return;
	}
	clock_offset_take(&link->clock, link->join_ns, frame->b, sim_monotonic_ns());
	link_set_up(link, (uint32_t)frame->a);
	gateway->home = (uint32_t)frame->a;
	gateway->machines[frame->a].is_joined = true;
	gateway->machines[frame->a].link = link;
	gateway->machines[frame->a].words[0] = '\0';
	gateway->is_ready = true;
	gateway->is_status_old = true;
	direct_say_listens(gateway);
	tell_of_faults(gateway, gateway->home);
}

/* Whether the frame has that entry. */
static bool has_entry(const struct gateway_frame *frame, uint64_t entry)
{
	for (uint32_t at = 0; at + 2 <= frame->len_bytes; at += 2)
		if (gateway_get(frame->body + at, 2) == entry)
			return true;
	return false;
}

static void take_machines(struct gateway *gateway, struct link *link, const struct gateway_frame *frame)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++) {
		bool is_joined = i == link->machine || i == gateway->self || has_entry(frame, i);

		gateway->machines[i].is_at_home = is_joined;
		gateway->machines[i].has_left = has_entry(frame, i | GATEWAY_HAS_LEFT);
		if (outage_is_lost(gateway, i))
			continue;
		if (!is_joined)
			members_lose(gateway, i, gateway->machines[i].has_left ? LEFT : "home has lost it");
		if (!is_joined || gateway->machines[i].is_joined)
			continue;
		gateway->machines[i].words[0] = '\0';
		gateway->machines[i].is_joined = true;
		tell_of_faults(gateway, i);
	}
	gateway->is_status_old = true;
}

static void take_refused(struct link *link, const struct gateway_frame *frame)
{
	char words[513];

	snprintf(words, sizeof(words), "%.*s", (int)frame->len_bytes, (const char *)frame->body);
	link->is_final = frame->a == 0;
	link_close(link, words);
}

int members_connect(struct gateway *gateway)
{
	struct link *link = link_create(&(struct link_cfg){ .ops = &gateway_link_ops,
							    .arg = gateway,
							    .keys = gateway->keys,
							    .is_trusted = gateway->cfg.is_trusted });
	int rc = link ? rail_connect(gateway->rail, link, &link->conn) : -ENOMEM;

	if (rc < 0) {
		link_destroy(link);
		return rc;
	}
	LIST_INSERT_HEAD(&gateway->links, link, entry);
	return 0;
}

/* ---- links ---- */

static void take_goodbye(struct gateway *gateway, struct link *link)
{
	gateway->is_leaving = !gateway->cfg.is_home;
	if (gateway->cfg.is_home)
		gateway->machines[link->machine].has_left = true;
	link_close(link, gateway->cfg.is_home ? LEFT : "home has ended the session");
}

static void on_frame(void *arg, struct link *link, const struct gateway_frame *frame)
{
	struct gateway *gateway = arg;
	bool is_home = gateway->cfg.is_home;

	if (is_home && link->state == LINK_JOINING && frame->kind == GATEWAY_JOIN)
		take_join(gateway, link, frame);
	else if (!is_home && link->state == LINK_JOINING && frame->kind == GATEWAY_WELCOME)
		take_welcome(gateway, link, frame);
	else if (!is_home && link->state == LINK_JOINING && frame->kind == GATEWAY_REFUSED)
		take_refused(link, frame);
	else if (link->state != LINK_UP)
		link_close(link, "it has not joined");
	else if (frame->kind == GATEWAY_GOODBYE)
		take_goodbye(gateway, link);
	else if (!is_home && frame->kind == GATEWAY_MACHINES)
		take_machines(gateway, link, frame);
	else if (!is_home && frame->kind == GATEWAY_DIRECT_OFFER)
		direct_on_offer(gateway, frame);
	else if (is_home && frame->kind == GATEWAY_LISTENS)
		direct_home_on_listens(gateway, link, frame);
	else if (is_home && frame->kind == GATEWAY_WISH)
		direct_home_on_wish(gateway, link, frame);
	else if (frame->kind >= GATEWAY_IMPORT)
		gateway_take_routed(gateway, link, frame);
	else
		link_close(link, "it has sent a frame that is not its to send");
}

static void on_proved(void *arg, struct link *link)
{
	struct gateway *gateway = arg;

	if (!gateway->cfg.is_home)
		send_join(gateway, link);
}

static void lose_home(struct gateway *gateway, const struct link *link, const char *words)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++) {
		gateway->machines[i].is_at_home = false;
		members_lose(gateway, i, words);
	}
	if ((gateway->is_ready || gateway->cfg.is_again) && !link->is_final) {
		gateway->reconnect_ns = sim_monotonic_ns() + RECONNECT_NS;
		return;
	}
	sim_err("cannot join the session at %s, port %s: %s", gateway->cfg.host, gateway->cfg.port, words);
	gateway->is_failed = gateway->stop = true;
}

/* Anybody can connect: the log does not grow without end. */
static void warn_not_joined(struct gateway *gateway, const char *words)
{
	if (gateway->num_not_joined++ < MAX_NOT_JOINED_LOGS)
		sim_warn("a machine did not join: %s%s", words,
			 gateway->num_not_joined == MAX_NOT_JOINED_LOGS ? " (further ones are not logged)" : "");
}

static void on_lost(void *arg, struct link *link, const char *words)
{
	struct gateway *gateway = arg;

	if (gateway->stop)
		return;
	if (!gateway->cfg.is_home)
		lose_home(gateway, link, words);
	else if (link->machine != LINK_NO_MACHINE && gateway->machines[link->machine].link == link)
		members_lose(gateway, link->machine, words);
	else if (!link->is_visit)
		warn_not_joined(gateway, words);
	if (gateway->cfg.is_home && link->machine != LINK_NO_MACHINE)
		tell_machines(gateway);
}

const struct direct_ops members_direct_ops = { .reset = reset, .take_frame = gateway_take, .refuse = warn_not_joined };

const struct link_ops gateway_link_ops = { .on_frame = on_frame, .on_proved = on_proved, .on_lost = on_lost };

void members_leave(struct gateway *gateway)
{
	struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		if (link->state == LINK_UP)
			link_send(link, &(struct gateway_frame){ .kind = GATEWAY_GOODBYE });
}
