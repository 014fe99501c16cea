/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines of the session, for bfsim ps. */
#include <json-c/json.h>
#include <string.h>

#include "gateway.h"

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
	return machine->words[0] ? "lost" : "expected";
}

static void add_link(const struct gateway *gateway, const struct gateway_machine *machine, json_object *to)
{
	const struct link *link = machine->link;

	if (link) {
		add_text(to, "path", "direct");
		add_text(to, "provider", rail_provider(gateway->rail));
		add_number(to, "round_trip_ns", link->round_trip_ns);
		add_number(to, "sent_bytes", link->sent.bytes);
		add_number(to, "received_bytes", link->received.bytes);
	} else if (machine->is_joined && machine != &gateway->machines[gateway->self]) {
		add_text(to, "path", "through home");
	}
}

char *gateway_status(const struct gateway *gateway)
{
	json_object *status = json_object_new_object(), *list = json_object_new_array();
	char *text;

	add_text(status, "self", gateway->cfg.name);
	add_text(status, "role", gateway->cfg.is_home ? "home" : "joined");
	add_text(status, "encryption", gateway->cfg.is_trusted ? "control alone" : "all");
	if (gateway->cfg.is_home)
		add_number(status, "port", rail_port(gateway->rail));
	for (uint32_t i = 0; i < gateway->num_machines; i++) {
		const struct gateway_machine *machine = &gateway->machines[i];
		json_object *entry = json_object_new_object();

		add_text(entry, "name", machine->name);
		add_text(entry, "state", state_of(gateway, machine));
		add_link(gateway, machine, entry);
		if (machine->words[0])
			add_text(entry, "why", machine->words);
		json_object_array_add(list, entry);
	}
	json_object_object_add(status, "list", list);
	text = strdup(json_object_to_json_string_ext(status, JSON_C_TO_STRING_PLAIN));
	json_object_put(status);
	return text;
}
