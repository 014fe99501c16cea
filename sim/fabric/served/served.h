/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/fabric/served/served.h - memory of another process, which that process itself reads and writes for its peers.
 *
 *   exporter:  sim_target (one)               --expose--> memory, named by a sim_grant
 *   importer:  sim_initiator   (one per memory)    --copy----> that memory
 *
 * A transport carries the requests of an importer to the helper thread of the exporter:
 *
 *   shm   a ring of requests and buffers in a sealed memfd; a socket pair wakes the helper and shows a peer's death
 *   tcp   a TCP connection over the loopback interface of the exporter
 *
 * The target makes both ends of a connection and the session's daemon hands one of them over, as a descriptor. So a
 * target has no address, listens at no port, and leaves no file. Initiators of one process to one target share a
 * connection; one copy at a time runs on it.
 *
 * A grant is random. It reaches an importer only through the daemon, which has checked the importer's key. The target
 * checks the grant, the bounds and the permission of each request; it answers a request for memory that is not mapped
 * any more with an error. An initiator waits a bounded time for a target that does not serve.
 *
 * Threads: one thread at a time uses a target; any thread may use initiators. No thread is started here. A forked child
 * must not use its parent's targets and initiators: it abandons the targets, and the initiators' connections are closed in it.
 * Errors are -errno.
 */
#ifndef SIM_FABRIC_SERVED_H
#define SIM_FABRIC_SERVED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_GRANT_SECRET_SIZE 16

enum sim_transport {
	SIM_TRANSPORT_SHM,
	SIM_TRANSPORT_TCP,
	SIM_NUM_TRANSPORTS,
	/* Not transports: ask for the descriptor that wakes the owner of an inbox, for the one by which the owner's
	 * process is kicked (sim/session/kick.h), and for the exporter's files of memory and mappings
	 * (sim/fabric/peer_memory.h). */
	SIM_TRANSPORT_WAKE = SIM_NUM_TRANSPORTS,
	SIM_TRANSPORT_KICK,
	SIM_TRANSPORT_MEM,
	SIM_TRANSPORT_MAPS,
};

/* Gives access to one exposed memory. */
struct sim_grant {
	uint32_t index; /* in the target's table */
	uint32_t reserved;
	uint8_t secret[SIM_GRANT_SECRET_SIZE];
};

struct sim_target;
struct sim_initiator;

/* An operation on 8 bytes of memory that is far from its target: no target of memory here does one. */
enum sim_far_op {
	SIM_FAR_ADD = 1,
	SIM_FAR_SWAP,      /* compare and swap */
	SIM_FAR_GET_EVENT, /* of a sync event's value */
	SIM_FAR_SET_EVENT,
	SIM_FAR_ADD_EVENT,
	SIM_NUM_FAR_OPS,
};

struct sim_far_operands {
	uint32_t op; /* enum sim_far_op */
	uint32_t reserved;
	uint64_t compare, operand;
};

enum sim_served_kind {
	SIM_SERVED_READ,
	SIM_SERVED_WRITE,
	SIM_SERVED_FAR_OP, /* the bytes are a struct sim_far_operands, and then the value before the operation */
};

/* A request for memory that is far from its target. */
struct sim_far_request {
	uint64_t token; /* names the request in sim_target_complete() */
	enum sim_served_kind kind;
	uint64_t offset;
	uint32_t len_bytes;
	const uint8_t *bytes; /* of a write or an operation; the importer may change them meanwhile */
};

/* Begin a request, and complete it later. Returns 0, or the -errno of which it fails. */
typedef int sim_far_begin(void *arg, const struct sim_far_request *request);

/* ---- the exporter ---- */

/* At most @max_conns processes connect. Returns 0 or -errno. */
#define SIM_TARGET_MAX_CONNS 256 /* of a process that exports memory of its own */
int sim_target_create(uint32_t max_conns, struct sim_target **ret_target);

/* Close the connections and free the target. NULL is fine. */
void sim_target_destroy(struct sim_target *target);

/* In a forked child: close the descriptors, and change nothing else. */
void sim_target_abandon(struct sim_target *target);

/* Let peers read [addr, addr + len), and write it if @writable. Returns 0, -ENOMEM or -EIO (no random bytes). */
int sim_target_expose(struct sim_target *target, void *addr, size_t len, bool writable, struct sim_grant *ret_grant);

/* The same of memory that is elsewhere: each request goes to @begin. Only the transport shm carries them. */
int sim_target_expose_far(struct sim_target *target, size_t len, sim_far_begin *begin, void *arg,
			  struct sim_grant *ret_grant);

/* Complete a request of far memory, with the bytes of a read or of an operation. A request whose importer has gone, or that was
 * completed before, is ignored. */
void sim_target_complete(struct sim_target *target, uint64_t token, int status, const void *bytes, size_t len);

/* Check a request for far memory that came another way. Returns 0 with the argument of sim_target_expose_far(), or -errno. */
int sim_target_find_far(const struct sim_target *target, const struct sim_grant *grant, enum sim_served_kind kind,
			uint64_t offset, uint32_t len, void **ret_arg);

/* End an exposure: on return the target does not access the memory any more. */
void sim_target_hide(struct sim_target *target, const struct sim_grant *grant);

/* Make a connection. *ret_fd is the importer's end; the caller passes it on and closes it. Returns 0, -EUSERS (too many
 * connections) or another -errno. */
int sim_target_connect(struct sim_target *target, enum sim_transport transport, int *ret_fd);

/* A descriptor that becomes readable when there is work to serve. */
int sim_target_fd(const struct sim_target *target);

/* Serve what is there, without waiting. Returns the number of requests and parts of requests that were served. */
unsigned int sim_target_serve(struct sim_target *target);

/* Whether the caller may sleep on the descriptor now; if not, serve again. */
bool sim_target_may_sleep(struct sim_target *target);

/* The same for a caller that sleeps on the descriptor together with others, and calls sim_target_may_sleep() when that was readable. */
bool sim_target_arm(const struct sim_target *target);

/* Large copies over shm leave buffers of up to a MiB for each peer. Whether there are any, and give them back; those of a copy
 * that goes on remain. */
bool sim_target_has_buffers(const struct sim_target *target);
void sim_target_trim(struct sim_target *target);

/* ---- the importer ---- */

struct sim_initiator_cfg {
	enum sim_transport transport;
	uint64_t target_id; /* the same for all memory of one exporter */
	size_t len_bytes;
	bool is_writable;
	bool is_far; /* no byte is read as a proof: only the memory's own machine knows what is permitted */
	/* Ask the exporter for the memory's grant and, if @connect, for a connection, whose end the caller owns. Returns 0,
	 * -ESTALE (the export ended), -ETIMEDOUT (no answer) or another -errno. */
	int (*describe)(void *arg, enum sim_transport transport, bool connect, struct sim_grant *ret_grant,
			int *ret_fd);
	void *arg;
};

/* Connect to the memory, and read a byte of it as a proof. Returns 0, or an error of describe() or sim_initiator_copy(). */
int sim_initiator_create(const struct sim_initiator_cfg *cfg, struct sim_initiator **ret_initiator);

/* Close the initiator; no copy may be in flight. NULL is fine. */
void sim_initiator_destroy(struct sim_initiator *initiator);

/* The memory's grant. */
const struct sim_grant *sim_initiator_grant(const struct sim_initiator *initiator);

/* Copy between @local and [offset, offset + len) of the exposed memory. When a write returns 0, the bytes are in that
 * memory. If *revoked becomes true, the call ends with -EIO. Returns 0, -EFAULT (out of bounds, or one of the memories
 * is not mapped), -EACCES (a write to read-only memory), -ESTALE (the exposure ended), -EIO (the exporter is gone),
 * -ETIMEDOUT (the exporter does not serve) or another -errno. On failure some of the bytes may have moved. */
int sim_initiator_copy(struct sim_initiator *initiator, bool write, void *local, uint64_t offset, size_t len,
		       const atomic_bool *revoked);

/* Do an operation on the 8 bytes at @offset of far memory. Errors as above. */
int sim_initiator_operate(struct sim_initiator *initiator, const struct sim_far_operands *operands, uint64_t offset,
			  const atomic_bool *revoked, uint64_t *ret_before);

#endif
