/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/card/card_priv.h - the state of a session, for its two files: card.c, and keys.c, which has the table of keys. */
#ifndef SIM_CARD_PRIV_H
#define SIM_CARD_PRIV_H

#include "card.h"

struct card_import {
	uint32_t peer;
	uint32_t count; /* a process may import one key several times */
	char path[SIM_PATH_NAME_SIZE];
	char reason[SIM_REASON_SIZE];
};

struct card_key {
	bool live;
	bool is_alias;
	bool is_served;  /* alias: the origin's exporter was asked for its memory */
	uint64_t far_id; /* the id of a key of another machine; 0 = a key of this one */
	uint16_t generation;
	uint32_t exporter;
	uint8_t secret[SIM_SECRET_SIZE];
	struct sim_region region;
	uint32_t origin;      /* alias: index of the key, which outlives it */
	uint32_t num_aliases; /* of this key */
	struct card_import *imports;
	uint32_t num_imports;
};

struct card_peer {
	bool live, is_gateway;
	struct sim_peer_info info;
	uint32_t num_exports, num_imports;
};

struct sim_card {
	const struct pcie_topology *topology;
	uint32_t machine;
	uint32_t num_far;        /* keys of other machines */
	struct card_peer *peers; /* index = peer number */
	uint32_t num_peers;
	struct card_key *keys; /* index = low half of a key's id */
	uint32_t num_keys;
	uint32_t lowest_free_key; /* the keys below are live */
};

/* The index of the first free slot from @from on in a growing array, or the count if the array must grow. */
#define FIND_FREE_SLOT(items, from, count)                     \
	({                                                     \
		uint32_t slot_ = (from);                       \
		while (slot_ < (count) && (items)[slot_].live) \
			slot_++;                               \
		slot_;                                         \
	})

/* keys.c: the id of a key. */
uint64_t sim_card_key_id(const struct sim_card *card, const struct card_key *key);

/* Find a live key by its id, and a peer's import of it. NULL = there is none. */
struct card_key *sim_card_find_key(const struct sim_card *card, uint64_t id);
struct card_import *sim_card_find_import(const struct card_key *key, uint32_t peer);

/* Where the memory of a key is. */
struct sim_card_memory sim_card_key_memory(const struct sim_card *card, const struct card_key *key);

/* Make a key of @peer for @region, which the caller has checked. May move the other keys. Returns 0, -EDQUOT or -ENOMEM. */
int sim_card_key_add(struct sim_card *card, uint32_t peer, const struct sim_region *region,
		     const uint8_t secret[SIM_SECRET_SIZE], struct card_key **ret_key);

/* End a key, with its aliases. */
void sim_card_key_revoke(struct sim_card *card, struct card_key *key, sim_card_revoked_cb *revoked, void *arg);

/* End the aliases of @key that @maker has made. */
void sim_card_key_revoke_aliases(struct sim_card *card, const struct card_key *key, uint32_t maker,
				 sim_card_revoked_cb *revoked, void *arg);

#endif
