/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/daemon/daemon_priv.h - the daemon's state and functions, for its own files and the fuzz target. */
#ifndef SIM_DAEMON_PRIV_H
#define SIM_DAEMON_PRIV_H

#include <stdbool.h>
#include <sys/socket.h>

#include "sim/base/queue.h"
#include "sim/state/shared_state.h"
#include "conn_state.h"
#include "daemon.h"
#include "sim/state/fault_events.h"
#include "sim/protocol/wire.h"

/* Text from a peer may lack its terminator. */
#define TERMINATE_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

/* The kind of descriptor that an event comes from. */
enum source_kind {
	SOURCE_LISTEN,
	SOURCE_SIGNAL,
	SOURCE_DIR,
	SOURCE_SOCKET,
	SOURCE_PROCESS,
	SOURCE_GATEWAY,
};

struct source {
	enum source_kind kind;
	struct conn *conn; /* for SOURCE_SOCKET and SOURCE_PROCESS */
};

/* A packet that waits because the peer's socket was full. */
struct packet {
	struct sim_msg msg;
	struct sim_fds fds; /* owned */
	STAILQ_ENTRY(packet) entry;
};

/* A child of the daemon that continues a stopped process when the daemon is killed. */
struct resumer {
	pid_t pid; /* 0 = there is none */
	int pipe_fd;
};

/* A process that has connected.
 *
 * The socket closes when the process dies, unless a forked child holds a copy of it. So the daemon
 * also watches the process itself, if its pid is visible. */
struct conn {
	int sock;
	pid_t pid; /* of the process that connected; 0 = it is not visible in the daemon's PID namespace */
	uid_t uid; /* its user when it connected */
	int pidfd; /* -1 = none: not attached, or the kernel gives none */
	struct source socket, process;
	bool is_gateway;              /* the daemon's child (gateway.c) */
	bool is_refused;              /* the session is closed to its user */
	enum daemon_conn_state state; /* daemon_conn_go() writes it */
	bool warned_queue_full,
		warned_fds_lost; /* the log has the warning about a full queue, about lost descriptors */
	uint32_t peer;
	STAILQ_HEAD(, packet) unsent; /* oldest first */
	uint32_t num_unsent_replies, num_unsent_handshakes;
	uint32_t num_describe_requests; /* in flight, from this process */
	uint32_t num_shared_objects;    /* of its exports, kept here */
	bool warned_objects;            /* the log has the warning that some were not kept */
	uint64_t resume_ms;             /* end of the pause that the daemon imposed; 0 = not paused */
	struct resumer resumer;         /* runs while the process is stopped */
	uint64_t recording;             /* number of its recording; 0 = none */
	TAILQ_ENTRY(conn) entry;
};

/* A process that was told of the end of a key which it imports, or of an alias that it serves, and has not replied: a copy of
 * it may be under way. */
struct unreleased_import {
	struct conn *importer;
	uint64_t key;
	uint64_t memory; /* the exporter's own key for the memory, which differs for an alias */
	uint64_t deadline_ms;
	TAILQ_ENTRY(unreleased_import) entry;
};

/* An exporter that waits for the end of a key: until no process is left that has not released the key, or its memory. */
struct revocation {
	struct conn *exporter; /* gets the reply */
	struct sim_msg reply;
	uint64_t key;
	LIST_ENTRY(revocation) entry;
};

/* The shared object that holds a key's memory. */
struct shared_object {
	int fd; /* -1 = none */
	struct conn *exporter;
};

/* The recording of a process, running or ended. */
struct recording {
	uint64_t number;
	int fd;
	struct sim_peer_info process_info;
	bool is_alive;
	TAILQ_ENTRY(recording) entry;
};

/* A DESCRIBE request that the daemon forwarded to an exporter. */
struct describe_request {
	uint64_t seq; /* the daemon's number, sent to the exporter */
	struct conn *importer, *exporter;
	uint64_t importer_seq;
	uint64_t deadline_ms;
	LIST_ENTRY(describe_request) entry;
};

/* A key of another machine that a process imports; the gateway asks there. */
struct far_import {
	uint64_t seq;          /* the daemon's number */
	struct conn *importer; /* NULL = it has ended, or did not wait any longer */
	uint64_t importer_seq;
	struct sim_key key;
	uint32_t function;
	uint64_t deadline_ms;
	LIST_ENTRY(far_import) entry;
};

/* The shared object of such a key. */
struct far_object {
	uint64_t key;
	int fd;
	struct conn *exporter;
	LIST_ENTRY(far_object) entry;
};

/* The gateway to the session's other machines: a child of the daemon. */
struct gateway {
	const struct sim_machines_cfg *cfg; /* NULL = the session is on one machine */
	pid_t pid;                          /* 0 = does not run */
	int pidfd;
	struct source source;
	uint32_t num_starts;
	uint64_t start_ms;
	uint64_t restart_ms; /* 0 = not to be started again */
	uint64_t silent_ms;  /* it is ended then, unless it reports before; 0 = not */
	bool is_suspected;   /* @silent_ms has come once */
	bool is_spared;      /* it has come twice, while the process was busy */
	bool is_ready;       /* it has said so since the daemon's start */
	uint32_t port;       /* at which home listens, and will again; 0 = not known */
	struct conn *conn;   /* by which it is asked; NULL = none */
	char *status;        /* JSON about the machines; NULL = none */
	LIST_HEAD(, far_import) imports;
	LIST_HEAD(, far_object) objects;
	LIST_HEAD(, outage) outages; /* of outages.c */
};

/* A rule that has made the link to a machine slow; of a rule for several machines there are several. */
struct slow_rule_hit {
	uint32_t rule, machine;
	uint64_t delay_ns, rate;
	uint64_t until_ns; /* of the session's time; SIM_NEVER_NS = until it is taken out */
};

struct daemon;

/* Operations on processes and on the daemon itself. Those of the fuzz target do nothing. */
struct daemon_process_ops {
	int (*send_signal)(int pidfd, int signal);
	void (*start_resumer)(int pidfd, struct resumer *resumer);
	void (*kill_daemon)(void);
	void (*pause_daemon)(const struct daemon *daemon, uint64_t ns);
};

struct daemon {
	int dir_fd, lock_fd, listen_sock, epoll_fd, signal_fd;
	int max_fds;  /* descriptors that the daemon may have open */
	int spare_fd; /* closed for a moment to reject a process when descriptors run out */
	struct source listening, signals, dir;
	int dir_watch_fd; /* -1 = not watched */
	bool has_group;   /* @group shares the session */
	gid_t group;
	bool passes_memory; /* as of struct sim_daemon_cfg */
	uint32_t num_refused, num_refused_logs;
	bool created_dir;
	bool unreachable; /* the socket was removed, so no process can connect */
	bool must_accept;
	bool stop;
	uint8_t session[SIM_SESSION_ID_SIZE];
	struct pcie_topology *topology;
	struct sim_card *card;
	struct sim_services *services;
	struct sim_segment shared;
	int shared_fd; /* sent to processes that attach; -1 = none */
	struct sim_clock *clock;
	struct sim_fault_events fault_events; /* rules that hit at a time */
	struct sim_fault_hit strike;          /* of this machine, and when */
	uint64_t strike_ms;                   /* 0 = there is none */
	struct slow_rule_hit *slow_rules;
	uint32_t num_slow_rules, max_slow_rules;
	uint64_t
		late_links_ns; /* rules for links between machines that began since then wait for a gateway; 0 = none */
	bool warned_unreachable; /* the log has the warning that rules do not reach a process */
	const struct daemon_process_ops *process_ops;
	TAILQ_HEAD(conns, conn) conns;        /* newest first */
	struct shared_object *shared_objects; /* by the low half of a key's id */
	uint32_t num_shared_objects;
	TAILQ_HEAD(, unreleased_import) unreleased; /* oldest first */
	LIST_HEAD(, revocation) revocations;
	LIST_HEAD(, describe_request) describe_requests;
	uint64_t next_seq;
	struct gateway gateway;
	char machine[PCIE_SIDE_SIZE]; /* of which this daemon has the cards; "" = of all */
	uint32_t machine_number;      /* 0 without a name */
	uint32_t trace_level;
	uint64_t zero_ns;                   /* the session's begin */
	TAILQ_HEAD(, recording) recordings; /* oldest first */
	uint64_t num_recordings, num_ended_recordings, num_dropped_recordings;
};

/* daemon.c: the session and its event loop. A failed daemon_open() logs the reason and also needs
 * daemon_close(), which removes the files from the directory. daemon_step() waits at most @timeout_ms
 * (-1 = for ever) and returns the number of events. */
int daemon_open(struct daemon *daemon, const struct sim_daemon_cfg *cfg);
int daemon_step(struct daemon *daemon, int timeout_ms);
void daemon_close(struct daemon *daemon);

/* conn.c: connections. The daemon queues messages to a process that does not read. The queue for
 * handshake messages is limited: call daemon_can_queue_handshake() first. When daemon_send_fds()
 * queues a message, it takes ownership of the descriptors. */
int daemon_watch(struct daemon *daemon, int fd, struct source *source);
bool daemon_may_keep_fd(const struct daemon *daemon, int fd); /* leaves some for connections and their requests */
void daemon_watch_process(struct daemon *daemon, struct conn *conn); /* the one that connected */
void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd);
void daemon_send_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, int fd);
void daemon_reply_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, const int *fds,
		      uint32_t num_fds); /* the descriptors stay the caller's */
bool daemon_can_queue_handshake(const struct conn *conn);
void daemon_flush(struct daemon *daemon, struct conn *conn);
struct conn *daemon_find_conn(struct daemon *daemon, uint32_t peer);
bool daemon_conn_go(struct conn *conn, enum daemon_conn_state to); /* returns whether there is that edge */
void daemon_conn_lose(struct conn *conn);                          /* its socket has ended, or it broke the rules */
void daemon_conn_free(struct daemon *daemon, struct conn *conn);

/* access.c: which users may use the session. daemon_check_user() returns 0, or -EUSERS: too many that are refused wait
 * for their reply. daemon_refuse_request() replies to the request of a refused process and ends the connection. */
int daemon_check_user(struct daemon *daemon, int sock, struct ucred *ret_cred, bool *ret_is_refused);
void daemon_refuse_request(struct daemon *daemon, struct conn *conn, struct sim_msg *msg);

/* requests.c: message handlers. daemon_handle_msg() removes the descriptors that it keeps from @fds. */
void daemon_handle_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_detach(struct daemon *daemon, struct conn *conn);
uint64_t daemon_describe_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */
void daemon_expire_describe_requests(struct daemon *daemon, uint64_t now_ms);

/* import_reply.c: import a key for a process, and reply to its IMPORT. */
void daemon_reply_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_key *key,
			 uint32_t function);

/* gateway.c: the process of the gateway. daemon_gateway_fetch() asks home for a joined machine's session. */
int daemon_gateway_fetch(const struct sim_machines_cfg *cfg, struct daemon *daemon, char **ret_yaml, size_t *ret_len,
			 enum sim_clock_mode *ret_clock);
int daemon_find_machine(struct daemon *daemon); /* this one, in the topology */
int daemon_gateway_open(struct daemon *daemon);
bool daemon_gateway_is_awaited(const struct daemon *daemon); /* the session can't be used yet */
void daemon_gateway_close(struct daemon *daemon);
void daemon_gateway_ended(struct daemon *daemon); /* its process */
uint64_t daemon_gateway_deadline_ms(const struct daemon *daemon);
void daemon_gateway_run(struct daemon *daemon, uint64_t now_ms); /* start or end it when that is due */
void daemon_gateway_heard(struct daemon *daemon);                /* it has reported */

/* far.c: memory of other machines, by way of the gateway. */
bool daemon_far_handles(const struct daemon *daemon, const struct conn *conn, const struct sim_msg *msg);
void daemon_far_import(struct daemon *daemon, struct conn *conn, struct sim_msg *msg);
void daemon_far_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_far_cancel(struct daemon *daemon, struct conn *conn); /* that process has ended */
void daemon_far_drop_unused(struct daemon *daemon);
uint64_t daemon_far_deadline_ms(const struct daemon *daemon);
void daemon_far_expire(struct daemon *daemon, uint64_t now_ms);
void daemon_reach(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds);

/* gateway_status.c: what the gateway says of itself. */
void daemon_handle_gateway(struct daemon *daemon, struct conn *conn, const struct sim_msg *msg, struct sim_fds *fds);

/* revocation.c: revocations in flight. */
void daemon_revoke(struct daemon *daemon, struct conn *exporter, struct sim_msg *request);
void daemon_revoke_all_of(struct daemon *daemon, struct conn *conn);
void daemon_revoke_all_through(struct daemon *daemon, uint32_t function);
void daemon_unimport(struct daemon *daemon, struct conn *importer, uint64_t key);
void daemon_importer_released(struct daemon *daemon, struct conn *importer, uint64_t key);
void daemon_remove_from_revocations(struct daemon *daemon, struct conn *conn);
uint64_t daemon_revocations_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */
void daemon_expire_revocations(struct daemon *daemon, uint64_t now_ms);

/* channels.c: services, and channels between processes. */
bool daemon_handle_channel_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_close_channels_of(struct daemon *daemon, struct conn *conn);
void daemon_close_channels_through(struct daemon *daemon, uint32_t function); /* or through its representor */
void daemon_drop_channels(struct daemon *daemon);                             /* sends no notifications */
void daemon_expire_channels(struct daemon *daemon, uint64_t now_ms);

/* shared_objects.c: the shared objects that hold exported memory. One process may have a part of the daemon's
 * descriptors: beyond that, its exports have no object, and importers another path than "mapped". */
void daemon_add_shared_object(struct daemon *daemon, uint64_t key, struct conn *exporter, int fd); /* takes fd */
int daemon_shared_object_fd(const struct daemon *daemon, uint64_t key);                            /* -1 = none */
void daemon_remove_shared_object(struct daemon *daemon, uint64_t key);
void daemon_remove_shared_objects_of(struct daemon *daemon, const struct conn *exporter);

/* fault_plan.c: changes of the fault plan. */
void daemon_handle_fault(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds);

/* recordings.c: recordings of running and ended processes. */
void daemon_add_recording(struct daemon *daemon, struct conn *conn, struct sim_fds *fds);
void daemon_end_recording(struct daemon *daemon, struct conn *conn); /* the process has ended */
void daemon_reply_recording(struct daemon *daemon, struct conn *conn, struct sim_msg *msg);
bool daemon_drop_oldest_recording(struct daemon *daemon); /* of ended processes; false = none */
int daemon_lower_fd(struct daemon *daemon, int fd); /* if it can't be kept: for that of an ended process's recording */
void daemon_drop_recordings(struct daemon *daemon);

/* process_faults.c: timed rules for functions (fault_events.h), processes and the daemon. Call
 * daemon_run_fault_events() after each change of the plan or of time. Call daemon_inject_new_process()
 * for a process that attaches, and daemon_resume_process() before its connection is freed. */
extern const struct daemon_process_ops daemon_default_process_ops;
int daemon_open_fault_events(struct daemon *daemon);
void daemon_close_fault_events(struct daemon *daemon);
void daemon_run_fault_events(struct daemon *daemon);
void daemon_inject_new_process(struct daemon *daemon, struct conn *conn);
void daemon_resume_process(struct daemon *daemon, struct conn *conn);
uint64_t daemon_fault_events_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */

/* Rules for links to other machines that began while there was no gateway. */
void daemon_inject_late_links(struct daemon *daemon);

/* slow_links.c: links to other machines. A rule for one has hit; rules have gone from the plan; a gateway has started.
 * There are as many of them as the plan has rules. */
void daemon_begin_slow_link(struct daemon *daemon, const struct slow_rule_hit *slow);
void daemon_end_slow_links(struct daemon *daemon);
void daemon_tell_slow_links(struct daemon *daemon);

/* outages.c: the same for links that are down. The gateway answers when it has taken an outage. @breaks: connections break at once. */
void daemon_begin_outage(struct daemon *daemon, uint32_t machine, uint64_t ns, bool breaks);
void daemon_outage_taken(struct daemon *daemon, const struct conn *conn, uint64_t seq);
void daemon_tell_outages(struct daemon *daemon);
void daemon_free_outages(struct daemon *daemon);

/* resumer.c: the child that continues a stopped process when the daemon is killed. Starting a running resumer
 * has no effect. */
void daemon_resumer_start(int pidfd, struct resumer *resumer);
void daemon_resumer_stop(struct resumer *resumer);

/* status_json.c: returns a descriptor of the state as JSON, or -errno. */
int daemon_status_fd(struct daemon *daemon);

#endif
