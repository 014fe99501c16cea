/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the values of a card, without its functions. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "value_parse_priv.h"
#include "topology_draft_priv.h"

static int card_error(const struct pcie_draft *draft, size_t card, const char *field, const char *reason,
		      const char *quoted)
{
	char path[PCIE_FIELD_PATH_SIZE];

	snprintf(path, sizeof(path), "cards[%zu].%s", card, field);
	return pcie_yaml_error_at(draft->doc, path, PCIE_QUOTE " %s", quoted, reason);
}

static int read_card_name(const struct pcie_draft *draft, size_t index)
{
	const char *text = draft->yaml.cards[index].name;
	struct pcie_card *cards = draft->topology->cards;

	if (!text)
		snprintf(cards[index].name, sizeof(cards[index].name), "card%zu", index);
	else if (!*text || strlen(text) >= sizeof(cards[index].name) || !pcie_is_valid_name(text))
		return card_error(draft, index, "name",
				  "is not a name; write 1 to 63 characters without spaces and '/'", text);
	else
		strcpy(cards[index].name, text);

	for (size_t i = 0; i < index; i++) {
		if (strcmp(cards[i].name, cards[index].name) == 0)
			return card_error(draft, index, "name", "is the name of an earlier card too",
					  cards[index].name);
	}
	return 0;
}

static int read_profile(const struct pcie_draft *draft, size_t index)
{
	const char *name = draft->yaml.cards[index].profile;
	const struct pcie_profile *const *all;
	char reason[128] = "is not a profile; known are";
	size_t count;

	draft->topology->cards[index].profile = pcie_profile_find(name);
	if (draft->topology->cards[index].profile)
		return 0;
	all = pcie_profile_all(&count);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(reason);

		snprintf(reason + len, sizeof(reason) - len, "%s %s", i ? "," : "", all[i]->name);
	}
	return card_error(draft, index, "profile", reason, name);
}

static int read_link_number(const struct pcie_draft *draft, size_t index, const char *field, const char *text,
			    uint32_t *ret_value)
{
	uint64_t value;

	if (!text)
		return 0;
	if (pcie_parse_number(text, UINT32_MAX, &value))
		return card_error(draft, index, field, "is not a number", text);
	*ret_value = (uint32_t)value;
	return 0;
}

/* The profile's link with the overrides of the file. */
static int read_link(const struct pcie_draft *draft, size_t index)
{
	const struct pcie_yaml_link *yaml = draft->yaml.cards[index].link;
	struct pcie_link *link = &draft->topology->cards[index].link;
	const char *config_error;
	char path[PCIE_FIELD_PATH_SIZE];
	int rc = 0;

	*link = draft->topology->cards[index].profile->link;
#define READ(member, key) \
	if (!rc && yaml)  \
		rc = read_link_number(draft, index, "link." key, yaml->member, &link->member);
	PCIE_YAML_LINK(READ)
#undef READ
	config_error = rc ? NULL : pcie_link_config_error(link);
	if (!config_error)
		return rc;
	snprintf(path, sizeof(path), "cards[%zu].link", index);
	return pcie_yaml_error_at(draft->doc, path, "%s", config_error);
}

static int read_time(const struct pcie_draft *draft, size_t index, const char *field, const char *text,
		     uint64_t *ret_ps)
{
	if (text && pcie_parse_time(text, ret_ps))
		return card_error(draft, index, field, "is not a time; write 3us or 2500ns, for instance", text);
	return 0;
}

static int read_timing(const struct pcie_draft *draft, size_t index)
{
	const struct pcie_yaml_timing *yaml = draft->yaml.cards[index].timing;
	struct pcie_timing *timing = &draft->topology->cards[index].timing;
	int rc = 0;

#define READ(member, key) \
	if (!rc && yaml)  \
		rc = read_time(draft, index, "timing." key, yaml->member, &timing->member);
	PCIE_YAML_TIMING(READ)
#undef READ
	return rc;
}

/* A card without Arm cores is a network card. */
static int read_mode(const struct pcie_draft *draft, size_t index)
{
	struct pcie_card *card = &draft->topology->cards[index];
	const char *text = draft->yaml.cards[index].mode;

	card->mode = card->profile->has_dpu ? PCIE_MODE_DPU : PCIE_MODE_NIC;
	if (text && pcie_mode_parse(text, &card->mode))
		return card_error(draft, index, "mode", "is not a mode; write dpu, nic, separated or zero-trust", text);
	if (!card->profile->has_dpu && card->mode != PCIE_MODE_NIC)
		return card_error(draft, index, "mode", "needs Arm cores, which the profile does not have; write nic",
				  text);
	return 0;
}

/* The function itself is no network function, and no list shows it: it only takes an address (topology_vf_addr.c). */
static int check_management(const struct pcie_draft *draft, size_t index)
{
	const char *text = draft->yaml.cards[index].management;
	bool value;

	if (!text)
		return 0;
	if (pcie_parse_bool(text, &value))
		return card_error(draft, index, "management", "is neither true nor false", text);
	if (value && !draft->topology->cards[index].profile->has_dpu)
		return card_error(draft, index, "management",
				  "needs Arm cores, which the profile does not have; remove it", text);
	return 0;
}

int pcie_draft_read_card(const struct pcie_draft *draft, size_t index)
{
	int rc = read_card_name(draft, index);

	if (!rc)
		rc = read_profile(draft, index);
	if (!rc)
		rc = read_mode(draft, index);
	if (!rc)
		rc = check_management(draft, index);
	if (!rc)
		rc = read_timing(draft, index);
	return rc ? rc : read_link(draft, index);
}
