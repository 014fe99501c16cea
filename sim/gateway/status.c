/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines of the session, for bfsim ps. */
#include <json-c/json.h>
#include <string.h>

#include "direct.h"
#include "gateway.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"

static void add_text(json_object *to, const char *name, const char *value)
{
	json_object_object_add(to, name, json_object_new_string(value));
}

static void add_number(json_object *to, const char *name, uint64_t value)
{
	json_object_object_add(to, name, json_object_new_uint64(value));
}

static const char *state_of(const struct gateway *gateway, const struct gateway_machine *machine)
{
	if (machine == &gateway->machines[gateway->self])
		return "this machine";
	if (machine->is_joined)
		return "joined";
	return machine->has_left ? "left" : machine->words[0] ? "lost" : "expected";
}

/* Why there is no direct link. */
static const char *why_not(const struct gateway_machine *machine)
{
	return machine->direct && machine->direct->words[0] ? machine->direct->words : "no direct link was needed yet";
}

static void add_link(const struct gateway *gateway, const struct gateway_machine *machine, json_object *to)
{
	const struct link *link = machine->link;
	struct rail_route route;

	if (!link && machine->direct && machine->direct->state == DIRECT_UP)
		link = machine->direct->link;
	if (link) {
		route = rail_route(link->conn);
		add_text(to, "path", "direct");
		add_text(to, "provider", route.provider);
		add_text(to, "endpoint", route.endpoint);
		if (route.why[0])
			add_text(to, "why", route.why);
		add_number(to, "round_trip_ns", link->round_trip_ns);
		add_number(to, "clock_error_ns", clock_offset_error_ns(&link->clock, sim_monotonic_ns()));
		add_number(to, "sent_bytes", link->sent.bytes);
		add_number(to, "received_bytes", link->received.bytes);
	} else if (machine->is_joined && machine != &gateway->machines[gateway->self]) {
		add_text(to, "path", "through home");
		add_text(to, "why", why_not(machine));
	}
}

/* Since the gateway's start, over all links to the machine, which break and are made anew. */
static void add_counts(const struct gateway *gateway, uint32_t machine, json_object *to)
{
	const struct gateway_machine *other = &gateway->machines[machine];
	struct link_counts sent = other->sent, received = other->received;
	json_object *counts;
	const struct link *link;

	LIST_FOREACH(link, &gateway->links, entry)
		if (link->machine == machine) {
			link_counts_add(&sent, &link->sent);
			link_counts_add(&received, &link->received);
		}
	if (sent.frames == 0 && received.frames == 0)
		return;
	counts = json_object_new_object();
	add_number(counts, "messages_sent", sent.frames);
	add_number(counts, "bytes_sent", sent.bytes);
	add_number(counts, "messages_received", received.frames);
	add_number(counts, "bytes_received", received.bytes);
	add_number(counts, "broken", other->num_ended);
	json_object_object_add(to, "links", counts);
}

char *gateway_status(const struct gateway *gateway)
{
	json_object *status = json_object_new_object(), *list = json_object_new_array();
	char *text;

	add_text(status, "self", gateway->cfg.name);
	add_text(status, "role", gateway->cfg.is_home ? "home" : "joined");
	add_text(status, "encryption", gateway->cfg.is_trusted ? "control alone" : "all");
	if (gateway->listener)
		add_number(status, "port", rail_port(gateway->listener));
	if (gateway->clock == SIM_CLOCK_TIMED) {
		add_number(status, "timed_messages", gateway->num_timed);
		add_number(status, "late_messages", gateway->num_late);
		add_number(status, "max_late_ns", gateway->max_late_ns);
	}
	for (uint32_t i = 0; i < gateway->num_machines; i++) {
		const struct gateway_machine *machine = &gateway->machines[i];
		json_object *entry = json_object_new_object();

		add_text(entry, "name", machine->name);
		add_text(entry, "state", state_of(gateway, machine));
		add_link(gateway, machine, entry);
		add_counts(gateway, i, entry);
		if (machine->words[0])
			add_text(entry, "why", machine->words);
		json_object_array_add(list, entry);
	}
	json_object_object_add(status, "list", list);
	text = strdup(json_object_to_json_string_ext(status, JSON_C_TO_STRING_PLAIN));
	json_object_put(status);
	return text;
}
