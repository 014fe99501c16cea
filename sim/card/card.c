/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of peers, exported keys and imports. */
#include "card.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/arith.h"

struct card_import {
	uint32_t peer;
	uint32_t count; /* a process may import one key several times */
	char path[SIM_PATH_NAME_SIZE];
	char reason[SIM_REASON_SIZE];
};

struct card_key {
	bool live;
	uint32_t generation;
	uint32_t exporter;
	uint8_t secret[SIM_SECRET_SIZE];
	struct sim_region region;
	struct card_import *imports;
	uint32_t num_imports;
};

struct card_peer {
	bool live;
	struct sim_peer_info info;
	uint32_t num_exports, num_imports;
};

struct sim_card {
	const struct pcie_topology *topology;
	struct card_peer *peers; /* index = peer number */
	uint32_t num_peers;
	struct card_key *keys; /* index = low half of a key's id */
	uint32_t num_keys;
	uint32_t lowest_free_key; /* the keys below are live */
};

int sim_card_create(const struct pcie_topology *topology, struct sim_card **ret_card)
{
	struct sim_card *card = calloc(1, sizeof(*card));

	if (!card)
		return -ENOMEM;
	card->topology = topology;
	*ret_card = card;
	return 0;
}

static void key_free(struct sim_card *card, struct card_key *key)
{
	card->peers[key->exporter].num_exports--;
	card->lowest_free_key = min_u32(card->lowest_free_key, (uint32_t)(key - card->keys));
	free(key->imports);
	key->imports = NULL;
	key->num_imports = 0;
	key->live = false;
	key->generation++;
}

void sim_card_destroy(struct sim_card *card)
{
	if (!card)
		return;
	for (uint32_t i = 0; i < card->num_keys; i++)
		free(card->keys[i].imports);
	free(card->keys);
	free(card->peers);
	free(card);
}

static struct card_peer *find_peer(const struct sim_card *card, uint32_t peer)
{
	return peer < card->num_peers && card->peers[peer].live ? &card->peers[peer] : NULL;
}

const struct sim_peer_info *sim_card_peer(const struct sim_card *card, uint32_t peer)
{
	struct card_peer *found = find_peer(card, peer);

	return found ? &found->info : NULL;
}

/* The index of the first free slot from @from on in a growing array, or the count if the array must grow. */
#define FIND_FREE_SLOT(items, from, count)                     \
	({                                                     \
		uint32_t slot_ = (from);                       \
		while (slot_ < (count) && (items)[slot_].live) \
			slot_++;                               \
		slot_;                                         \
	})

int sim_card_attach(struct sim_card *card, const struct sim_peer_info *info, uint32_t *ret_peer)
{
	uint32_t slot = FIND_FREE_SLOT(card->peers, 0, card->num_peers);

	if (!pcie_topology_has_side(card->topology, info->side))
		return -ENOENT;
	if (slot == card->num_peers) {
		struct card_peer *grown = realloc(card->peers, (slot + 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		card->peers = grown;
		card->num_peers = slot + 1;
	}
	card->peers[slot] = (struct card_peer){ .live = true, .info = *info };
	*ret_peer = slot;
	return 0;
}

static uint64_t key_id(const struct sim_card *card, const struct card_key *key)
{
	return (uint64_t)key->generation << 32 | (uint64_t)(key - card->keys);
}

static struct card_key *find_key(const struct sim_card *card, uint64_t id)
{
	uint32_t slot = (uint32_t)id;

	if (slot >= card->num_keys || !card->keys[slot].live || card->keys[slot].generation != id >> 32)
		return NULL;
	return &card->keys[slot];
}

static struct card_import *find_import(const struct card_key *key, uint32_t peer)
{
	for (uint32_t i = 0; i < key->num_imports; i++)
		if (key->imports[i].peer == peer)
			return &key->imports[i];
	return NULL;
}

static void import_drop(struct sim_card *card, struct card_key *key, struct card_import *import)
{
	card->peers[import->peer].num_imports--;
	*import = key->imports[--key->num_imports];
}

static void key_revoke(struct sim_card *card, struct card_key *key, sim_card_revoked_cb *revoked, void *arg)
{
	uint64_t id = key_id(card, key);

	for (uint32_t i = 0; i < key->num_imports; i++) {
		card->peers[key->imports[i].peer].num_imports--;
		revoked(arg, key->imports[i].peer, id);
	}
	key_free(card, key);
}

void sim_card_detach(struct sim_card *card, uint32_t peer, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_peer *leaving = find_peer(card, peer);

	if (!leaving)
		return;
	for (uint32_t i = 0; i < card->num_keys; i++) {
		struct card_key *key = &card->keys[i];
		struct card_import *import = key->live ? find_import(key, peer) : NULL;

		if (import)
			import_drop(card, key, import);
		if (key->live && key->exporter == peer)
			key_revoke(card, key, revoked, arg);
	}
	leaving->live = false;
}

/* Returns the function if it is on the peer's side, else NULL. */
static const struct pcie_function *find_peer_function(const struct sim_card *card, uint32_t peer, uint32_t function)
{
	const struct pcie_function *found;

	if (function >= card->topology->num_functions)
		return NULL;
	found = &card->topology->functions[function];
	return strcmp(found->side, card->peers[peer].info.side) == 0 ? found : NULL;
}

static bool may_export(const struct pcie_function *function, const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_NET)
		return function->caps.rdma;
	if (region->access & SIM_ACCESS_SYNC)
		return function->caps.sync_event_export_pci;
	return function->caps.mmap_export_pci || region->access & SIM_ACCESS_CHANNEL;
}

int sim_card_export(struct sim_card *card, uint32_t peer, const struct sim_region *region,
		    const uint8_t secret[SIM_SECRET_SIZE], uint64_t *ret_key)
{
	uint32_t slot = FIND_FREE_SLOT(card->keys, card->lowest_free_key, card->num_keys);
	struct card_peer *exporter = find_peer(card, peer);
	const struct pcie_function *function;
	struct card_key *key;

	card->lowest_free_key = slot;
	if (!exporter || region->len_bytes == 0 || region->addr + region->len_bytes < region->addr)
		return -EINVAL;
	function = find_peer_function(card, peer, region->function);
	if (!function)
		return -EINVAL;
	if (!may_export(function, region))
		return -ENOTSUP;
	if (exporter->num_exports == SIM_MAX_EXPORTS)
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
	exporter->num_exports++;
	key->exporter = peer;
	key->region = *region;
	memcpy(key->secret, secret, SIM_SECRET_SIZE);
	*ret_key = key_id(card, key);
	return 0;
}

int sim_card_revoke(struct sim_card *card, uint32_t peer, uint64_t id, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_key *key = find_key(card, id);

	if (!key || key->exporter != peer)
		return -ESTALE;
	key_revoke(card, key, revoked, arg);
	return 0;
}

bool sim_card_find_export(const struct sim_card *card, uint32_t function, uint32_t *ret_exporter, uint64_t *ret_key)
{
	for (uint32_t i = 0; i < card->num_keys; i++) {
		const struct card_key *key = &card->keys[i];

		if (key->live && key->region.function == function) {
			*ret_exporter = key->exporter;
			*ret_key = key_id(card, key);
			return true;
		}
	}
	return false;
}

static bool secret_matches(const uint8_t *a, const uint8_t *b)
{
	uint8_t differ = 0;

	for (int i = 0; i < SIM_SECRET_SIZE; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

static int import_add(struct sim_card *card, struct card_key *key, uint32_t peer)
{
	struct card_import *import = find_import(key, peer);

	if (!import && card->peers[peer].num_imports == SIM_MAX_IMPORTS)
		return -EDQUOT;
	if (!import) {
		import = realloc(key->imports, (key->num_imports + 1) * sizeof(*import));
		if (!import)
			return -ENOMEM;
		key->imports = import;
		import += key->num_imports++;
		*import = (struct card_import){ .peer = peer };
		card->peers[peer].num_imports++;
	}
	import->count++;
	return 0;
}

static bool may_import_any(const struct pcie_function *importer)
{
	return importer->caps.mmap_from_export_pci || importer->caps.sync_event_from_export_pci || importer->caps.rdma;
}

static bool may_import(const struct pcie_function *importer, const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_NET)
		return importer->caps.rdma;
	if (region->access & SIM_ACCESS_SYNC)
		return importer->caps.sync_event_from_export_pci;
	return importer->caps.mmap_from_export_pci || region->access & SIM_ACCESS_CHANNEL;
}

/* Whether the network carries frames between the ports of two functions. */
static bool network_connects(const struct pcie_function *a, const struct pcie_function *b)
{
	return (a->lid != 0) == (b->lid != 0);
}

static int check_relation(const struct pcie_function *importer, const struct pcie_function *exporter,
			  const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_NET)
		return network_connects(importer, exporter) ? 0 : -EPERM;
	if (importer->card != exporter->card)
		return -EXDEV;
	return pcie_functions_are_related(importer, exporter) ? 0 : -EPERM;
}

int sim_card_import(struct sim_card *card, uint32_t peer, const struct sim_key *wanted, uint32_t function,
		    const struct sim_region **ret_region, uint32_t *ret_exporter)
{
	struct card_key *key = find_key(card, wanted->id);
	const struct pcie_function *importer;
	int rc;

	if (!find_peer(card, peer))
		return -EINVAL;
	importer = find_peer_function(card, peer, function);
	if (!importer)
		return -EINVAL;
	if (!key || !secret_matches(key->secret, wanted->secret))
		return may_import_any(importer) ? -ESTALE : -ENOTSUP;
	if (!may_import(importer, &key->region))
		return -ENOTSUP;
	*ret_region = &key->region;
	*ret_exporter = key->exporter;
	rc = check_relation(importer, &card->topology->functions[key->region.function], &key->region);
	return rc < 0 ? rc : import_add(card, key, peer);
}

void sim_card_unimport(struct sim_card *card, uint32_t peer, uint64_t id)
{
	struct card_key *key = find_key(card, id);
	struct card_import *import = key ? find_import(key, peer) : NULL;

	if (import && --import->count == 0)
		import_drop(card, key, import);
}

int sim_card_find_exporter(const struct sim_card *card, uint32_t peer, uint64_t id, uint32_t *ret_exporter)
{
	struct card_key *key = find_key(card, id);

	if (!key || !find_import(key, peer))
		return -ESTALE;
	*ret_exporter = key->exporter;
	return 0;
}

void sim_card_set_path(struct sim_card *card, uint32_t peer, uint64_t id, const char *path, const char *reason)
{
	struct card_key *key = find_key(card, id);
	struct card_import *import = key ? find_import(key, peer) : NULL;

	if (!import)
		return;
	strncpy(import->path, path, sizeof(import->path) - 1);
	strncpy(import->reason, reason, sizeof(import->reason) - 1);
}

void sim_card_each_peer(const struct sim_card *card, sim_card_peer_cb *cb, void *arg)
{
	for (uint32_t p = 0; p < card->num_peers; p++) {
		const struct card_peer *peer = &card->peers[p];

		if (peer->live)
			cb(arg, p, &peer->info, peer->num_exports, peer->num_imports);
	}
}

void sim_card_each_import(const struct sim_card *card, sim_card_import_cb *cb, void *arg)
{
	for (uint32_t k = 0; k < card->num_keys; k++) {
		const struct card_key *key = &card->keys[k];

		for (uint32_t i = 0; key->live && i < key->num_imports; i++)
			cb(arg, key->imports[i].peer, key->exporter, &key->region, key->imports[i].path,
			   key->imports[i].reason);
	}
}
