/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/card/card.h - the state of one session: attached processes, exported memory, and imports.
 *
 *   peer (a process)  --export-->  key  <--import--  peer (another process)  --export again-->  alias  <--import--  third peer
 *
 * The owner of a session holds one card: a daemon, or a process with a private card. The card is pure state: it has no
 * thread, no I/O and no clock, and the caller supplies randomness.
 *
 * A key is an index and a generation, plus a secret that every import must present. A key lives until its exporter
 * revokes it or detaches. Both calls report every import that ends thereby, so that the owner can inform those peers.
 *
 * An alias is a key for memory that its maker has imported, the origin: a DPU gives the network access to memory of its
 * host. An alias has the origin's range and its rights to read and write, so its maker claims nothing. Its function is the
 * maker's, its importers get the memory from the origin's exporter. It ends with the origin, and with its maker's import
 * of the origin.
 * Of a session over several machines, each machine has a card, and each card the session's topology. The id of a key has the
 * number of its machine. A key of another machine is entered here when it is first imported, and its exporter is the gateway: a
 * peer that has no side, imports and exports through every function, and vouches for what it exports. Such a far key ends with its
 * last import.
 * Not thread-safe. Errors are -errno.
 */
#ifndef SIM_CARD_H
#define SIM_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie_model/topology/topology.h"
#include "sim/base/process_check.h"

#define SIM_SECRET_SIZE    16
#define SIM_PROGRAM_SIZE   32
#define SIM_PATH_NAME_SIZE 16
#define SIM_REASON_SIZE    160

#define SIM_MAX_EXPORTS 32768 /* of one peer */
#define SIM_MAX_IMPORTS 32768 /* of one peer: keys */

/* The allowed accesses of importers to exported memory. */
enum sim_access {
	SIM_ACCESS_READ = 1,
	SIM_ACCESS_WRITE = 2,
	SIM_ACCESS_CHANNEL = 4, /* memory of a channel: needs no export or import capability */
	SIM_ACCESS_SYNC = 8,    /* used alone: the value of a sync event, accessed in place and never copied */
	SIM_ACCESS_ATOMIC = 16, /* atomic operations of the network */
	SIM_ACCESS_NET = 32,    /* importers are the functions that the network reaches, of any card */
	SIM_ACCESS_INBOX = 64,  /* a queue pair's inbox (sim/rdma/inbox.h), accessed in place and never copied */
	SIM_ACCESS_FAR = 128,   /* memory of another machine, which the gateway of this one reaches */
};

/* The description of a process. The process itself says its side, program and check; the owner of the session sets the
 * rest, from what the kernel says. */
struct sim_peer_info {
	uint64_t id; /* random, not 0; of this attachment */
	int32_t pid; /* in the owner's PID namespace; the process's own word if it has none there, so for messages only */
	uint32_t uid; /* in the owner's user namespace */
	char side[PCIE_SIDE_SIZE];
	char program[SIM_PROGRAM_SIZE];
	char check[SIM_PROCESS_CHECK_SIZE]; /* sim/base/process_check.h */
};

/* Memory to export. */
struct sim_region {
	uint64_t addr;     /* the address in the application's calls */
	uint64_t cpu_addr; /* the address in the exporter's mapping; differs for a dmabuf */
	uint64_t len_bytes;
	uint32_t access;        /* enum sim_access bits */
	uint32_t function;      /* id of the exporter's function */
	uint64_t object_offset; /* offset of addr in the shared object, if there is one */
};

struct sim_key {
	uint64_t id;
	uint8_t secret[SIM_SECRET_SIZE];
};

/* The process in which imported memory is, and that process's own key for it: of an alias, the origin. */
struct sim_card_memory {
	uint32_t exporter;
	uint64_t key;
};

struct sim_card;

/* Create the state of a session over @topology (borrowed). Returns 0 or -ENOMEM. */
int sim_card_create(const struct pcie_topology *topology, struct sim_card **ret_card);

/* The card is that of machine @number (pcie_topology_get_machine()); it is 0 without this call. Before the first export. */
void sim_card_set_machine(struct sim_card *card, uint32_t number);

/* The number of a key's machine. */
static inline uint32_t sim_key_machine(uint64_t id)
{
	return (uint32_t)(id >> 48);
}
void sim_card_destroy(struct sim_card *card);

/* Add a process. Returns 0, -ENOENT (the topology has no such side) or -ENOMEM. */
int sim_card_attach(struct sim_card *card, const struct sim_peer_info *info, uint32_t *ret_peer);

/* The same for the gateway, whose side is not looked at. */
int sim_card_attach_gateway(struct sim_card *card, const struct sim_peer_info *info, uint32_t *ret_peer);

/* Whether @peer works through the function: it is of the peer's side, or the peer is the gateway. */
bool sim_card_may_use(const struct sim_card *card, uint32_t peer, uint32_t function);

/* The description of a peer; NULL if there is no such peer. */
const struct sim_peer_info *sim_card_peer(const struct sim_card *card, uint32_t peer);

/* Called for each import that ends: importer @peer no longer reaches @key, whose memory's own key is @memory: that of the key
 * itself, or of an alias its origin. Of an alias it is also called for the origin's exporter if that was asked to serve the
 * alias (sim_card_find_memory()), and the origin lives on. */
typedef void sim_card_revoked_cb(void *arg, uint32_t peer, uint64_t key, uint64_t memory);

/* Remove a process: its imports end without a report, its exports are revoked. */
void sim_card_detach(struct sim_card *card, uint32_t peer, sim_card_revoked_cb *revoked, void *arg);

/* Export @region. Returns 0, -EINVAL (empty or wrapping region, or a function of another side), -ENOTSUP (the function
 * can't export), -EDQUOT (SIM_MAX_EXPORTS) or -ENOMEM. */
int sim_card_export(struct sim_card *card, uint32_t peer, const struct sim_region *region,
		    const uint8_t secret[SIM_SECRET_SIZE], uint64_t *ret_key);

/* Enter a key of another machine, whose memory @peer, the gateway, reaches. Returns 0, -EINVAL (not the gateway, no such memory, or
 * an id of this machine), -EEXIST, -EDQUOT or -ENOMEM. */
int sim_card_export_far(struct sim_card *card, uint32_t peer, const struct sim_region *region,
			const struct sim_key *key);

/* Whether the key is of another machine, and not entered here. */
bool sim_card_is_unknown_far(const struct sim_card *card, uint64_t id);

/* Make an alias of @origin, which @peer has imported, through @function. Returns 0, -ESTALE (@peer has no import of
 * @origin), -EACCES (the origin is no memory of the card: that of a channel, a sync event, an inbox, or of the network),
 * -EINVAL (not a function of the peer's side), -ENOTSUP (the function can't import the origin, or has no RDMA), -EXDEV,
 * -EPERM (it is not related to the origin's function), -EDQUOT (SIM_MAX_EXPORTS) or -ENOMEM. */
int sim_card_export_alias(struct sim_card *card, uint32_t peer, uint64_t origin, uint32_t function,
			  const uint8_t secret[SIM_SECRET_SIZE], uint64_t *ret_key);

/* End an export of @peer. Returns 0 or -ESTALE (not a live key of this peer). */
int sim_card_revoke(struct sim_card *card, uint32_t peer, uint64_t key, sim_card_revoked_cb *revoked, void *arg);

/* Find the first export through @function. Returns whether there is one. */
bool sim_card_find_export(const struct sim_card *card, uint32_t function, uint32_t *ret_exporter, uint64_t *ret_key);

/* Import a key through @function. Returns 0, -ESTALE (no such key, or a wrong secret), -EINVAL (not a function of the
 * importer's side), -ENOTSUP (the function can't import), -EXDEV (another card), -EPERM (the function and the
 * exporter's are not related, see pcie_functions_are_related()), -EDQUOT (SIM_MAX_IMPORTS) or -ENOMEM. *ret_region
 * stays the card's; it is also set with -EXDEV and -EPERM, so that the caller can name the exporter's function. */
int sim_card_import(struct sim_card *card, uint32_t peer, const struct sim_key *key, uint32_t function,
		    const struct sim_region **ret_region, struct sim_card_memory *ret_memory);

/* End one import of @key by @peer; without an import nothing happens. The end of the last one revokes the aliases that
 * @peer has made of @key. */
void sim_card_unimport(struct sim_card *card, uint32_t peer, uint64_t key, sim_card_revoked_cb *revoked, void *arg);

/* Remove the far keys that nobody imports any more. @unused is called for each; its peer is the gateway. After the end of imports. */
void sim_card_drop_unused_far(struct sim_card *card, sim_card_revoked_cb *unused, void *arg);

/* Find the process that serves the memory of a live key, which @peer has imported. If the key is an alias, the card tells that
 * process from then on when the key ends. Returns 0 or -ESTALE. */
int sim_card_find_memory(struct sim_card *card, uint32_t peer, uint64_t key, struct sim_card_memory *ret_memory);

/* Store the data path of an import, and the reason why no better path is used. */
void sim_card_set_path(struct sim_card *card, uint32_t peer, uint64_t key, const char *path, const char *reason);

/* For reports: call @cb for each peer, and for each import with its export. */
typedef void sim_card_peer_cb(void *arg, uint32_t peer, const struct sim_peer_info *info, uint32_t num_exports,
			      uint32_t num_imports);
typedef void sim_card_import_cb(void *arg, uint32_t importer, uint32_t exporter, const struct sim_region *region,
				const char *path, const char *reason);
void sim_card_each_peer(const struct sim_card *card, sim_card_peer_cb *cb, void *arg);
void sim_card_each_import(const struct sim_card *card, sim_card_import_cb *cb, void *arg);

#endif
