/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/far.h - memory of other machines that programs of this one import.
 *
 *   daemon: FAR_IMPORT --> [asked] --IMPORTED--> [imported] --FAR_UNUSED, REVOKED, the machine is lost--> freed
 *                                                   |  requests of programs --READ, WRITE, OPERATE--> DONE
 *
 * Programs reach a far memory by the path "gateway" (sim/fabric/path.h): they put a request into memory that they share with the
 * gateway, and the gateway completes it when the answer has come. An inbox is mapped by its program instead: it is a mirror
 * (mirror.h).
 */
#ifndef SIM_GATEWAY_FAR_H
#define SIM_GATEWAY_FAR_H

#include "gateway.h"
#include "sim/fabric/served/served.h"
#include "sim/protocol/wire.h"

struct mirror;

struct far {
	struct gateway *gateway;
	struct sim_key key;
	uint32_t machine;
	uint64_t handle; /* of that machine's gateway */
	struct gateway_imported imported;
	bool is_exposed;
	struct sim_grant grant;
	struct mirror *mirror; /* of an inbox; else NULL */
	int mirror_fd;         /* its memory, for the process that imports it; else -1 */
	LIST_ENTRY(far) entry, by_handle;
};

/* A process imports a key. */
void far_import(struct gateway *gateway, uint64_t seq, const struct sim_key *key, uint32_t function);

/* A process wants to reach the memory: fill in the grant, and make a connection if that is wanted. Returns 0 or -errno. */
int far_describe(struct gateway *gateway, uint64_t key, const struct sim_msg *request, struct sim_grant *ret_grant,
		 int *ret_fd);

/* Send a request for the memory; @bytes are those of a write or an operation. Returns 0 or -errno. */
int far_send(const struct far *far, enum sim_served_kind kind, uint64_t offset, uint32_t len, const uint8_t *bytes,
	     uint64_t id);

/* The number of bytes of its answer, if it has no error. */
uint32_t far_answer_bytes(enum sim_served_kind kind, uint32_t len);

/* No process imports the key any more. */
void far_unused(struct gateway *gateway, uint64_t key);

/* Frames of the memory's machine. */
void far_on_imported(struct gateway *gateway, const struct gateway_frame *frame);
void far_on_revoked(struct gateway *gateway, const struct gateway_frame *frame);
void far_on_done(struct gateway *gateway, const struct gateway_frame *frame);
void far_on_answers(struct gateway *gateway, const struct gateway_frame *frame);

#endif
