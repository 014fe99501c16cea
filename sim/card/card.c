/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers, and what they export and import. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "card_priv.h"

int sim_card_create(const struct pcie_topology *topology, struct sim_card **ret_card)
{
	struct sim_card *card = calloc(1, sizeof(*card));

	if (!card)
		return -ENOMEM;
	card->topology = topology;
	*ret_card = card;
	return 0;
}

void sim_card_set_machine(struct sim_card *card, uint32_t number)
{
	card->machine = number;
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

static int add_peer(struct sim_card *card, const struct sim_peer_info *info, bool is_gateway, uint32_t *ret_peer)
{
	uint32_t slot = FIND_FREE_SLOT(card->peers, 0, card->num_peers);

	if (slot == card->num_peers) {
		struct card_peer *grown = realloc(card->peers, (slot + 1) * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		card->peers = grown;
		card->num_peers = slot + 1;
	}
	card->peers[slot] = (struct card_peer){ .live = true, .is_gateway = is_gateway, .info = *info };
	*ret_peer = slot;
	return 0;
}

int sim_card_attach(struct sim_card *card, const struct sim_peer_info *info, uint32_t *ret_peer)
{
	if (!pcie_topology_has_side(card->topology, info->side))
		return -ENOENT;
	return add_peer(card, info, false, ret_peer);
}

int sim_card_attach_gateway(struct sim_card *card, const struct sim_peer_info *info, uint32_t *ret_peer)
{
	return add_peer(card, info, true, ret_peer);
}

static void import_drop(struct sim_card *card, struct card_key *key, struct card_import *import)
{
	card->peers[import->peer].num_imports--;
	*import = key->imports[--key->num_imports];
}

void sim_card_detach(struct sim_card *card, uint32_t peer, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_peer *leaving = find_peer(card, peer);

	if (!leaving)
		return;
	for (uint32_t i = 0; i < card->num_keys; i++) {
		struct card_key *key = &card->keys[i];
		struct card_import *import = key->live ? sim_card_find_import(key, peer) : NULL;

		if (import)
			import_drop(card, key, import);
	}
	leaving->live = false;
	for (uint32_t i = 0; i < card->num_keys; i++)
		if (card->keys[i].live && card->keys[i].exporter == peer)
			sim_card_key_revoke(card, &card->keys[i], revoked, arg);
}

bool sim_card_may_use(const struct sim_card *card, uint32_t peer, uint32_t function)
{
	const struct card_peer *user = find_peer(card, peer);

	if (!user || function >= card->topology->num_functions)
		return false;
	return user->is_gateway || strcmp(card->topology->functions[function].side, user->info.side) == 0;
}

/* Returns the function if the peer works through it, else NULL. */
static const struct pcie_function *find_peer_function(const struct sim_card *card, uint32_t peer, uint32_t function)
{
	return sim_card_may_use(card, peer, function) ? &card->topology->functions[function] : NULL;
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
	const struct pcie_function *function;
	struct card_key *key;
	int rc;

	if (!find_peer(card, peer) || region->len_bytes == 0 || region->addr + region->len_bytes < region->addr)
		return -EINVAL;
	function = find_peer_function(card, peer, region->function);
	if (!function)
		return -EINVAL;
	if (!may_export(function, region))
		return -ENOTSUP;
	rc = sim_card_key_add(card, peer, region, secret, &key);
	if (rc == 0)
		*ret_key = sim_card_key_id(card, key);
	return rc;
}

bool sim_card_is_unknown_far(const struct sim_card *card, uint64_t id)
{
	return sim_key_machine(id) != card->machine && !sim_card_find_key(card, id);
}

int sim_card_export_far(struct sim_card *card, uint32_t peer, const struct sim_region *region,
			const struct sim_key *wanted)
{
	const struct card_peer *gateway = find_peer(card, peer);
	struct card_key *key;
	int rc;

	if (!gateway || !gateway->is_gateway || region->function >= card->topology->num_functions ||
	    region->len_bytes == 0 || region->addr + region->len_bytes < region->addr ||
	    sim_key_machine(wanted->id) == card->machine)
		return -EINVAL;
	if (sim_card_find_key(card, wanted->id))
		return -EEXIST;
	rc = sim_card_key_add(card, peer, region, wanted->secret, &key);
	if (rc < 0)
		return rc;
	key->far_id = wanted->id;
	card->num_far++;
	return 0;
}

int sim_card_revoke(struct sim_card *card, uint32_t peer, uint64_t id, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_key *key = sim_card_find_key(card, id);

	if (!key || key->exporter != peer)
		return -ESTALE;
	sim_card_key_revoke(card, key, revoked, arg);
	return 0;
}

bool sim_card_find_export(const struct sim_card *card, uint32_t function, uint32_t *ret_exporter, uint64_t *ret_key)
{
	for (uint32_t i = 0; i < card->num_keys; i++) {
		const struct card_key *key = &card->keys[i];

		if (key->live && key->region.function == function) {
			*ret_exporter = key->exporter;
			*ret_key = sim_card_key_id(card, key);
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
	struct card_import *import = sim_card_find_import(key, peer);

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
static bool network_connects(const struct sim_card *card, const struct pcie_function *a, const struct pcie_function *b)
{
	struct pcie_net_path path;

	return pcie_topology_find_path(card->topology, a, b, &path) == 0;
}

static int check_relation(const struct sim_card *card, const struct pcie_function *importer,
			  const struct pcie_function *exporter, const struct sim_region *region)
{
	if (region->access & SIM_ACCESS_NET)
		return network_connects(card, importer, exporter) ? 0 : -EPERM;
	if (importer->card != exporter->card)
		return -EXDEV;
	return pcie_functions_are_related(importer, exporter) ? 0 : -EPERM;
}

/* An alias permits the reads and writes that its origin permits, and no atomic operations. Its maker's request names none. */
static struct sim_region alias_region(const struct sim_region *origin, uint32_t function)
{
	struct sim_region region = *origin;

	region.access = SIM_ACCESS_NET | (origin->access & (SIM_ACCESS_READ | SIM_ACCESS_WRITE));
	region.function = function;
	return region;
}

static int check_alias(const struct sim_card *card, uint32_t peer, const struct card_key *origin, uint32_t function)
{
	const struct pcie_function *maker = find_peer_function(card, peer, function);

	if (origin->region.access & ~(uint32_t)(SIM_ACCESS_READ | SIM_ACCESS_WRITE))
		return -EACCES;
	if (!maker)
		return -EINVAL;
	if (!maker->caps.rdma || !may_import(maker, &origin->region))
		return -ENOTSUP;
	return check_relation(card, maker, &card->topology->functions[origin->region.function], &origin->region);
}

int sim_card_export_alias(struct sim_card *card, uint32_t peer, uint64_t origin_id, uint32_t function,
			  const uint8_t secret[SIM_SECRET_SIZE], uint64_t *ret_key)
{
	struct card_key *origin = sim_card_find_key(card, origin_id), *alias;
	uint32_t origin_slot = (uint32_t)origin_id;
	struct sim_region region;
	int rc;

	if (!origin || !sim_card_find_import(origin, peer))
		return -ESTALE;
	rc = check_alias(card, peer, origin, function);
	if (rc < 0)
		return rc;
	region = alias_region(&origin->region, function);
	rc = sim_card_key_add(card, peer, &region, secret, &alias); /* may move the keys */
	if (rc < 0)
		return rc;
	alias->is_alias = true;
	alias->origin = origin_slot;
	card->keys[origin_slot].num_aliases++;
	*ret_key = sim_card_key_id(card, alias);
	return 0;
}

int sim_card_import(struct sim_card *card, uint32_t peer, const struct sim_key *wanted, uint32_t function,
		    const struct sim_region **ret_region, struct sim_card_memory *ret_memory)
{
	struct card_key *key = sim_card_find_key(card, wanted->id);
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
	*ret_memory = sim_card_key_memory(card, key);
	rc = check_relation(card, importer, &card->topology->functions[key->region.function], &key->region);
	return rc < 0 ? rc : import_add(card, key, peer);
}

/* A far key has no alias: memory of the network is not exported again. */
void sim_card_drop_unused_far(struct sim_card *card, sim_card_revoked_cb *unused, void *arg)
{
	for (uint32_t i = 0; card->num_far > 0 && i < card->num_keys; i++) {
		struct card_key *key = &card->keys[i];

		if (!key->live || !key->far_id || key->num_imports > 0)
			continue;
		unused(arg, key->exporter, key->far_id, key->far_id);
		sim_card_key_revoke(card, key, unused, arg);
	}
}

void sim_card_unimport(struct sim_card *card, uint32_t peer, uint64_t id, sim_card_revoked_cb *revoked, void *arg)
{
	struct card_key *key = sim_card_find_key(card, id);
	struct card_import *import = key ? sim_card_find_import(key, peer) : NULL;

	if (!import || --import->count > 0)
		return;
	import_drop(card, key, import);
	sim_card_key_revoke_aliases(card, key, peer, revoked, arg);
}

int sim_card_find_memory(struct sim_card *card, uint32_t peer, uint64_t id, struct sim_card_memory *ret_memory)
{
	struct card_key *key = sim_card_find_key(card, id);

	if (!key || !sim_card_find_import(key, peer))
		return -ESTALE;
	key->is_served = true;
	*ret_memory = sim_card_key_memory(card, key);
	return 0;
}

void sim_card_set_path(struct sim_card *card, uint32_t peer, uint64_t id, const char *path, const char *reason)
{
	struct card_key *key = sim_card_find_key(card, id);
	struct card_import *import = key ? sim_card_find_import(key, peer) : NULL;

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
			cb(arg, key->imports[i].peer, sim_card_key_memory(card, key).exporter, &key->region,
			   key->imports[i].path, key->imports[i].reason);
	}
}
