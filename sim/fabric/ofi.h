/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/ofi.h - reading and writing another process's memory through libfabric.
 *
 *   exporter:  sim_ofi_target  (one per provider)  --expose--> memory, described by a sim_ofi_desc
 *   importer:  sim_ofi_link    (one per exporter)  --read/write--> that memory
 *
 * A target serves peers only while somebody calls sim_ofi_target_serve(): the
 * process's helper thread does, when the target's descriptor becomes readable
 * or a peer asks for attention by way of the daemon. A link's calls are
 * synchronous. Errors are -errno; libfabric's codes end here.
 */
#ifndef SIM_FABRIC_OFI_H
#define SIM_FABRIC_OFI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_OFI_MAX_ADDRS 8
#define SIM_OFI_ADDR_SIZE 256
#define SIM_OFI_PROVIDER_SIZE 32

struct sim_ofi_target;
struct sim_ofi_mem;
struct sim_ofi_link;

/* What an importer needs to reach one exposed memory; plain bytes, sent through
 * the daemon: a receiver checks it (sim_ofi_link_create() does). */
struct sim_ofi_desc {
	char provider[SIM_OFI_PROVIDER_SIZE]; /* "shm", "tcp", ... */
	uint64_t mr_key;
	uint64_t base;                  /* what to add to an offset into the memory for the wire */
	uint32_t num_addrs;             /* candidates, best first */
	uint32_t addr_len[SIM_OFI_MAX_ADDRS];
	uint8_t addr[SIM_OFI_MAX_ADDRS][SIM_OFI_ADDR_SIZE];
};

/* Open an endpoint of @provider ("shm" or "tcp", or another name that libfabric
 * knows, for instance "verbs"). Returns 0, -ENOSYS (no such provider here),
 * -ENOMEM or another -errno. */
int sim_ofi_target_create(const char *provider, struct sim_ofi_target **ret_target);

/* Close it; memory still exposed is hidden first. NULL is fine. */
void sim_ofi_target_destroy(struct sim_ofi_target *target);

/* Let peers read, and with @writable write, [addr, addr + len). The memory must
 * outlive the exposure. *ret_desc is what peers need. */
int sim_ofi_target_expose(struct sim_ofi_target *target, void *addr, size_t len, bool writable,
			  struct sim_ofi_mem **ret_mem, struct sim_ofi_desc *ret_desc);

/* End an exposure: peers' accesses to it fail from here on. NULL is fine. */
void sim_ofi_target_hide(struct sim_ofi_mem *mem);

/* A descriptor that becomes readable when there is something to serve, or -1
 * when the provider has none (then only sim_ofi_target_serve() helps). */
int sim_ofi_target_fd(const struct sim_ofi_target *target);

/* Make progress for peers. Returns how many events were seen (0: nothing to do). */
int sim_ofi_target_serve(struct sim_ofi_target *target);

/* Whether it is safe to sleep on the descriptor now; when not, serve again. */
bool sim_ofi_target_may_sleep(struct sim_ofi_target *target);

/* Connect to the memory that @desc describes, trying its addresses in order,
 * each for at most @timeout_ms; @len is the memory's size. While waiting for a
 * peer, @nudge(nudge_arg) is called after a short time without progress (once
 * per operation): it asks the exporter to serve. NULL = nobody to ask.
 * Returns 0, -EPROTO (a desc that makes no sense), -ENOSYS, -ETIMEDOUT,
 * -EHOSTUNREACH or another -errno. */
int sim_ofi_link_create(const struct sim_ofi_desc *desc, size_t len, unsigned int timeout_ms,
			void (*nudge)(void *nudge_arg), void *nudge_arg,
			struct sim_ofi_link **ret_link);

/* Close it, with operations of other threads finished. NULL is fine. */
void sim_ofi_link_destroy(struct sim_ofi_link *link);

/* Copy between local memory and [offset, offset + len) of the exposed memory.
 * Any thread; one at a time gets in. Gives up with -EIO as soon as *gone
 * becomes true (the exporter died or revoked the memory): after that no more
 * bytes move into @local. Returns 0, -EACCES, -EIO or another -errno. */
int sim_ofi_link_read(struct sim_ofi_link *link, void *local, uint64_t offset, size_t len,
		      const atomic_bool *gone);
int sim_ofi_link_write(struct sim_ofi_link *link, const void *local, uint64_t offset, size_t len,
		       const atomic_bool *gone);

#endif
