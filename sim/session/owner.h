/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/owner.h - the owner of the card's state: this process itself, or a daemon.
 *
 * The session calls its owner through a table for each subject: memory, channels, life. The owner reports revoked keys,
 * changed functions and messages of channels to the parts of the session in struct sim_owner_env. Both owners fill every
 * member of the tables.
 */
#ifndef SIM_SESSION_OWNER_H
#define SIM_SESSION_OWNER_H

#include "sim/fabric/served/served.h"
#include "sim/protocol/descriptor.h"
#include "sim/state/shared_state.h"
#include "channel.h"
#include "session.h"

struct sim_fds;
struct sim_owner;

struct sim_connect {
	uint32_t function;
	uint32_t rep; /* the function, or SIM_NETWORK */
	const char *name;
	uint32_t timeout_ms;
	const struct sim_handshake_msg *connect_msg;
};

/* Memory of another process. The caller owns the descriptors. */
struct sim_imported {
	struct sim_region region;
	struct sim_peer_info exporter;
	int object_fd; /* the shared object that holds the memory; -1 = none */
	int pidfd;     /* the exporter; -1 = none, or its user is another one */
};

/* Exported memory, and memory of other processes. */
struct sim_owner_memory_ops {
	int (*export)(struct sim_owner *owner, const struct sim_region *region, int object_fd, struct sim_key *ret_key);
	/* Errors as of sim_card_export_alias(). */
	int (*export_alias)(struct sim_owner *owner, uint64_t origin, uint32_t function, struct sim_key *ret_key);
	int (*revoke)(struct sim_owner *owner, uint64_t key);
	/* With -EXDEV and -EPERM, the function of the region is set, and nothing else. */
	int (*import)(struct sim_owner *owner, const struct sim_key *key, uint32_t function,
		      struct sim_imported *ret_imported);
	void (*unimport)(struct sim_owner *owner, uint64_t key);
	void (*set_path)(struct sim_owner *owner, uint64_t key, const char *path, const char *reason);
	/* Ask the exporter of an imported key for access, as struct sim_initiator_cfg says. */
	int (*describe)(struct sim_owner *owner, uint64_t key, enum sim_transport transport, bool connect,
			struct sim_grant *ret_grant, int *ret_fd);
	/* Ask the exporter of an imported key for the descriptor of its kicks, and do not wait for it: @done(@arg) is called
	 * in another thread, or when the owner is destroyed. The descriptor is the first of @fds, if there is one. Returns 0, or
	 * -errno: it is not called. */
	int (*ask_for_kicks)(struct sim_owner *owner, uint64_t key, void (*done)(void *arg, struct sim_fds *fds),
			     void *arg);
};

/* Channels and listeners. This process chooses their numbers; the owner chooses the number of an offered channel. A failed
 * call may have reached the owner: the caller then sends close or unlisten. */
struct sim_owner_channel_ops {
	int (*listen)(struct sim_owner *owner, uint64_t number, const struct sim_service *service);
	void (*unlisten)(struct sim_owner *owner, uint64_t number);
	int (*connect)(struct sim_owner *owner, uint64_t number, const struct sim_connect *request);
	int (*accept)(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *accept_msg);
	int (*send)(struct sim_owner *owner, uint64_t number, const struct sim_handshake_msg *handshake);
	void (*notify_peer)(struct sim_owner *owner, uint64_t number);
	void (*close)(struct sim_owner *owner, uint64_t number, int reason);
};

/* The attachment itself. */
struct sim_owner_life_ops {
	/* Begin the event of a rule, and return when its effect is there. */
	void (*begin_fault)(struct sim_owner *owner, uint32_t id);
	/* Keep this process's recording; @fd stays the caller's. */
	void (*record)(struct sim_owner *owner, int fd);
	/* The process ends: detach. Later calls of other threads to a daemon fail with -ESHUTDOWN. */
	void (*leave)(struct sim_owner *owner);
	void (*destroy)(struct sim_owner *owner);
	/* In a forked child: close the descriptors that keep the parent attached, and change nothing else. */
	void (*abandon)(struct sim_owner *owner);
};

struct sim_owner {
	const struct sim_owner_memory_ops *memory;
	const struct sim_owner_channel_ops *channels;
	const struct sim_owner_life_ops *life;
};

struct sim_exports;
struct sim_imports;
struct sim_channels;
struct sim_kicks;

/* The parts of a session that an owner reports to; all are borrowed and outlive the owner. */
struct sim_owner_env {
	struct sim_session *session;
	const struct sim_peer_info *self;
	struct sim_exports *exports;
	struct sim_imports *imports;
	struct sim_channels *channels;
	struct sim_kicks *kicks;
	/* A function was reset, failed, was removed or came back. */
	void (*on_functions_changed)(struct sim_session *session);
};

/* The state lives in this process. @shared and @topology are borrowed. */
int sim_owner_local_create(const struct sim_owner_env *env, struct sim_shared_state *shared,
			   const struct pcie_topology *topology, struct sim_owner **ret_owner);

/* Inject faults of functions and links at their times, from now on until sim_private_fault_events_stop(owner)
 * (private_fault_events.h). Returns 0 or -errno. */
int sim_owner_local_start_fault_events(struct sim_owner *owner, const struct pcie_topology *topology,
				       const struct sim_clock *clock);

/* The daemon's description of its session. */
struct sim_attach_reply {
	uint8_t session_id[SIM_SESSION_ID_SIZE];
	uint64_t id; /* of this process: struct sim_peer_info, like pid and uid */
	int32_t pid;
	uint32_t uid;
	uint32_t trace_level; /* sim/trace/trace.h */
	bool passes_memory;   /* the session permits SIM_TRANSPORT_MEM */
	bool has_own_clock;   /* this process's CLOCK_MONOTONIC is not the daemon's */
};

/* A daemon owns the state. @sock is connected to the daemon; the owner takes @sock, also on failure. Attaches, stores
 * the reply, maps the shared state, and starts the receive thread. That thread waits on @epoll_fd (borrowed), to which
 * the exports add the descriptor of their target, and the kicks theirs. */
#define SIM_OWNER_TARGET_TAG 2 /* epoll data of the target's descriptor */
#define SIM_OWNER_KICK_TAG   3
int sim_owner_daemon_create(const struct sim_owner_env *env, int sock, int epoll_fd, struct sim_attach_reply *ret_reply,
			    struct sim_segment *ret_shared, struct sim_owner **ret_owner);

#endif
