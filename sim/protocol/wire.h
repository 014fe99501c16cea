/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/wire.h - what processes and the card's daemon say to each other.
 *
 * One message is one packet of a Unix SOCK_SEQPACKET socket: a head, a body
 * whose size its type and direction fix, and at most one file descriptor; what
 * carries a handshake message has the handshake message's. A request carries a sequence number of its
 * sender; the reply repeats it.
 *
 *   process -> daemon   ATTACH EXPORT REVOKE IMPORT DESCRIBE STATUS SHUTDOWN
 *                       LISTEN UNLISTEN CONNECT ACCEPT HANDSHAKE SHARED_STATE FAULT
 *                       GET_RECORDING                                             (replied to)
 *                       UNIMPORT PATH WAKE_EXPORTER DETACH CLOSE NOTIFY_PEER ADD_RECORDING         (not)
 *   daemon -> process   REVOKED DESCRIBE                                         (replied to)
 *                       WAKE_EXPORTER OFFER ACCEPT HANDSHAKE CLOSE NOTIFY_PEER FUNCTIONS_CHANGED        (not)
 *
 * Both ends run the same build; a version other than ours is refused. What
 * arrives is checked for size, kind and a status that means something before it
 * is looked at.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "descriptor.h"
#include "handshake_msg.h"
#include "sim/card/card.h"
#include "sim/card/services.h"
#include "sim/faults/rule/rule.h"
#include "sim/fabric/ofi/ofi.h"

#define SIM_WIRE_VERSION 4

enum sim_msg_type {
	SIM_MSG_ATTACH = 1, /* here I am */
	SIM_MSG_EXPORT,     /* make a key for my memory; with the object's descriptor if it has one */
	SIM_MSG_REVOKE,     /* end my key; replied to when no importer touches the memory any more */
	SIM_MSG_IMPORT,     /* let me use a key; the reply may carry the object's descriptor */
	SIM_MSG_UNIMPORT,
	SIM_MSG_PATH,          /* which path an import uses */
	SIM_MSG_DESCRIBE,      /* how to reach an imported memory through libfabric; passed to its exporter */
	SIM_MSG_WAKE_EXPORTER, /* ask the exporter's helper to look after its peers; passed on */
	SIM_MSG_REVOKED,       /* an imported key ended; replied to when it is no longer touched */
	SIM_MSG_STATUS,        /* who is attached; the reply carries a descriptor of a JSON text */
	SIM_MSG_SHUTDOWN,      /* end the daemon */
	SIM_MSG_DETACH,        /* I leave in order, and clean up myself; without it an end is a death */
	/* Channels. Each process calls its end by a number that means nothing to others. */
	SIM_MSG_LISTEN, /* I serve this name on that representor */
	SIM_MSG_UNLISTEN,
	SIM_MSG_CONNECT,     /* find me that server; with a handshake message for it */
	SIM_MSG_OFFER,       /* a client wants in; with its handshake message */
	SIM_MSG_ACCEPT,      /* let it in; with a handshake message for it, to which it is passed on */
	SIM_MSG_HANDSHAKE,   /* for the other end; passed on */
	SIM_MSG_CLOSE,       /* this channel is no more, for that reason; passed on */
	SIM_MSG_NOTIFY_PEER, /* have the other end look at what we share; passed on */
	/* Like STATUS and SHUTDOWN these may come from who is not attached. */
	SIM_MSG_SHARED_STATE, /* the reply carries the shared state's descriptor (shared_state.h), as ATTACH's does */
	SIM_MSG_FAULT,        /* change the fault plan; with a descriptor of the rule's delays if it has any */
	/* Recordings (sim/trace/format.h). */
	SIM_MSG_ADD_RECORDING,     /* keep the descriptor of mine */
	SIM_MSG_FUNCTIONS_CHANGED, /* look at what has become of the functions (function_status.h) */
	SIM_MSG_GET_RECORDING,     /* which is the first, of that number or later; the reply carries its descriptor */
	SIM_MSG_COUNT,
};

enum sim_fault_change {
	SIM_FAULT_ADD = 1,
	SIM_FAULT_REMOVE,
	SIM_FAULT_CLEAR,
	SIM_FAULT_SEED,
};

/* A handshake message without its descriptors: they travel beside it. */
struct sim_msg_handshake {
	uint32_t len_bytes;
	uint32_t num_fds;
	uint8_t body[SIM_HANDSHAKE_MSG_SIZE];
};

struct sim_msg {
	uint32_t version;
	uint16_t type; /* enum sim_msg_type */
	uint16_t is_reply;
	uint64_t seq;
	int32_t status; /* replies: 0 or -errno */
	uint32_t reserved;
	union {
		struct sim_peer_info attach;
		struct {
			uint8_t session[SIM_SESSION_ID_SIZE];
			uint32_t trace_level; /* the session's (sim/trace/trace.h) */
			uint32_t reserved;
		} attached;
		struct sim_region export;
		struct sim_key exported;
		struct {
			uint64_t id;
		} key; /* REVOKE, UNIMPORT, WAKE_EXPORTER, REVOKED */
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
		struct {
			uint64_t number;
			uint32_t function;
			uint32_t rep;
			char name[SIM_SERVICE_NAME_SIZE];
		} listen;
		struct {
			uint64_t number;
			uint32_t function;
			uint32_t timeout_ms;
			char name[SIM_SERVICE_NAME_SIZE];
			struct sim_msg_handshake handshake;
		} connect;
		struct {
			uint64_t service; /* OFFER: the server's number of it */
			uint64_t number;
			struct sim_msg_handshake msg;
		} handshake; /* OFFER, ACCEPT, HANDSHAKE */
		struct {
			uint64_t number;
			int32_t reason; /* CLOSE: -errno */
			uint32_t reserved;
		} channel; /* UNLISTEN, CLOSE, NOTIFY_PEER */
		struct {
			uint32_t change; /* enum sim_fault_change */
			uint32_t id;     /* to remove; in the reply: that was added */
			uint64_t seed;
			struct sim_rule rule;
		} fault;
		struct {
			uint64_t number;
		} recording;
		struct {
			uint64_t number;      /* of the one that the descriptor is of */
			uint64_t zero_ns;     /* when the session began, by CLOCK_MONOTONIC */
			uint64_t num_dropped; /* older ones, of processes that have gone, that were not kept */
			int32_t pid;
			uint32_t is_alive;
			char side[PCIE_SIDE_SIZE];
			char program[SIM_PROGRAM_SIZE];
		} recorded;
	} body;
};

/* Descriptors that came with a message; all are closed by an exec. */
struct sim_fds {
	int fd[SIM_HANDSHAKE_MSG_FDS]; /* -1 = somebody took it */
	uint32_t count;                /* fewer than were sent when the process has no room for more */
};

/* Close those that nobody took. */
void sim_fds_close(struct sim_fds *fds);

/* Bytes of a whole message of that kind, 0 when there is none. */
size_t sim_msg_size(uint16_t type, bool is_reply);

/* Send @msg with descriptors. Returns 0, -EAGAIN (non-blocking socket, full)
 * or another -errno; -EPIPE when the other end is gone. They stay the caller's. */
int sim_msg_send_fds(int sock, struct sim_msg *msg, const int *fds, uint32_t num_fds);

/* Receive one. Returns 0; -EAGAIN (nothing there); -EPIPE (the other end is
 * gone); -EPROTO (not a message of ours). *ret_fds is written on success only. */
int sim_msg_recv_fds(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds);

/* The same with one descriptor, or -1; of several that come, the others are closed. */
int sim_msg_send(int sock, struct sim_msg *msg, int fd);
int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd);

/* Put @handshake into a message, and take one out, with the descriptors that came
 * with it, which become the handshake message's. The latter returns 0, -EPROTO (no handshake message
 * of ours) or -EMFILE (its descriptors found no room). */
void sim_handshake_msg_pack(const struct sim_handshake_msg *handshake, struct sim_msg_handshake *ret_packed);
int sim_handshake_msg_unpack(const struct sim_msg_handshake *packed, struct sim_fds *fds,
			     struct sim_handshake_msg *ret_handshake);

/* Whether all that it says came with it: 0, -EPROTO or -EMFILE. */
int sim_handshake_msg_check(const struct sim_msg_handshake *packed, const struct sim_fds *fds);

/* Close a handshake message's descriptors. */
void sim_handshake_msg_close(struct sim_handshake_msg *handshake);

#endif
