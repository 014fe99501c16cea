/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a topology's YAML. */
#include "topology_yaml_priv.h"

#include <stddef.h>

#include "pcie_model/yaml_fields.h"

#define STRUCT_OF(table, type) .fields = (table), .size = sizeof(struct type)

static const struct pcie_yaml_field caps_fields[] = {
#define FIELD(kind, member, key) PCIE_YAML_FIELD(key, VALUE, pcie_yaml_caps, member),
	PCIE_CAPS(FIELD) PCIE_YAML_ACCEL_CAPS(FIELD)
#undef FIELD
		{ 0 },
};

static const struct pcie_yaml_field link_fields[] = {
#define FIELD(member, key) PCIE_YAML_FIELD(key, VALUE, pcie_yaml_link, member),
	PCIE_YAML_LINK(FIELD)
#undef FIELD
		{ 0 },
};

static const struct pcie_yaml_field timing_fields[] = {
#define FIELD(member, key) PCIE_YAML_FIELD(key, VALUE, pcie_yaml_timing, member),
	PCIE_YAML_TIMING(FIELD)
#undef FIELD
		{ 0 },
};

static const struct pcie_yaml_field dpa_fields[] = {
#define FIELD(kind, member, key)                                                                                    \
	PCIE_YAML_FIELD(sizeof(key) > sizeof("dpa") ? &(key)[sizeof("dpa-") - 1] : "enabled", VALUE, pcie_yaml_dpa, \
			member),
	PCIE_DPA_CAPS(FIELD)
#undef FIELD
		{ 0 },
};

static const struct pcie_yaml_field function_fields[] = {
#define FIELD(member, key, required) PCIE_YAML_FIELD(key, VALUE, pcie_yaml_function, member, .is_required = (required)),
	PCIE_YAML_FUNCTION_FIELDS(FIELD)
#undef FIELD
		PCIE_YAML_LIST_FIELD("represents", VALUES, pcie_yaml_function, represents, num_represents),
	PCIE_YAML_FIELD("caps", STRUCT, pcie_yaml_function, caps, STRUCT_OF(caps_fields, pcie_yaml_caps)),
	{ 0 },
};

static const struct pcie_yaml_field card_fields[] = {
	PCIE_YAML_FIELD("name", VALUE, pcie_yaml_card, name),
	PCIE_YAML_FIELD("profile", VALUE, pcie_yaml_card, profile, .is_required = true),
	PCIE_YAML_FIELD("mode", VALUE, pcie_yaml_card, mode),
	PCIE_YAML_FIELD("management", VALUE, pcie_yaml_card, management),
	PCIE_YAML_FIELD("link", STRUCT, pcie_yaml_card, link, STRUCT_OF(link_fields, pcie_yaml_link)),
	PCIE_YAML_FIELD("timing", STRUCT, pcie_yaml_card, timing, STRUCT_OF(timing_fields, pcie_yaml_timing)),
	PCIE_YAML_FIELD("dpa", STRUCT, pcie_yaml_card, dpa, STRUCT_OF(dpa_fields, pcie_yaml_dpa)),
	PCIE_YAML_LIST_FIELD("functions", STRUCTS, pcie_yaml_card, functions, num_functions, .is_required = true,
			     STRUCT_OF(function_fields, pcie_yaml_function)),
	{ 0 },
};

static const struct pcie_yaml_field side_fields[] = {
	PCIE_YAML_FIELD("name", VALUE, pcie_yaml_side, name, .is_required = true),
	PCIE_YAML_FIELD("page-size", VALUE, pcie_yaml_side, page_size),
	{ 0 },
};

static const struct pcie_yaml_field switch_fields[] = {
	PCIE_YAML_FIELD("name", VALUE, pcie_yaml_switch, name, .is_required = true),
	PCIE_YAML_FIELD("latency", VALUE, pcie_yaml_switch, latency),
	PCIE_YAML_FIELD("rate", VALUE, pcie_yaml_switch, rate),
	{ 0 },
};

static const struct pcie_yaml_field net_link_fields[] = {
	PCIE_YAML_FIELD("from", VALUE, pcie_yaml_net_link, from, .is_required = true),
	PCIE_YAML_FIELD("to", VALUE, pcie_yaml_net_link, to, .is_required = true),
	PCIE_YAML_FIELD("latency", VALUE, pcie_yaml_net_link, latency),
	PCIE_YAML_FIELD("rate", VALUE, pcie_yaml_net_link, rate),
	PCIE_YAML_FIELD("mtu", VALUE, pcie_yaml_net_link, mtu),
	PCIE_YAML_FIELD("loss", VALUE, pcie_yaml_net_link, loss),
	{ 0 },
};

static const struct pcie_yaml_field network_fields[] = {
	PCIE_YAML_LIST_FIELD("switches", STRUCTS, pcie_yaml_network, switches, num_switches,
			     STRUCT_OF(switch_fields, pcie_yaml_switch)),
	PCIE_YAML_LIST_FIELD("links", STRUCTS, pcie_yaml_network, links, num_links, .is_required = true,
			     STRUCT_OF(net_link_fields, pcie_yaml_net_link)),
	{ 0 },
};

static const struct pcie_yaml_field top_fields[] = {
	PCIE_YAML_LIST_FIELD("cards", STRUCTS, pcie_yaml, cards, num_cards, .is_required = true,
			     STRUCT_OF(card_fields, pcie_yaml_card)),
	PCIE_YAML_LIST_FIELD("sides", STRUCTS, pcie_yaml, sides, num_sides, STRUCT_OF(side_fields, pcie_yaml_side)),
	PCIE_YAML_FIELD("network", STRUCT, pcie_yaml, network, STRUCT_OF(network_fields, pcie_yaml_network)),
	{ 0 },
};

int pcie_topology_yaml_read(struct pcie_yaml_doc *doc, struct pcie_yaml *ret_yaml)
{
	return pcie_yaml_read_root(doc, top_fields, ret_yaml);
}
