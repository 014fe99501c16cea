/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/remote.h - access to memory of another process.
 *
 *   create --> [reachable] --revoke--> [revoked] --> destroy
 *                 ^  copies run here     copies fail with -EIO
 *
 * sim_remote_create() tries the paths (path.h) in order of preference and keeps the first that works.
 * The path and the reasons against better paths are kept for reports.
 *
 * sim_copy() may run in any number of threads at once, in each under a guard that finds the mappings (memory_guard.h). A revocation waits until no copy is in flight
 * and rejects later ones: when it returns, the exporter's memory is no longer accessed.
 *
 * A sync event's value (SIM_ACCESS_SYNC) needs a path that maps it, also if another path is forced:
 * processes do atomic operations on it at @base, each between sim_remote_acquire() and
 * sim_remote_release(). Its object can be passed to any process that the daemon's socket reaches.
 */
#ifndef SIM_FABRIC_REMOTE_H
#define SIM_FABRIC_REMOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/memory_guard.h"
#include "sim/base/move.h"
#include "sim/card/card.h"
#include "sim/fabric/served/served.h"

struct sim_path_ops;
struct sim_peer_memory;
struct sim_peer_process;

/* Calls of the session that reach the exporter's helper thread. */
struct sim_remote_peer {
	/* As of struct sim_initiator_cfg. */
	int (*describe)(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			int *ret_fd);
	void *arg;
};

struct sim_remote_cfg {
	uint64_t key;
	struct sim_region region;
	struct sim_peer_info exporter;
	struct sim_peer_info self;
	int object_fd;       /* the shared object that holds the memory, or -1; borrowed */
	int pidfd;           /* the exporter, as the kernel named it to the session's owner, or -1; borrowed */
	bool is_own_session; /* the owner belongs to this process's user */
	bool passes_memory;  /* exporters of the session pass descriptors of their memory to importers of their user */
	struct sim_remote_peer peer;
	const char *forced_path; /* use this path or fail; NULL = the best */
};

/* Why memory is revoked. */
enum sim_revoke_cause {
	SIM_REVOKED_EXPORT,   /* its export was ended, or its exporter's process ended */
	SIM_REVOKED_EXPORTER, /* the exporter's function was reset, failed or was removed */
	SIM_REVOKED_FUNCTION, /* the importer's function was */
	SIM_REVOKED_SESSION,  /* the card's daemon is gone, or the importer has released the memory */
};

#define SIM_REMOTE_REASON_SIZE 512 /* of all paths together; ps shows the first SIM_REASON_SIZE bytes */

struct sim_remote {
	uint64_t key;
	struct sim_region region;
	uint8_t *base; /* the memory in this process, when the path maps it; else NULL */
	const struct sim_path_ops *path;
	bool moves_pieces; /* the path has system calls for many pieces */
	/* Owned by the path. */
	struct sim_mapping mapping;
	struct sim_peer_process *process; /* path cma, or procmem where cma works, too: the exporter */
	struct sim_peer_memory *memory;   /* path procmem */
	int32_t exporter_pid;             /* for messages, like @program */
	uint64_t exporter_id;             /* of struct sim_peer_info */
	char program[SIM_PROGRAM_SIZE];
	struct sim_initiator *initiator; /* paths shm and tcp, or procmem where large copies are faster by shm */
	/* State. */
	_Atomic uint32_t revoke_cause; /* enum sim_revoke_cause; set before @revoked */
	atomic_bool revoked;
	atomic_uint in_flight;               /* copies in flight */
	char reason[SIM_REMOTE_REASON_SIZE]; /* against better paths; "" = this is the best */
	void (*_Atomic notify)(void *arg);   /* at the revocation; NULL = nothing */
	void *notify_arg;
};

/* Choose a path and open it. Returns 0, -ENOTSUP (no permitted path works; the log says why), -ETIMEDOUT
 * (the exporter did not answer; it may be stopped), -ESTALE (the export has ended) or -ENOMEM. */
int sim_remote_create(const struct sim_remote_cfg *cfg, struct sim_remote **ret_remote);

/* Close the path and free the remote; no copy may be in flight. NULL is fine. */
void sim_remote_destroy(struct sim_remote *remote);

/* The name of the path in use. */
const char *sim_remote_path(const struct sim_remote *remote);

/* Before the revocation; of a revoked remote the cause stays. */
static inline void sim_remote_set_cause(struct sim_remote *remote, enum sim_revoke_cause cause)
{
	if (!atomic_load(&remote->revoked))
		atomic_store(&remote->revoke_cause, cause);
}

/* Call @notify(@arg) at the revocation, in the thread that revokes: it must be quick, and must not call into the
 * session. May be called at once, or twice. */
void sim_remote_on_revoked(struct sim_remote *remote, void (*notify)(void *arg), void *arg);

/* Fail further copies, as the exporter ended the export or died, and wait for those in flight. */
void sim_remote_revoke(struct sim_remote *remote);

/* The same without the wait. Returns whether no copy is in flight any more; call again until then. */
bool sim_remote_try_revoke(struct sim_remote *remote);

/* Hold off a revocation until sim_remote_release(). Returns false if the memory is revoked. */
static inline bool sim_remote_acquire(struct sim_remote *remote)
{
	atomic_fetch_add(&remote->in_flight, 1);
	if (!atomic_load(&remote->revoked))
		return true;
	atomic_fetch_sub(&remote->in_flight, 1);
	return false;
}

static inline void sim_remote_release(struct sim_remote *remote)
{
	atomic_fetch_sub_explicit(&remote->in_flight, 1, memory_order_release);
}

/* Whether a copy never waits for the exporter. */
bool sim_remote_is_direct(const struct sim_remote *remote);

/* Whether the kernel says that the exporter has unmapped the begin or the end of the range; false if it can't be asked. */
bool sim_remote_is_unmapped(struct sim_remote *remote, uint64_t addr, size_t len);

/* sim_copy(), with at least one remote. */
int sim_copy_remote(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *src_remote, uint64_t src,
		    size_t len);

/* Copy @len bytes from @src to @dst, addresses of @src_remote and @dst_remote, or of this process if the remote is
 * NULL. Returns 0, -EIO (a memory is revoked, or the path failed), -EACCES (the export does not permit
 * the access) or -EFAULT (out of bounds). On failure some of the bytes may have moved. */
static inline int sim_copy(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *src_remote, uint64_t src,
			   size_t len)
{
	if (dst_remote || src_remote)
		return sim_copy_remote(dst_remote, dst, src_remote, src, len);
	sim_move((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, len);
	return 0;
}

/* A part of a list: @len bytes at @addr of a remote, and at @local in this process. */
struct sim_piece {
	uint64_t addr;
	uint8_t *local;
	size_t len;
};

#define SIM_MAX_PIECES 128 /* of one call; the kernel takes IOV_MAX */

/* Move up to SIM_MAX_PIECES pieces between @remote, which moves_pieces, and this process, to this one if @is_read, by one
 * system call for many of them. Returns how many have moved as a whole, from the first on. sim_copy() is for the others, and
 * says why one fails. */
size_t sim_copy_pieces(struct sim_remote *remote, bool is_read, const struct sim_piece *pieces, size_t count);

/* Whether sim_copy() would access the range: 0, -EFAULT, -EACCES (@access is an enum sim_access bit) or -EIO, as it is revoked. */
int sim_remote_check(const struct sim_remote *remote, uint64_t addr, uint64_t len, uint32_t access);

/* Of memory of another machine: what names it to this machine's gateway. */
const struct sim_grant *sim_remote_grant(const struct sim_remote *remote);

/* Whether the memory is of another machine, and operations on it are sim_remote_operate()'s. */
static inline bool sim_remote_is_far(const struct sim_remote *remote)
{
	return remote->region.access & SIM_ACCESS_FAR;
}

/* Do an operation on the 8 bytes at @addr of far memory. Between acquire and release. Returns 0 or -errno. */
int sim_remote_operate(struct sim_remote *remote, uint64_t addr, const struct sim_far_operands *operands,
		       uint64_t *ret_before);

#endif
