/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/wire.h - the messages between processes and the card's daemon.
 *
 * One message is one packet of a Unix SOCK_SEQPACKET socket: a head, a body of a size that depends on type and
 * direction, and at most two file descriptors. A message with a handshake message carries the descriptors of that one.
 * A request carries a sequence number of its sender; the reply repeats that number.
 *
 *   process -> daemon   ATTACH EXPORT EXPORT_ALIAS REVOKE IMPORT DESCRIBE STATUS SHUTDOWN
 *                       LISTEN UNLISTEN CONNECT ACCEPT HANDSHAKE SHARED_STATE FAULT
 *                       GET_RECORDING REACH                                                  (with a reply)
 *                       UNIMPORT PATH DETACH CLOSE NOTIFY_PEER ADD_RECORDING GATEWAY         (without)
 *   daemon -> process   REVOKED DESCRIBE FAR_IMPORT OUTAGE                                   (with a reply)
 *                       OFFER ACCEPT HANDSHAKE CLOSE NOTIFY_PEER FUNCTIONS_CHANGED FAR_UNUSED REACH SLOW_LINK (without)
 *
 * Both ends run the same build; a receiver refuses any other version. A receiver checks the size, the type and the
 * status of a message before it uses the message.
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
#include "sim/fabric/served/served.h"

struct msghdr;

/* Raise the number when a shared layout or its meaning changes; rules and their operations change the rest (operations.h). */
#define SIM_WIRE_VERSION (28u << 16 | SIM_RULES_CHECKSUM)

enum sim_msg_type {
	SIM_MSG_ATTACH = 1, /* attach this process */
	SIM_MSG_EXPORT,     /* make a key for the sender's memory; with the object's descriptor if there is one */
	SIM_MSG_REVOKE,     /* end a key of the sender; the reply comes when no importer accesses the memory any more */
	SIM_MSG_IMPORT, /* import a key; the reply may carry the object's descriptor, and the exporter's pidfd if both have one user */
	SIM_MSG_UNIMPORT,
	SIM_MSG_PATH, /* the data path of an import */
	SIM_MSG_DESCRIBE, /* ask the exporter of an imported key to serve it; forwarded. The reply may carry the end of a connection */
	/* An imported key ended, or an alias that this process serves; the reply comes when no copy accesses its memory any more. */
	SIM_MSG_REVOKED = 9,
	SIM_MSG_STATUS,   /* the attached processes; the reply carries a descriptor of a JSON text */
	SIM_MSG_SHUTDOWN, /* end the daemon */
	SIM_MSG_DETACH,   /* orderly detach; the daemon takes an end without this message for a death */
	/* Channels. Each process identifies its end by a number, which other processes do not use. */
	SIM_MSG_LISTEN, /* offer a service: a name on a representor */
	SIM_MSG_UNLISTEN,
	SIM_MSG_CONNECT,     /* connect to a service; with a handshake message for its server */
	SIM_MSG_OFFER,       /* a client connects; with its handshake message */
	SIM_MSG_ACCEPT,      /* accept a client; with a handshake message for it; forwarded to the client */
	SIM_MSG_HANDSHAKE,   /* a handshake message for the other end; forwarded */
	SIM_MSG_CLOSE,       /* the channel is closed, with a reason; forwarded */
	SIM_MSG_NOTIFY_PEER, /* ask the other end to look at the shared memory; forwarded */
	/* A process need not be attached to send these two, STATUS and SHUTDOWN. */
	SIM_MSG_SHARED_STATE, /* the reply carries the shared state's descriptor (shared_state.h), as ATTACH's does */
	SIM_MSG_FAULT,        /* change the fault plan; with a descriptor of the rule's delays if it has any */
	/* Recordings (sim/trace/format.h). */
	SIM_MSG_ADD_RECORDING,     /* keep the descriptor of the sender's recording */
	SIM_MSG_FUNCTIONS_CHANGED, /* the status of functions changed (function_status.h) */
	SIM_MSG_GET_RECORDING, /* get the first recording of that number or later; the reply carries its descriptor */
	SIM_MSG_EXPORT_ALIAS,  /* make a key for memory that the sender has imported */
	/* Between the daemon and the gateway of a session over several machines (sim/gateway). */
	SIM_MSG_GATEWAY,    /* the sender is the gateway; with a descriptor of a JSON text about the machines */
	SIM_MSG_FAR_IMPORT, /* import a key of another machine; the reply as that of IMPORT */
	SIM_MSG_FAR_UNUSED, /* a key of another machine has no import any more, and has ended */
	SIM_MSG_OUTAGE,     /* to the gateway: the link to a machine is down; the reply: it knows */
	SIM_MSG_SLOW_LINK,  /* to the gateway: a rule makes the link to a machine slow, or has ended */
	SIM_MSG_REACH, /* connect a socket, which comes with this, to a helper on another machine (sim/control/reach.h); passed on to the gateway */
	SIM_MSG_COUNT,
};

enum sim_fault_change {
	SIM_FAULT_ADD = 1,
	SIM_FAULT_REMOVE,
	SIM_FAULT_CLEAR,
	SIM_FAULT_SEED,
	SIM_FAULT_BEGIN, /* the operation has come that the rule's event waits for */
};

/* A handshake message without its descriptors, which travel beside it. */
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
	uint32_t reserved[3];
	union {
		struct sim_peer_info attach; /* the daemon ignores id and uid, and pid if it sees the process's */
		struct {
			uint8_t session[SIM_SESSION_ID_SIZE];
			uint64_t id; /* as of struct sim_peer_info, like pid and uid */
			int32_t pid;
			uint32_t uid;
			uint32_t trace_level; /* the session's (sim/trace/trace.h) */
			uint32_t
				passes_memory; /* 0 or 1: processes may pass descriptors of their memory to those of their user */
			uint64_t monotonic_ns; /* the daemon's clock: that of another time namespace differs */
		} attached;
		struct sim_region export;
		struct sim_key exported;
		struct {
			uint64_t origin; /* the imported key */
			uint32_t function;
			uint32_t reserved;
		} alias;
		struct {
			uint64_t id;
		} key; /* REVOKE, UNIMPORT, REVOKED */
		struct {
			struct sim_key key;
			uint32_t function;
			uint32_t reserved;
		} import;
		struct {
			struct sim_region region;
			struct sim_peer_info exporter;
			uint32_t has_object,
				has_process; /* 0 or 1: the descriptors that come with this, in this order */
		} imported;
		struct {
			uint64_t id;
			char name[SIM_PATH_NAME_SIZE];
			char reason[SIM_REASON_SIZE];
		} path;
		struct {
			uint64_t id;
			uint64_t memory;    /* set by the daemon: the exporter's own key, which differs for an alias */
			uint32_t transport; /* enum sim_transport */
			uint32_t connect;   /* 0 or 1: make a connection, too */
		} describe;
		struct sim_grant described;
		struct {
			uint64_t number;
			uint32_t function;
			uint32_t rep;
			char name[SIM_SERVICE_NAME_SIZE];
		} listen;
		struct {
			uint64_t number;
			uint32_t function;
			uint32_t rep; /* the function, or SIM_NETWORK */
			uint32_t timeout_ms;
			uint32_t reserved;
			char name[SIM_SERVICE_NAME_SIZE];
			struct sim_msg_handshake handshake;
		} connect;
		struct {
			uint64_t service; /* OFFER: the server's number of the service */
			uint64_t number;
			struct sim_msg_handshake msg;
		} handshake; /* OFFER, ACCEPT, HANDSHAKE */
		struct {
			uint64_t number;
			int32_t reason; /* CLOSE: -errno */
			/* CLOSE of a client that found no server: 0, or 1 + the id of the function on whose representor a
			 * service of that name is. */
			uint32_t elsewhere;
		} channel; /* UNLISTEN, CLOSE, NOTIFY_PEER */
		struct {
			uint32_t is_ready; /* 0 or 1: the session can be used */
			uint32_t port;     /* at which home listens; 0 = does not */
		} gateway;
		struct {
			uint32_t machine; /* its number */
			uint32_t breaks;  /* 0 or 1: connections break at once */
			uint64_t ns;      /* so long nothing passes */
		} outage;
		struct {
			uint32_t machine; /* its number; UINT32_MAX = the rule has ended */
			uint32_t rule;    /* its id */
			uint64_t delay_ns, rate,
				lasts_ns; /* rate: bytes in a second, 0 = no limit; lasts_ns: UINT64_MAX = no end */
		} slow_link;
		struct {
			uint32_t service; /* enum sim_reach_service */
			char machine[PCIE_SIDE_SIZE];
		} reach;
		struct {
			uint32_t change; /* enum sim_fault_change */
			uint32_t id;     /* REMOVE: the rule; reply to ADD: the added rule */
			uint64_t seed;
			struct sim_rule rule;
		} fault;
		struct {
			uint64_t number;
		} recording;
		struct {
			uint64_t number;      /* the recording whose descriptor comes with this */
			uint64_t zero_ns;     /* begin of the session, by CLOCK_MONOTONIC */
			uint64_t num_dropped; /* older recordings of ended processes that the daemon did not keep */
			int32_t pid;
			uint32_t is_alive;
			char side[PCIE_SIDE_SIZE];
			char program[SIM_PROGRAM_SIZE];
		} recorded;
	} body;
};

/* Descriptors that came with a message; all are close-on-exec. */
struct sim_fds {
	int fd[SIM_HANDSHAKE_MSG_FDS]; /* -1 = taken */
	uint32_t count;                /* fewer than sent if the process has no room for more */
};

/* Take descriptor @index; -1 = it did not come, or is taken. */
int sim_fds_take(struct sim_fds *fds, uint32_t index);

/* Close the descriptors that were not taken. */
void sim_fds_close(struct sim_fds *fds);

/* Size of a whole message of that type in bytes, 0 if the type is unknown. */
size_t sim_msg_size(uint16_t type, bool is_reply);

/* Send one packet. Returns 0, -EAGAIN (non-blocking socket, full), -EPIPE (the other end closed) or another -errno. */
int sim_msg_send_packet(int sock, const struct msghdr *packet);

/* Send @msg with descriptors, which stay the caller's. Errors as above. */
int sim_msg_send_fds(int sock, struct sim_msg *msg, const int *fds, uint32_t num_fds);

/* Wait for a message, or for the other end's end, until CLOCK_MONOTONIC is @until_ns; continues after signals of the
 * application. Returns 0, -ETIMEDOUT or another -errno. */
int sim_msg_await(int sock, uint64_t until_ns);

/* Receive a message. Returns 0; -EAGAIN (none there); -EPIPE (the other end closed); -EPROTO (not a valid message).
 * *ret_fds is written on success only. */
int sim_msg_recv_fds(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds);

/* The same, but a signal of the application ends the wait: -EINTR. With SO_RCVTIMEO, which each wait begins anew, signals could
 * make the wait endless otherwise. */
int sim_msg_recv_until_signal(int sock, struct sim_msg *ret_msg, struct sim_fds *ret_fds);

/* The same with one descriptor, or -1. The receiver closes any further descriptors. */
int sim_msg_send(int sock, struct sim_msg *msg, int fd);
int sim_msg_recv(int sock, struct sim_msg *ret_msg, int *ret_fd);

/* Pack @handshake into a message; unpack one together with its descriptors, which the handshake message then owns.
 * The latter returns 0, -EPROTO (not a valid handshake message) or -EMFILE (the process had no room for its
 * descriptors). */
void sim_handshake_msg_pack(const struct sim_handshake_msg *handshake, struct sim_msg_handshake *ret_packed);
int sim_handshake_msg_unpack(const struct sim_msg_handshake *packed, struct sim_fds *fds,
			     struct sim_handshake_msg *ret_handshake);

/* Check that a packed handshake message is valid and has all its descriptors. Returns 0, -EPROTO or -EMFILE. */
int sim_handshake_msg_check(const struct sim_msg_handshake *packed, const struct sim_fds *fds);

/* Close a handshake message's descriptors. */
void sim_handshake_msg_close(struct sim_handshake_msg *handshake);

#endif
