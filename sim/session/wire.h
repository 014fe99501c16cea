/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/wire.h - what processes and the card's daemon say to each other.
 *
 * One message is one packet of a Unix SOCK_SEQPACKET socket: a head, a body
 * whose size its type and direction fix, and at most one file descriptor. A
 * request carries a sequence number of its sender; the reply repeats it.
 *
 *   process -> daemon   ATTACH EXPORT REVOKE IMPORT DESCRIBE STATUS SHUTDOWN  (replied to)
 *                       UNIMPORT PATH NUDGE DETACH                            (not)
 *   daemon -> process   GONE DESCRIBE                                         (replied to)
 *                       NUDGE                                                 (not)
 *
 * Both ends run the same build; a version other than ours is refused. What
 * arrives is checked for size, kind and a status that means something before it
 * is looked at.
 */
#ifndef SIM_SESSION_WIRE_H
#define SIM_SESSION_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "descriptor.h"
#include "sim/card/card.h"
#include "sim/fabric/ofi.h"

#define SIM_WIRE_VERSION 1

enum sim_msg_type {
	SIM_MSG_ATTACH = 1, /* here I am */
	SIM_MSG_EXPORT,     /* make a key for my memory; with the object's descriptor if it has one */
	SIM_MSG_REVOKE,     /* end my key; replied to when no importer touches the memory any more */
	SIM_MSG_IMPORT,     /* let me use a key; the reply may carry the object's descriptor */
	SIM_MSG_UNIMPORT,
	SIM_MSG_PATH,       /* which path an import uses */
	SIM_MSG_DESCRIBE,   /* how to reach an imported memory through libfabric; passed to its exporter */
	SIM_MSG_NUDGE,      /* ask the exporter's helper to look after its peers; passed on */
	SIM_MSG_GONE,       /* an imported key ended; replied to when it is no longer touched */
	SIM_MSG_STATUS,     /* who is attached; the reply carries a descriptor of a JSON text */
	SIM_MSG_SHUTDOWN,   /* end the daemon */
	SIM_MSG_DETACH,     /* I leave in order, and clean up myself; without it an end is a death */
	SIM_MSG_COUNT,
};

struct sim_msg {
	uint32_t version;
	uint16_t type;      /* enum sim_msg_type */
	uint16_t is_reply;
	uint64_t seq;
	int32_t status;     /* replies: 0 or -errno */
	uint32_t reserved;
	union {
		struct sim_peer_info attach;
		struct {
			uint8_t session[SIM_SESSION_ID_SIZE];
		} attached;
		struct sim_region export;
		struct sim_key exported;
		struct {
			uint64_t id;
		} key; /* REVOKE, UNIMPORT, NUDGE, GONE */
		struct {
			struct sim_key key;
			uint32_t function;
		} import;
		struct {
			struct sim_region region;
			struct sim_peer_info exporter;
		} imported;
		struct {
			uint64_t id;
			char name[SIM_PATH_NAME_SIZE];
			char reason[SIM_REASON_SIZE];
		} path;
		struct {
			uint64_t id;
			char provider[SIM_OFI_PROVIDER_SIZE];
		} describe;
		struct sim_ofi_desc described;
	} body;
};

/* Bytes of a whole message of that kind, 0 when there is none. */
size_t sim_msg_size(uint16_t type, bool is_reply);

/* Send @msg with @fd (-1: none). Returns 0, -EAGAIN (non-blocking socket, full)
 * or another -errno; -EPIPE when the other end is gone. @fd stays the caller's. */
int sim_msg_send(int sock, struct sim_msg *msg, int fd);

/* Receive one. Returns 0; -EAGAIN (nothing there); -EPIPE (the other end is
 * gone); -EPROTO (not a message of ours). *ret_fd is the caller's, or -1. */
int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd);

#endif
