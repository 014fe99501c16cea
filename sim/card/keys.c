/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys: exports, aliases, and the imports of each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "card_priv.h"
#include "pcie_model/arith.h"

uint64_t sim_card_key_id(const struct sim_card *card, const struct card_key *key)
{
	if (key->far_id)
		return key->far_id;
	return (uint64_t)card->machine << 48 | (uint64_t)key->generation << 32 | (uint64_t)(key - card->keys);
}

static struct card_key *find_far(const struct sim_card *card, uint64_t id)
{
	for (uint32_t i = 0; card->num_far > 0 && i < card->num_keys; i++)
		if (card->keys[i].live && card->keys[i].far_id == id)
			return &card->keys[i];
	return NULL;
}

struct card_key *sim_card_find_key(const struct sim_card *card, uint64_t id)
{
	uint32_t slot = (uint32_t)id;

	if (sim_key_machine(id) != card->machine)
		return find_far(card, id);
	if (slot >= card->num_keys || !card->keys[slot].live || card->keys[slot].far_id ||
	    card->keys[slot].generation != (uint16_t)(id >> 32))
		return NULL;
	return &card->keys[slot];
}

struct card_import *sim_card_find_import(const struct card_key *key, uint32_t peer)
{
	for (uint32_t i = 0; i < key->num_imports; i++)
		if (key->imports[i].peer == peer)
			return &key->imports[i];
	return NULL;
}

struct sim_card_memory sim_card_key_memory(const struct sim_card *card, const struct card_key *key)
{
	const struct card_key *owned = key->is_alias ? &card->keys[key->origin] : key;

	return (struct sim_card_memory){ .exporter = owned->exporter, .key = sim_card_key_id(card, owned) };
}

static void key_free(struct sim_card *card, struct card_key *key)
{
	card->peers[key->exporter].num_exports--;
	if (key->is_alias)
		card->keys[key->origin].num_aliases--;
	card->lowest_free_key = min_u32(card->lowest_free_key, (uint32_t)(key - card->keys));
	card->num_far -= key->far_id != 0;
	key->far_id = 0;
	free(key->imports);
	key->imports = NULL;
	key->num_imports = 0;
	key->live = false;
	key->generation++;
}

static void end_imports(struct sim_card *card, struct card_key *key, sim_card_revoked_cb *revoked, void *arg)
{
	uint64_t id = sim_card_key_id(card, key), memory = sim_card_key_memory(card, key).key;

	for (uint32_t i = 0; i < key->num_imports; i++) {
		card->peers[key->imports[i].peer].num_imports--;
		revoked(arg, key->imports[i].peer, id, memory);
	}
}

/* The exporter of the memory serves the alias, and shall stop that; as an importer of the alias it is told anyway. */
static void alias_revoke(struct sim_card *card, struct card_key *alias, sim_card_revoked_cb *revoked, void *arg)
{
	struct sim_card_memory memory = sim_card_key_memory(card, alias);

	if (alias->is_served && card->peers[memory.exporter].live && !sim_card_find_import(alias, memory.exporter))
		revoked(arg, memory.exporter, sim_card_key_id(card, alias), memory.key);
	end_imports(card, alias, revoked, arg);
	key_free(card, alias);
}

/* Returns the next alias of @key from index @from on, or NULL. */
static struct card_key *next_alias(struct sim_card *card, const struct card_key *key, uint32_t *from)
{
	while (key->num_aliases > 0 && *from < card->num_keys) {
		struct card_key *found = &card->keys[(*from)++];

		if (found->live && found->is_alias && &card->keys[found->origin] == key)
			return found;
	}
	return NULL;
}

void sim_card_key_revoke_aliases(struct sim_card *card, const struct card_key *key, uint32_t maker,
				 sim_card_revoked_cb *revoked, void *arg)
{
	struct card_key *alias;
	uint32_t from = 0;

	while ((alias = next_alias(card, key, &from)))
		if (alias->exporter == maker)
			alias_revoke(card, alias, revoked, arg);
}

/* The exporter of a key hides its memory from the importers of the key's aliases, too. */
void sim_card_key_revoke(struct sim_card *card, struct card_key *key, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_key *alias;
	uint32_t from = 0;

	if (key->is_alias) {
		alias_revoke(card, key, revoked, arg);
		return;
	}
	while ((alias = next_alias(card, key, &from))) {
		end_imports(card, alias, revoked, arg);
		key_free(card, alias);
	}
	end_imports(card, key, revoked, arg);
	key_free(card, key);
}

int sim_card_key_add(struct sim_card *card, uint32_t peer, const struct sim_region *region,
		     const uint8_t secret[SIM_SECRET_SIZE], struct card_key **ret_key)
{
	uint32_t slot = FIND_FREE_SLOT(card->keys, card->lowest_free_key, card->num_keys);
	struct card_key *key;

	card->lowest_free_key = slot;
	if (card->peers[peer].num_exports == SIM_MAX_EXPORTS)
		return -EDQUOT;
	if (slot == card->num_keys) {
		uint32_t count = card->num_keys ? card->num_keys * 2 : 16;
		struct card_key *grown = realloc(card->keys, count * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + card->num_keys, 0, (count - card->num_keys) * sizeof(*grown));
		card->keys = grown;
		card->num_keys = count;
	}
	key = &card->keys[slot];
	key->live = true;
	key->is_alias = key->is_served = false;
	key->far_id = 0;
	card->peers[peer].num_exports++;
	key->exporter = peer;
	key->region = *region;
	memcpy(key->secret, secret, SIM_SECRET_SIZE);
	*ret_key = key;
	return 0;
}
