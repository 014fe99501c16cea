/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/gateway.h - the process that connects the machines of a session.
 *
 *   programs <--shared memory--> gateway <====== libfabric (rail.h), TLS (secure.h) ======> gateway <--shared memory--> programs
 *                                   |  daemon of this machine                                  |  daemon of that machine
 *
 * To its machine's daemon the gateway is a peer without a side. For each key of another machine that a program here imports, it has a
 * far memory (far.h): requests go out as frames. For each key of this machine that a program elsewhere imports, it has a near memory
 * (near.h), which it has imported as programs do. A program's requests come by a queue (queues.h). An inbox has a mirror at the requester's machine and an outlet at the responder's.
 *
 * One machine is home. The others connect to it, and it passes frames on between them. All of it runs in one thread, but for calls of
 * the session that may block: those are jobs (jobs.h).
 */
#ifndef SIM_GATEWAY_GATEWAY_H
#define SIM_GATEWAY_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "jobs.h"
#include "link.h"
#include "pcie_model/topology/topology.h"
#include "sim/protocol/descriptor.h"
#include "sim/session/session.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/segment.h"
#include "sim/shm/wake.h"

#define GATEWAY_MAX_UNPROVED 64 /* connections of machines that have not shown the token yet */

struct gateway_cfg {
	const char *dir;  /* the session's; NULL = ask home for the session, print it, and end */
	const char *name; /* of this machine */
	const char *token_file;
	const char *host, *port;               /* home's */
	const char *listen_host, *listen_port; /* where this machine listens; NULL = it does not */
	const char *advertised_host;           /* what the others are told in place of that; NULL = the host as it is */
	uint16_t advertised_port;              /* 0 = the port as it is */
	const char *provider;
	const char *bfsim; /* the command, for helpers (reach.h); NULL = none */
	bool allows_exec;  /* of programs by the other machines */
	bool is_home, is_trusted;
	bool is_again; /* an earlier gateway has been in the session: home may not know yet that it is gone */
};

/* A machine of the session, as this gateway knows it. */
struct gateway_machine {
	char name[PCIE_SIDE_SIZE];
	bool is_joined;
	struct link *link;                 /* NULL = none of its own */
	char words[160];                   /* why it was lost; "" = it was not */
	uint32_t pending_bytes;            /* of requests of programs here, in queues */
	uint32_t num_imports;              /* that it has asked for, and that are under way */
	bool is_at_home;                   /* home says that it has joined */
	bool has_left;                     /* it has joined, and said goodbye */
	struct outage *outage;             /* of the link to it (outage.h); NULL = there is none */
	struct slow_link *slow;            /* the link to it is slow (slow_link.h); NULL = it is not */
	struct direct *direct;             /* direct.h; NULL = none was needed */
	struct link_counts sent, received; /* by links to it that have ended */
	uint64_t num_ended;                /* such links */
	/* Home's. */
	char direct_host[GATEWAY_HOST_SIZE];
	uint16_t direct_port; /* where it listens; 0 = it does not */
	uint64_t *offers;     /* the last one, for each other machine of a higher number; NULL = none */
};

struct far;
struct near;
struct sim_target;
struct kick_member;
struct mirror;
struct outlet;
struct queues;
struct near_stream;
struct outage;
struct direct;
struct direct_ops;
struct slow_link;

LIST_HEAD(far_list, far);
LIST_HEAD(far_import_list, far_import);
LIST_HEAD(far_request_list, far_request);
LIST_HEAD(near_list, near);
LIST_HEAD(near_stream_list, near_stream);
LIST_HEAD(mirror_list, mirror);
LIST_HEAD(outlet_list, outlet);
LIST_HEAD(far_channel_list, far_channel);
TAILQ_HEAD(late_answers, late_answer);

#define GATEWAY_LISTS 256

struct gateway {
	struct gateway_cfg cfg;
	uint32_t self; /* the number of this machine */
	bool stop, is_ready, is_failed;
	bool is_leaving; /* home has ended the session */
	bool is_over;    /* this machine's daemon has ended it: the other machines are told */
	const struct rail_ops *rail_ops;
	const struct direct_ops *direct_ops;
	struct secure_keys *keys;
	struct rail *rail;     /* home's listener, or to home */
	struct rail *listener; /* where others connect: home's is @rail; NULL = this machine does not listen */
	LIST_HEAD(, link) links;
	uint64_t last_offer;
	uint64_t reconnect_ns;   /* 0 = not to be done */
	uint32_t num_not_joined; /* connections that ended before they had joined */
	/* The session, once it is known. */
	uint8_t session_id[SIM_SESSION_ID_SIZE];
	uint32_t clock;
	uint32_t home;                             /* its number, once it has welcomed this machine */
	uint64_t num_timed, num_late, max_late_ns; /* messages that came with a due time, and after it (model_time.h) */
	char *yaml;                                /* home's topology */
	struct gateway_machine *machines;
	uint32_t num_machines;
	/* This machine. */
	struct sim_session *session;
	int daemon_sock; /* -1 = none */
	uint64_t daemon_seq;
	bool is_status_old;
	uint64_t report_ns; /* when the next report is due: counts and round trips change all the time */
	struct jobs jobs;
	struct sim_target *target;
	struct far_list far[GATEWAY_LISTS]; /* by the low bits of the key's id */
	struct far_list far_by_handle[GATEWAY_LISTS];
	struct far_import_list far_imports;
	struct far_request_list far_requests[GATEWAY_LISTS];
	uint64_t last_request;
	struct queues *queues;                /* of programs here */
	bool wakes_programs;                  /* the last answer to one has */
	bool has_answered;                    /* one that did not sleep, since the last sleep */
	struct near_list near[GATEWAY_LISTS]; /* by the low bits of the handle */
	uint64_t last_handle;
	struct near_stream_list near_streams[GATEWAY_LISTS]; /* by the low bits of the number */
	size_t near_waiting_bytes;                           /* of requests that wait for others, or for jobs */
	struct late_answers late_answers;                    /* that wait for a port (port_load.h), by their times */
	size_t late_bytes;
	struct far_channel_list channels;
	/* Commands that reach into another machine (reach.h). */
	int reach_epoll_fd;
	uint64_t last_reach;
	LIST_HEAD(, reach) reaches;
	uint32_t num_outages, num_slow;
	LIST_HEAD(, ending_helper) ending_helpers;
	/* Doorbells: those of mirrors are rung by programs here. */
	struct sim_segment doorbell_memory;
	struct sim_doorbells doorbells;
	struct sim_key *doorbell_keys; /* by functions of the network, to which a program's function is connected */
	struct sim_wake wake;
	struct mirror_list mirrors[SIM_DOORBELL_SLOTS]; /* by slots */
	struct mirror_list all_mirrors;
	struct mirror_list unarmed; /* their requesters do not wake the gateway */
	uint32_t next_slot;
	bool is_full;              /* records have found no room */
	struct outlet_list active; /* outlets that wait for their responders */
	struct kick_member *kicks; /* a member of the session's engine, by which programs kick the gateway */
};

/* ---- gateway.c ---- */

/* Run until the session ends. Returns 0 or -errno. */
int gateway_run(const struct gateway_cfg *cfg);

/* ---- route.c: machines, and frames to them ---- */

/* Read the topology of the session into the table of machines. */
int members_open(struct gateway *gateway, const struct pcie_topology *topology);

/* Whether frames for the machine go anywhere. */
bool members_has(const struct gateway *gateway, uint32_t machine);

/* Whether the function of the topology is one of the machine. Other machines name functions as they like. */
bool members_own(const struct gateway *gateway, uint32_t machine, uint64_t function);

/* Whether there is room for data to the machine. If not, the gateway looks at all mirrors again. */
bool gateway_has_room(struct gateway *gateway, uint32_t machine);

/* Send a frame to a machine. Returns 0, or -EHOSTUNREACH: it has not joined. */
int gateway_send(struct gateway *gateway, uint32_t machine, struct gateway_frame *frame);

/* Send a frame whose sender and receiver are written already; drop it if the machine is not there. */
void gateway_pass(struct gateway *gateway, const struct gateway_frame *frame);

/* Send such a frame after a slow link has held it. */
void gateway_pass_late(struct gateway *gateway, const struct gateway_frame *frame);

/* ---- dispatch.c: frames from machines ---- */

/* Act on a frame for this machine. */
void gateway_take(struct gateway *gateway, const struct gateway_frame *frame);

/* A frame came by the link of a machine that has joined: act on it, or send it on. A machine speaks for itself alone, and home for
 * all; a link that breaks this is closed. */
void gateway_take_routed(struct gateway *gateway, struct link *link, const struct gateway_frame *frame);

/* ---- members.c: machines that have joined ---- */

extern const struct link_ops gateway_link_ops;
extern const struct direct_ops members_direct_ops;

/* A machine is lost: what it has here, and what is under way to it, goes. Or its link is up again. */
void members_lose(struct gateway *gateway, uint32_t machine, const char *words);
void members_find(struct gateway *gateway, uint32_t machine);

/* Connect to home. */
int members_connect(struct gateway *gateway);

/* Say goodbye to all. */
void members_leave(struct gateway *gateway);

/* ---- mirror.c: mirrors of all ---- */

/* Make the doorbells of mirrors. Returns 0 or -errno. */
int mirrors_open(struct gateway *gateway, const struct pcie_topology *topology);

/* Look at the mirrors that rang, or at all that were kicked. Returns whether something was found. */
bool mirrors_poll(struct gateway *gateway);
void mirrors_take_kicks(struct gateway *gateway);

/* Before a sleep. Returns whether there is something already. */
bool mirrors_arm(struct gateway *gateway);

/* ---- outlet.c: outlets of all ---- */

bool outlets_poll(struct gateway *gateway);
bool outlets_arm(struct gateway *gateway);

/* A machine has gone: far.c, near.c. */
void far_machine_lost(struct gateway *gateway, uint32_t machine);
void near_machine_lost(struct gateway *gateway, uint32_t machine);

/* ---- daemon_link.c: this machine's daemon ---- */

int daemon_link_open(struct gateway *gateway);
void daemon_link_close(struct gateway *gateway);

/* Send a message; @fd stays the caller's, -1 = none. Returns 0 or -errno: the gateway is about to stop. */
struct sim_msg;
int daemon_link_send(struct gateway *gateway, struct sim_msg *msg, int fd);

/* Reply to FAR_IMPORT; @fd is the memory's object or -1. */
void daemon_link_imported(struct gateway *gateway, uint64_t seq, int status, const struct gateway_imported *imported,
			  const char *machine, int fd);

/* A far key has ended. */
void daemon_link_revoke(struct gateway *gateway, uint64_t key);

/* The machines, for bfsim ps. */
void daemon_link_report(struct gateway *gateway);

/* Home has ended the session. */
void daemon_link_shut_down(struct gateway *gateway);

/* ---- daemon_msgs.c ---- */

/* Take the daemon's messages. Returns whether there was one. */
bool daemon_msgs_poll(struct gateway *gateway);

/* ---- status.c ---- */

/* The machines as JSON. The caller frees it; NULL without memory. */
char *gateway_status(const struct gateway *gateway);

#endif
