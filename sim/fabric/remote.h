/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/remote.h - memory of another process, as this process reaches it.
 *
 *   create --> [reachable] --revoke--> [revoked] --> destroy
 *                 ^  copies run here     copies fail with -EIO
 *
 * Creating one chooses the path that moves the bytes, the best that works
 * between the two processes: each path is tried, not assumed (path.h). The
 * choice and the reasons against better paths are kept for reports.
 *
 * sim_copy() may run in any number of threads at once. A revocation waits until
 * none is in flight and keeps later ones out, so that after it the exporter's
 * memory is no longer touched.
 *
 * A sync event's value (SIM_ACCESS_SYNC) is reached by a path that maps it, or
 * not at all, whatever path is forced: processes do atomic operations on it at
 * @base, each between sim_remote_acquire() and sim_remote_release(). Its object can
 * be passed to wherever the daemon's socket reaches.
 */
#ifndef SIM_FABRIC_REMOTE_H
#define SIM_FABRIC_REMOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/fabric/ofi/ofi.h"
#include "sim/card/card.h"

struct sim_path_ops;
struct sim_peer_process;

/* How the session lets an importer talk to the exporter's helper. */
struct sim_remote_peer {
	/* Have the memory exposed through @provider. Returns 0, -ESTALE (it is exported no more) or another -errno. */
	int (*describe)(void *arg, const char *provider, struct sim_ofi_desc *ret_desc);
	/* Ask the exporter's helper to look after its peers now. */
	void (*notify_peer)(void *arg);
	void *arg;
};

struct sim_remote_cfg {
	uint64_t key;
	struct sim_region region;
	struct sim_peer_info exporter;
	struct sim_peer_info self;
	int object_fd; /* the shared object that holds the memory, or -1; stays the caller's */
	struct sim_remote_peer peer;
	const char *forced_path; /* use this path or fail; NULL = the best */
};

struct sim_remote {
	uint64_t key;
	struct sim_region region;
	uint8_t *base; /* the memory in this process, when the path maps it; else NULL */
	const struct sim_path_ops *path;
	/* What paths keep. */
	void *mapping;
	size_t mapping_len_bytes;
	struct sim_peer_process *process; /* path cma: the exporter */
	int32_t exporter_pid;             /* for messages, as the program's name */
	char program[SIM_PROGRAM_SIZE];
	struct sim_ofi_link *link;
	struct sim_remote_peer peer;
	/* State. */
	atomic_bool revoked;
	atomic_uint in_flight;        /* copies under way */
	char reason[SIM_REASON_SIZE]; /* why no better path, "" = this is the best */
};

/* Choose a path and open it. Returns 0, -ENOTSUP (no path works, or the forced
 * one does not; the log says why), -ETIMEDOUT (nor does one that needs the
 * exporter's help, which did not come: it may be stopped), -ESTALE (the export
 * has ended by now) or -ENOMEM. */
int sim_remote_create(const struct sim_remote_cfg *cfg, struct sim_remote **ret_remote);

/* Close the path and free it; no copy may be under way. NULL is fine. */
void sim_remote_destroy(struct sim_remote *remote);

/* The name of the path in use. */
const char *sim_remote_path(const struct sim_remote *remote);

/* The exporter ended the export or died: fail further copies, wait for those in flight. */
void sim_remote_revoke(struct sim_remote *remote);

/* The same without the wait. Returns whether no copy is in flight any more; call again until then. */
bool sim_remote_try_revoke(struct sim_remote *remote);

/* Keep a revocation waiting until sim_remote_release(). False when the memory is revoked. */
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

/* Copy @len bytes. An address belongs to @dst_remote / @src_remote, or to this
 * process where that is NULL. Returns 0, -EIO (a memory is revoked, or the path
 * failed), -EACCES (the export does not permit it) or -EFAULT (out of bounds);
 * part of the bytes may have moved then. */
int sim_copy(struct sim_remote *dst_remote, uint64_t dst, struct sim_remote *src_remote, uint64_t src, size_t len);

#endif
