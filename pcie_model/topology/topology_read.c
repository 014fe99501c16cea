/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the given values of functions. Values that the file leaves out stay zero. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "value_parse_priv.h"
#include "topology_draft_priv.h"

#define DEFAULT_MTU     1500
#define MIN_MTU         68 /* of IPv4 */
#define MAX_UNICAST_LID 0xbfff

/* ---- text ---- */

static int read_name(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
		     const char *text, char *ret_name, size_t size)
{
	if (!text)
		return 0;
	if (strlen(text) >= size)
		return pcie_draft_error(draft, function, field, PCIE_QUOTE "... is too long; at most %zu bytes", text,
					size - 1);
	if (!pcie_is_valid_name(text))
		return pcie_draft_error(draft, function, field,
					PCIE_QUOTE " is not a name; write it without spaces and '/'", text);
	strcpy(ret_name, text);
	return 0;
}

static int read_device_name(const struct pcie_draft *draft, const struct pcie_draft_function *function,
			    const char *field, const char *text, char *ret_name, size_t size)
{
	if (text && !*text)
		return pcie_draft_error(draft, function, field,
					"is empty; give a name, or leave the field out for the default");
	return read_name(draft, function, field, text, ret_name, size);
}

static int read_names(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_yaml_function *yaml = function->yaml;
	struct pcie_function *final = function->final;
	int rc;

	rc = read_device_name(draft, function, "ibdev", yaml->ibdev, final->ibdev, sizeof(final->ibdev));
	if (!rc)
		rc = read_device_name(draft, function, "vuid", yaml->vuid, final->vuid, sizeof(final->vuid));
	if (!rc)
		rc = read_name(draft, function, "iface", yaml->iface, final->iface, sizeof(final->iface));
	if (!rc)
		rc = read_name(draft, function, "rep-iface", yaml->rep_iface, final->rep_iface,
			       sizeof(final->rep_iface));
	return rc;
}

/* ---- numbers ---- */

static int read_number(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
		       const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;

	if (!text)
		return 0;
	if (pcie_parse_number(text, max, &value) || value < min)
		return pcie_draft_error(draft, function, field,
					PCIE_QUOTE " is not a number from %" PRIu64 " to %" PRIu64, text, min, max);
	*ret_value = value;
	return 0;
}

static int read_bool(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
		     const char *text, bool *ret_value)
{
	if (text && pcie_parse_bool(text, ret_value))
		return pcie_draft_error(draft, function, field, PCIE_QUOTE " is neither true nor false", text);
	return 0;
}

static int read_rate(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const char *text = function->yaml->active_rate;

	if (text && pcie_parse_rate(text, &function->final->active_rate_bps))
		return pcie_draft_error(draft, function, "active-rate",
					PCIE_QUOTE " is not a rate; write bits per second, or a "
						   "number with Mb/s, Gb/s or Tb/s",
					text);
	return 0;
}

static int read_lid(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const char *text = function->yaml->lid;
	uint64_t lid = 0;
	int rc;

	if (text && function->final->link_layer != PCIE_LINK_INFINIBAND)
		return pcie_draft_error(draft, function, "lid",
					"only a function with \"link-layer: infiniband\" has a LID");
	rc = read_number(draft, function, "lid", text, 1, MAX_UNICAST_LID, &lid);
	function->final->lid = (uint16_t)lid;
	return rc;
}

static int read_sf_number(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			  const char *text, uint32_t *ret_number)
{
	uint64_t number = 0;
	int rc;

	if (text && function->final->type != PCIE_FUNC_SF)
		return pcie_draft_error(draft, function, field,
					"only an SF has an index; remove it or write \"type: sf\"");
	rc = read_number(draft, function, field, text, 0, UINT32_MAX, &number);
	*ret_number = (uint32_t)number;
	return rc;
}

static int read_numbers(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_yaml_function *yaml = function->yaml;
	struct pcie_function *final = function->final;
	uint64_t vhca_id = 0, mtu = DEFAULT_MTU;
	int rc;

	rc = read_number(draft, function, "vhca-id", yaml->vhca_id, 0, UINT16_MAX, &vhca_id);
	if (!rc)
		rc = read_number(draft, function, "mtu", yaml->mtu, MIN_MTU, UINT16_MAX, &mtu);
	if (!rc)
		rc = read_sf_number(draft, function, "sf-index", yaml->sf_index, &final->sf_index);
	if (!rc)
		rc = read_sf_number(draft, function, "aux-index", yaml->aux_index, &final->aux_index);
	if (!rc)
		rc = read_rate(draft, function);
	if (!rc)
		rc = read_bool(draft, function, "hotplug", yaml->hotplug, &final->hotplug);
	if (!rc)
		rc = read_lid(draft, function);
	final->vhca_id = (uint16_t)vhca_id;
	final->mtu = (uint32_t)mtu;
	return rc;
}

/* ---- capabilities ---- */

static int read_cap_BOOL(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			 const char *text, bool *ret_value)
{
	return read_bool(draft, function, field, text, ret_value);
}

static int read_cap_COUNT(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			  const char *text, uint32_t *ret_value)
{
	uint64_t value = *ret_value;
	int rc = read_number(draft, function, field, text, 0, UINT32_MAX, &value);

	*ret_value = (uint32_t)value;
	return rc;
}

static int read_cap_BYTES(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			  const char *text, uint64_t *ret_value)
{
	if (text && pcie_parse_bytes(text, ret_value))
		return pcie_draft_error(draft, function, field,
					PCIE_QUOTE " is not a size; write bytes, or a number with "
						   "KiB, MiB or GiB",
					text);
	return 0;
}

/* Bytes that the API reports as a uint32_t. */
static int read_cap_SIZE(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			 const char *text, uint32_t *ret_value)
{
	uint64_t value = *ret_value;
	int rc = read_cap_BYTES(draft, function, field, text, &value);

	if (!rc && value > UINT32_MAX)
		rc = pcie_draft_error(draft, function, field, PCIE_QUOTE " is too large; give less than 4 GiB", text);
	if (!rc)
		*ret_value = (uint32_t)value;
	return rc;
}

static int read_cap_RATE(const struct pcie_draft *draft, const struct pcie_draft_function *function, const char *field,
			 const char *text, uint64_t *ret_value)
{
	if (text && pcie_parse_rate(text, ret_value))
		return pcie_draft_error(draft, function, field,
					PCIE_QUOTE " is not a rate; write bits per second, or a number with "
						   "Mb/s, Gb/s or Tb/s",
					text);
	return 0;
}

/* What the card's key "dpa" gives for all of its functions. */
static int read_dpa(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_yaml_dpa *yaml = draft->yaml.cards[function->final->card].dpa;
	struct pcie_caps *caps = &function->final->caps;
	int rc = 0;

	if (!yaml)
		return 0;
#define READ_CAP(kind, member, key) \
	if (!rc)                    \
		rc = read_cap_##kind(draft, function, "caps." key, yaml->member, &caps->member);
	PCIE_DPA_CAPS(READ_CAP)
#undef READ_CAP
	return rc;
}

static int read_caps(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_yaml_caps *yaml = function->yaml->caps;
	struct pcie_caps *caps = &function->final->caps;
	int rc = 0;

	if (!yaml)
		return 0;
#define READ_CAP(kind, member, key) \
	if (!rc)                    \
		rc = read_cap_##kind(draft, function, "caps." key, yaml->member, &caps->member);
	PCIE_CAPS(READ_CAP)
	PCIE_YAML_ACCEL_CAPS(READ_CAP)
#undef READ_CAP
	for (enum pcie_accel accel = 0; accel < PCIE_NUM_ACCELS; accel++) {
		if (yaml->accel[accel].max_buf_bytes) /* of both generations */
			caps->accel[accel].workq_max_buf_bytes = 0;
		if (yaml->accel[accel].rate_bps) /* the file's, not a measured one */
			caps->accel[accel].measured_lanes = 0;
	}
	return rc;
}

/* ---- addresses ---- */

static int read_addresses(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_yaml_function *yaml = function->yaml;
	struct pcie_function *final = function->final;

	if (yaml->mac && pcie_parse_mac(yaml->mac, final->mac))
		return pcie_draft_error(draft, function, "mac",
					PCIE_QUOTE " is not a MAC address of one device; write "
						   "02:00:5e:10:00:01 (the first byte even)",
					yaml->mac);
	if (yaml->ipv4) {
		final->has_ipv4 = inet_pton(AF_INET, yaml->ipv4, final->ipv4) == 1;
		if (!final->has_ipv4)
			return pcie_draft_error(draft, function, "ipv4",
						PCIE_QUOTE " is not an IPv4 address; write 192.0.2.1", yaml->ipv4);
	}
	if (yaml->ipv6 && inet_pton(AF_INET6, yaml->ipv6, final->ipv6) != 1)
		return pcie_draft_error(draft, function, "ipv6", PCIE_QUOTE " is not an IPv6 address; write fe80::1",
					yaml->ipv6);
	return 0;
}

/* ---- identity: side, type, address, link layer ---- */

static bool is_side_name(const char *side)
{
	const char *last = strrchr(side, '/');

	last = last ? last + 1 : side;
	if (strcmp(last, "host") != 0 && strcmp(last, "dpu") != 0)
		return false;
	return strspn(side, "abcdefghijklmnopqrstuvwxyz0123456789_/-") == strlen(side) && side[0] != '/' &&
	       !strstr(side, "//") && strlen(side) < PCIE_SIDE_SIZE;
}

static int read_side(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const char *side = function->yaml->side;
	const struct pcie_profile *profile = draft->topology->cards[function->final->card].profile;

	if (!is_side_name(side))
		return pcie_draft_error(draft, function, "side",
					PCIE_QUOTE " is not a side; write host or dpu, or with a "
						   "machine's name before it: node0/host",
					side);
	strcpy(function->final->side, side);
	if (pcie_side_is_dpu(side) && !profile->has_dpu)
		return pcie_draft_error(draft, function, "side",
					"a %s has no Arm cores, hence no side " PCIE_QUOTE
					"; use a host side or a BlueField profile",
					profile->name, side);
	return 0;
}

static int read_type(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	static const char *const names[] = {
		[PCIE_FUNC_PF] = "pf",
		[PCIE_FUNC_VF] = "vf",
		[PCIE_FUNC_SF] = "sf",
	};

	for (int type = PCIE_FUNC_PF; type <= PCIE_FUNC_SF; type++) {
		if (strcmp(function->yaml->type, names[type]) == 0) {
			function->final->type = (enum pcie_func_type)type;
			return 0;
		}
	}
	return pcie_draft_error(draft, function, "type", PCIE_QUOTE " is not a type of function; write pf, vf or sf",
				function->yaml->type);
}

static int read_link_layer(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const char *text = function->yaml->link_layer;

	if (!text || strcmp(text, "ethernet") == 0)
		function->final->link_layer = PCIE_LINK_ETHERNET;
	else if (strcmp(text, "infiniband") == 0)
		function->final->link_layer = PCIE_LINK_INFINIBAND;
	else
		return pcie_draft_error(draft, function, "link-layer",
					PCIE_QUOTE " is not a link layer; write ethernet or infiniband", text);
	return 0;
}

static int read_identity(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	int rc = read_side(draft, function);

	if (!rc)
		rc = read_type(draft, function);
	if (!rc && pcie_addr_parse(function->yaml->pci, &function->final->addr))
		rc = pcie_draft_error(draft, function, "pci",
				      PCIE_QUOTE " is not a PCI address; write DDDD:BB:DD.F or BB:DD.F",
				      function->yaml->pci);
	function->final->former.addr = function->yaml->implied_by && function->final->type == PCIE_FUNC_VF ?
					       function->yaml->former_addr :
					       function->final->addr;
	if (!rc)
		rc = read_link_layer(draft, function);
	return rc;
}

static int read_function(const struct pcie_draft *draft, const struct pcie_draft_function *function)
{
	const struct pcie_card *card = &draft->topology->cards[function->final->card];
	struct pcie_function *final = function->final;
	int rc = read_identity(draft, function);

	if (rc)
		return rc;
	final->caps = pcie_draft_default_caps(card, final);
	final->active_rate_bps = card->profile->port_rate_bps;
	final->rdma_rate_bps = min_u64(card->profile->port_rate_bps, card->profile->rdma_timing.rate_bps);
	rc = read_names(draft, function);
	if (!rc)
		rc = read_addresses(draft, function);
	if (!rc)
		rc = read_numbers(draft, function);
	if (!rc && function->yaml->active_rate)
		final->rdma_rate_bps = max_u64(final->active_rate_bps, 1);
	if (!rc)
		rc = read_dpa(draft, function);
	if (!rc)
		rc = read_caps(draft, function);
	return rc;
}

/* ---- the whole topology ---- */

static int count_functions(const struct pcie_draft *draft, size_t *ret_count)
{
	const struct pcie_yaml *yaml = &draft->yaml;
	char path[PCIE_FIELD_PATH_SIZE];
	size_t count = 0;

	if (!yaml->num_cards)
		return pcie_yaml_error_at(draft->doc, "cards", "needs at least one card");
	for (uint32_t i = 0; i < yaml->num_cards; i++) {
		snprintf(path, sizeof(path), "cards[%u].functions", i);
		count += yaml->cards[i].num_functions;
		if (!yaml->cards[i].num_functions)
			return pcie_yaml_error_at(draft->doc, path, "needs at least one function");
		if (count > PCIE_MAX_FUNCTIONS)
			return pcie_yaml_error_at(draft->doc, path, "the topology has more than %d functions",
						  PCIE_MAX_FUNCTIONS);
	}
	*ret_count = count;
	return 0;
}

static int allocate(struct pcie_draft *draft, size_t num_functions)
{
	struct pcie_topology *topology = draft->topology;

	topology->cards = calloc(draft->yaml.num_cards, sizeof(*topology->cards));
	topology->functions = calloc(num_functions, sizeof(*topology->functions));
	draft->functions = calloc(num_functions, sizeof(*draft->functions));
	if (!topology->cards || !topology->functions || !draft->functions)
		return -ENOMEM;
	topology->num_cards = draft->yaml.num_cards;
	topology->num_functions = num_functions;
	return 0;
}

/* Give each function its number, its card and its description. */
static void enumerate(const struct pcie_draft *draft)
{
	uint32_t id = 0;

	for (uint32_t card = 0; card < draft->yaml.num_cards; card++) {
		const struct pcie_yaml_card *yaml = &draft->yaml.cards[card];

		for (uint32_t i = 0; i < yaml->num_functions; i++, id++) {
			draft->functions[id].yaml = &yaml->functions[i];
			draft->functions[id].index = i;
			draft->functions[id].final = &draft->topology->functions[id];
			draft->topology->functions[id].id = id;
			draft->topology->functions[id].card = card;
		}
	}
}

int pcie_draft_read(struct pcie_draft *draft)
{
	size_t num_functions = 0;
	int rc;

	rc = count_functions(draft, &num_functions);
	if (!rc)
		rc = allocate(draft, num_functions);
	if (rc)
		return rc;
	enumerate(draft);
	for (size_t i = 0; !rc && i < draft->topology->num_cards; i++)
		rc = pcie_draft_read_card(draft, i);
	for (size_t i = 0; !rc && i < num_functions; i++)
		rc = read_function(draft, &draft->functions[i]);
	return rc;
}
