/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/ofi/ofi.h - reading and writing another process's memory through libfabric.
 *
 *   exporter:  sim_ofi_target  (one per provider)  --expose--> memory, described by a sim_ofi_desc
 *   importer:  sim_ofi_link    (one per memory)    --read/write--> that memory
 *
 * Links of one process to one target share an endpoint, so that thousands of
 * them cost little; their operations take turns on it.
 *
 * A target serves peers only while somebody calls sim_ofi_target_serve(): the
 * process's helper thread does, when the target's descriptor becomes readable
 * or a peer asks for attention by way of the daemon. A link's calls are
 * synchronous. Errors are -errno; libfabric's codes end here.
 *
 * libfabric is loaded when the first target or link is made, never before (see
 * ofi.c: loading it takes a third of a second and would change what signals
 * do to the application). A process without it gets -ENOSYS.
 *
 * Threads: a target is used by one thread at a time, links by any. None is
 * started here. Nothing here survives a fork(): the child makes its own.
 */
#ifndef SIM_FABRIC_OFI_H
#define SIM_FABRIC_OFI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_OFI_MAX_ADDRS       8
#define SIM_OFI_ADDR_SIZE       256
#define SIM_OFI_PROVIDER_SIZE   32
#define SIM_OFI_SHM_PREFIX_SIZE 48

struct sim_ofi_target;
struct sim_ofi_mem;
struct sim_ofi_link;

/* What an importer needs to reach one exposed memory; plain bytes, sent through
 * the daemon: a receiver checks it (sim_ofi_link_create() does). */
struct sim_ofi_desc {
	char provider[SIM_OFI_PROVIDER_SIZE]; /* libfabric's own name: "shm", "net", "tcp;ofi_rxm", ... */
	uint64_t mr_key;                      /* random where the provider lets us choose; whoever has it gets in */
	uint64_t base;                        /* what to add to an offset into the memory for the wire */
	uint32_t writable;                    /* 0 or 1; the target enforces it too */
	uint32_t num_addrs;                   /* candidates, best first */
	uint32_t addr_len[SIM_OFI_MAX_ADDRS];
	uint8_t addr[SIM_OFI_MAX_ADDRS][SIM_OFI_ADDR_SIZE];
};

/* Open an endpoint of @provider: "shm"; "tcp" (libfabric's best RDM endpoint
 * over sockets: "net" or "tcp", whatever it is called there); or another name
 * that libfabric knows, for instance "verbs". Over sockets it listens on every
 * interface, at a port that stays the same for the target's life. Returns 0,
 * -ENOSYS (no such provider here), -ENOMEM or another -errno. */
int sim_ofi_target_create(const char *provider, struct sim_ofi_target **ret_target);

/* Close it; memory still exposed is hidden first. NULL is fine. */
void sim_ofi_target_destroy(struct sim_ofi_target *target);

/* Let peers read, and with @writable write, [addr, addr + len), len > 0. The
 * memory must outlive the exposure, the exposure must not outlive the target.
 * *ret_desc is what peers need. */
int sim_ofi_target_register(struct sim_ofi_target *target, void *addr, size_t len, bool writable,
			    struct sim_ofi_mem **ret_mem, struct sim_ofi_desc *ret_desc);

/* End an exposure: when this returns, nothing touches the memory any more and
 * peers' accesses to it fail with -EIO. The providers made of software can't
 * take one memory away from a transfer under way, so peers of the target's
 * other memories may be disconnected by this; their links come back by
 * themselves and repeat what was interrupted. NULL is fine. */
void sim_ofi_target_deregister(struct sim_ofi_mem *mem);

/* A descriptor (the same for the target's life) that becomes readable when
 * there is something to serve, or -1 when the provider has none (then only
 * sim_ofi_target_serve() helps: links call their notify_peer). shm and tcp have one. */
int sim_ofi_target_fd(const struct sim_ofi_target *target);

/* Make progress for peers; does not wait. Returns how many events were seen
 * (0: nothing to do; a provider may not tell, then always 0). */
int sim_ofi_target_serve(struct sim_ofi_target *target);

/* Whether it is safe to sleep on the descriptor now; when not, serve again. */
bool sim_ofi_target_may_sleep(struct sim_ofi_target *target);

/* Connect to the memory that @desc describes, trying its addresses in order,
 * each for at most @timeout_ms, and prove that it is there by reading a byte (a
 * target that opens its endpoint again is given a second to come back);
 * @len is the memory's size. While it waits for the exporter this, and every
 * operation on the link, calls notify_peer(notify_arg) after a short time without
 * completion and again at growing intervals: it asks the exporter to serve.
 * NULL = nobody to ask. The exporter is another process: with "shm", one's own
 * target is refused (-EINVAL).
 * Returns 0, -EPROTO (a desc that makes no sense), -ENOSYS (no such provider
 * here), -EACCES (the target says that desc promises too much), -ETIMEDOUT,
 * -EHOSTUNREACH (nobody there has this memory) or another -errno. */
int sim_ofi_link_create(const struct sim_ofi_desc *desc, size_t len, unsigned int timeout_ms,
			void (*notify_peer)(void *notify_arg), void *notify_arg, struct sim_ofi_link **ret_link);

/* Close it, with operations of other threads finished. NULL is fine. */
void sim_ofi_link_destroy(struct sim_ofi_link *link);

/* Copy between local memory and [offset, offset + len) of the exposed memory;
 * when a write returns 0 its bytes are in that memory. Any thread; one at a
 * time gets in. Gives up with -EIO as soon as *revoked becomes true (the exporter
 * died or revoked the memory): after that no more bytes move into @local; with
 * a NULL @revoked nobody tells, and an exporter that can't be reached any more is
 * not waited for. One that lives but does not serve is. Returns 0, -EACCES (a
 * write to memory exposed for reading), -EFAULT (out of bounds), -EIO (gone,
 * hidden, refused) or another -errno; part of the bytes may have moved then. */
int sim_ofi_link_read(struct sim_ofi_link *link, void *local, uint64_t offset, size_t len, const atomic_bool *revoked);
int sim_ofi_link_write(struct sim_ofi_link *link, const void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked);

/* How the names of this process's files in /dev/shm begin (provider "shm"; the
 * other providers have none): "bfsim-<pid>-<random>-", fixed for the process's
 * life. A process that dies by a signal leaves them behind, so whoever watches
 * it asks for this early and cleans up later. */
void sim_ofi_shm_prefix(char ret_prefix[SIM_OFI_SHM_PREFIX_SIZE]);

/* Remove a dead process's files from /dev/shm. Returns how many there were, or
 * -EINVAL (not such a prefix). */
int sim_ofi_shm_cleanup(const char *prefix);

#endif
