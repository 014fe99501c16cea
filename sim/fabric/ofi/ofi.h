/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/ofi/ofi.h - reading and writing another process's memory through libfabric.
 *
 *   exporter:  sim_ofi_target  (one per provider)  --expose--> memory, described by a sim_ofi_desc
 *   importer:  sim_ofi_link    (one per memory)    --read/write--> that memory
 *
 * Links of one process to one target share an endpoint, so that thousands of links cost little. One
 * operation at a time runs on an endpoint.
 *
 * A target serves peers only in calls of sim_ofi_target_serve(). The process's helper thread calls it when
 * the target's descriptor becomes readable or when a peer asks for it through the daemon. A link's calls
 * are synchronous. Errors are -errno; libfabric's codes do not leave this folder.
 *
 * libfabric is loaded when the first target or link is made: loading takes a third of a second and
 * changes the application's signal handlers (ofi_lib.c). A process without libfabric gets -ENOSYS.
 *
 * Threads: one thread at a time uses a target; any thread may use links. No thread is started here.
 * A forked child must not use its parent's targets and links; it creates its own.
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

/* What an importer needs to reach one exposed memory. The daemon passes it as plain bytes, so
 * sim_ofi_link_create() checks it. */
struct sim_ofi_desc {
	char provider[SIM_OFI_PROVIDER_SIZE]; /* libfabric's own name: "shm", "net", "tcp;ofi_rxm", ... */
	uint64_t mr_key;                      /* grants access; random if the provider accepts our keys */
	uint64_t base;                        /* address of the memory's begin on the wire */
	uint32_t writable;                    /* 0 or 1; the target enforces it too */
	uint32_t num_addrs;                   /* candidates, best first */
	uint32_t addr_len[SIM_OFI_MAX_ADDRS];
	uint8_t addr[SIM_OFI_MAX_ADDRS][SIM_OFI_ADDR_SIZE];
};

/* Open an endpoint of @provider: "shm", "tcp" (libfabric's best RDM endpoint over sockets, which this
 * version calls "net" or "tcp") or another name that libfabric knows, for instance "verbs". Over sockets
 * it listens on every interface, at one port for the target's life. Returns 0, -ENOSYS (no such
 * provider), -ENOMEM or another -errno. */
int sim_ofi_target_create(const char *provider, struct sim_ofi_target **ret_target);

/* End all exposures and close the endpoint. NULL is fine. */
void sim_ofi_target_destroy(struct sim_ofi_target *target);

/* Let peers read [addr, addr + len), len > 0, and write it if @writable. The memory must outlive the
 * exposure, and the target must outlive it too. *ret_desc is for peers. */
int sim_ofi_target_register(struct sim_ofi_target *target, void *addr, size_t len, bool writable,
			    struct sim_ofi_mem **ret_mem, struct sim_ofi_desc *ret_desc);

/* End an exposure: on return the memory is no longer accessed, and peers' accesses to it fail with -EIO.
 * Software providers can't cancel a transfer in progress on one memory. So this may disconnect peers
 * of the target's other memories; their links reconnect and repeat the interrupted transfer.
 * NULL is fine. */
void sim_ofi_target_deregister(struct sim_ofi_mem *mem);

/* A descriptor, the same for the target's life, that becomes readable when there is work to serve. -1 if the
 * provider has none: then peers ask for sim_ofi_target_serve() by their notify_peer. shm and tcp have one. */
int sim_ofi_target_fd(const struct sim_ofi_target *target);

/* Make progress for peers, without waiting. Returns the number of events seen; always 0 for providers that
 * do not report events. */
int sim_ofi_target_serve(struct sim_ofi_target *target);

/* Whether the caller may sleep on the descriptor now; if not, serve again. */
bool sim_ofi_target_may_sleep(struct sim_ofi_target *target);

/* Connect to the memory of @len bytes that @desc describes. Tries the addresses in order, each for at most
 * @timeout_ms, and reads a byte of the memory as a proof. A target that is reopening its endpoint gets
 * a second to return. While waiting, this and every operation on the link call
 * notify_peer(notify_arg), which asks the exporter to serve, first after a short time and then at
 * growing intervals. NULL = no notification. With "shm" the exporter must be another
 * process (-EINVAL).
 * Returns 0, -EPROTO (invalid @desc), -ENOSYS (no such provider), -EACCES (the target permits less than
 * @desc says), -ETIMEDOUT, -EHOSTUNREACH (the memory is not at any address) or another -errno. */
int sim_ofi_link_create(const struct sim_ofi_desc *desc, size_t len, unsigned int timeout_ms,
			void (*notify_peer)(void *notify_arg), void *notify_arg, struct sim_ofi_link **ret_link);

/* Close the link; no operation may be in flight. NULL is fine. */
void sim_ofi_link_destroy(struct sim_ofi_link *link);

/* Copy between local memory and [offset, offset + len) of the exposed memory. When a write returns 0, the
 * bytes are in that memory. Any thread may call; one operation at a time runs. If *revoked becomes true
 * (the exporter died or revoked the memory), the call ends with -EIO and @local is no longer
 * accessed. If @revoked is NULL, an unreachable exporter is an error at once. In both cases the
 * call waits for an exporter that lives but does not serve. Returns 0, -EACCES (a write to
 * read-only memory), -EFAULT (out of bounds), -EIO (unreachable, not exposed, refused) or another
 * -errno. On failure some of the bytes may have moved. */
int sim_ofi_link_read(struct sim_ofi_link *link, void *local, uint64_t offset, size_t len, const atomic_bool *revoked);
int sim_ofi_link_write(struct sim_ofi_link *link, const void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked);

/* The prefix of the names of this process's files in /dev/shm (provider "shm" only): "bfsim-<pid>-<random>-",
 * fixed for the process's life. A process killed by a signal leaves its files behind; the daemon gets the
 * prefix when the process attaches, and removes the files. */
void sim_ofi_shm_prefix(char ret_prefix[SIM_OFI_SHM_PREFIX_SIZE]);

/* Remove the files of a dead process from /dev/shm. Returns their number, or -EINVAL (invalid prefix). */
int sim_ofi_shm_cleanup(const char *prefix);

#endif
