/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the daemon's files only (and by the fuzz target, which drives its loop). */
#ifndef SIM_DAEMON_PRIV_H
#define SIM_DAEMON_PRIV_H

#include <stdbool.h>

#include "sim/state/shared_state.h"
#include "daemon.h"
#include "sim/state/fault_events.h"
#include "sim/protocol/wire.h"

/* Text from a peer ends somewhere. */
#define TERMINATE_TEXT(text) ((text)[sizeof(text) - 1] = '\0')

/* What an event is about. */
enum source_kind {
	SOURCE_LISTEN,
	SOURCE_SIGNAL,
	SOURCE_DIR,
	SOURCE_SOCKET,
	SOURCE_PROCESS,
};

struct source {
	enum source_kind kind;
	struct conn *conn; /* of the last two */
};

/* A packet that a peer's full socket did not take yet. */
struct packet {
	struct sim_msg msg;
	struct sim_fds fds; /* owned */
	struct packet *next;
};

/* Who sees to it that a stopped process goes on when we are killed. */
struct resume_guard {
	pid_t pid; /* 0 = there is none */
	int pipe_fd;
};

/* A process that has connected.
 *
 * Its socket closes when it dies, but only if it did not leave a copy of it in
 * a forked child: so the process itself is watched as well, where it can be
 * seen from here. One that lets a revocation wait for too long is taken for
 * stopped and not waited for, until it speaks again. */
struct conn {
	int sock;
	int pidfd; /* -1 = its process is not visible here */
	struct source socket, process;
	bool attached;
	bool detached_cleanly; /* said that it leaves */
	bool unresponsive;     /* taken for stopped */
	bool warned_queue_full,
		warned_fds_lost; /* said so in the log: that it does not read, that its descriptors were lost */
	bool dead;               /* to be removed when the current events are done */
	uint32_t peer;
	struct packet *unsent; /* oldest first */
	struct packet **unsent_end;
	uint32_t num_unsent_replies, num_unsent_handshakes;
	uint32_t num_describe_requests; /* its own, under way */
	uint64_t resume_ms;             /* we have stopped it until then; 0 = we have not */
	struct resume_guard guard;      /* while it is stopped */
	uint64_t recording;             /* number of its recording; 0 = it has none */
	struct conn *next;
};

/* An exporter that waits for importers to let go of a key. */
struct revocation {
	uint64_t key;
	struct conn *exporter; /* NULL: it died, nobody waits */
	struct sim_msg reply;
	struct conn **pending_importers; /* importers that have not answered */
	uint32_t num_pending_importers;
	uint64_t deadline_ms;
	struct revocation *next;
};

/* The shared object that holds a key's memory. */
struct shared_object {
	int fd; /* -1 = none */
	uint32_t exporter;
};

/* What a process records, or recorded. */
struct recording {
	uint64_t number;
	int fd;
	struct sim_peer_info process_info;
	bool is_alive;
	struct recording *next;
};

/* A DESCRIBE on its way to an exporter and back. */
struct describe_request {
	uint64_t seq; /* ours, towards the exporter */
	struct conn *importer, *exporter;
	uint64_t importer_seq;
	uint64_t deadline_ms;
	struct describe_request *next;
};

struct daemon;

/* What events do to the world. The fuzz target's process_ops do nothing. */
struct daemon_process_ops {
	int (*send_signal)(int pidfd, int signal);
	void (*start_guard)(int pidfd, struct resume_guard *guard);
	void (*kill_daemon)(void);
	void (*pause_daemon)(const struct daemon *daemon, uint64_t ns);
};

struct daemon {
	int dir_fd, lock_fd, listen_sock, epoll_fd, signal_fd;
	int spare_fd; /* given up for a moment to refuse a process when descriptors run out */
	struct source listening, signals, dir;
	int dir_watch_fd; /* while it runs; -1 = there is none to be had */
	bool created_dir;
	bool unreachable; /* somebody removed the socket: no process will come any more */
	bool must_accept;
	bool stop;
	uint8_t session[SIM_SESSION_ID_SIZE];
	uint64_t shm_dev; /* of our /dev/shm, 0 = none */
	struct pcie_topology *topology;
	struct sim_card *card;
	struct sim_services *services;
	struct sim_segment shared;
	int shared_fd; /* handed out; -1 = none */
	struct sim_clock *clock;
	struct sim_fault_events fault_events; /* rules that strike by the clock */
	bool warned_unreachable;              /* said so in the log: that rules do not reach a process */
	const struct daemon_process_ops *process_ops;
	struct conn *conns;
	struct shared_object *shared_objects; /* by the low half of a key's id */
	uint32_t num_shared_objects;
	struct revocation *revocations;
	struct describe_request *describe_requests;
	uint64_t next_seq;
	uint32_t trace_level;
	uint64_t zero_ns;             /* when the session began */
	struct recording *recordings; /* oldest first */
	uint64_t num_recordings, num_ended_recordings, num_dropped_recordings;
};

/* daemon.c: the session, and the loop one step at a time. A failed
 * daemon_open() has said why, and needs daemon_close() too, which removes what
 * was made in the directory. A step waits at most @timeout_ms (-1 = for ever)
 * and returns how many events it took. */
int daemon_open(struct daemon *daemon, const struct sim_daemon_cfg *cfg);
int daemon_step(struct daemon *daemon, int timeout_ms);
void daemon_close(struct daemon *daemon);

/* conn.c: connections. What is sent to a process that does not read is
 * kept for it; of handshake messages only so many (daemon_can_queue_handshake()), so ask before. Of a
 * message with descriptors, daemon_send_fds() takes those that it has to keep. */
int daemon_watch(struct daemon *daemon, int fd, struct source *source);
void daemon_watch_process(struct daemon *daemon, struct conn *conn);
void daemon_send(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int fd);
void daemon_send_fds(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_reply(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, int status, int fd);
bool daemon_can_queue_handshake(const struct conn *conn);
void daemon_flush(struct daemon *daemon, struct conn *conn);
struct conn *daemon_find_conn(struct daemon *daemon, uint32_t peer);
void daemon_conn_free(struct conn *conn);

/* requests.c: what a message does. What is kept of @fds is taken out of them. */
void daemon_handle_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_detach(struct daemon *daemon, struct conn *conn);
uint64_t daemon_describe_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */
void daemon_expire_describe_requests(struct daemon *daemon, uint64_t now_ms);

/* revocation.c: revocations under way. */
void daemon_revoke(struct daemon *daemon, struct conn *exporter, struct sim_msg *request);
void daemon_revoke_all_of(struct daemon *daemon, struct conn *conn);
void daemon_revoke_all_through(struct daemon *daemon, uint32_t function);
void daemon_importer_released(struct daemon *daemon, struct conn *importer, uint64_t key);
void daemon_remove_from_revocations(struct daemon *daemon, struct conn *conn);
uint64_t daemon_revocations_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */
void daemon_expire_revocations(struct daemon *daemon, uint64_t now_ms);

/* channels.c: services, and channels between processes. */
bool daemon_handle_channel_msg(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, struct sim_fds *fds);
void daemon_close_channels_of(struct daemon *daemon, struct conn *conn);
void daemon_close_channels_through(struct daemon *daemon, uint32_t function); /* or its representor */
void daemon_drop_channels(struct daemon *daemon);                             /* tells nobody */
void daemon_expire_channels(struct daemon *daemon, uint64_t now_ms);

/* shared_objects.c: the shared objects that hold exported memory. */
void daemon_add_shared_object(struct daemon *daemon, uint64_t key, uint32_t exporter, int fd); /* takes fd */
int daemon_shared_object_fd(const struct daemon *daemon, uint64_t key);                        /* -1 = none */
void daemon_remove_shared_object(struct daemon *daemon, uint64_t key);
void daemon_remove_shared_objects_of(struct daemon *daemon, uint32_t exporter);

/* fault_plan.c: changes of the fault plan. */
void daemon_handle_fault(struct daemon *daemon, struct conn *conn, struct sim_msg *msg, const struct sim_fds *fds);
/* recordings.c: what processes record, also when they are gone. */
void daemon_add_recording(struct daemon *daemon, struct conn *conn, struct sim_fds *fds);
void daemon_end_recording(struct daemon *daemon, struct conn *conn); /* it is gone */
void daemon_reply_recording(struct daemon *daemon, struct conn *conn, struct sim_msg *msg);
bool daemon_drop_oldest_recording(struct daemon *daemon); /* of those that are gone; whether there was one */
void daemon_drop_recordings(struct daemon *daemon);

/* process_faults.c: what rules do by the clock: to functions (fault_events.h), to processes and to us. When
 * something may have changed, daemon_run_fault_events() does what is due; a process that attaches is
 * met, and continued before it is forgotten. */
extern const struct daemon_process_ops daemon_default_process_ops;
int daemon_open_fault_events(struct daemon *daemon);
void daemon_close_fault_events(struct daemon *daemon);
void daemon_run_fault_events(struct daemon *daemon);
void daemon_inject_new_process(struct daemon *daemon, struct conn *conn);
void daemon_resume_process(struct daemon *daemon, struct conn *conn);
uint64_t daemon_fault_events_deadline_ms(const struct daemon *daemon); /* UINT64_MAX = none */

/* resume_guard.c: who continues a stopped process when we are killed; made unless there is one, and ended. */
void daemon_resume_guard_start(int pidfd, struct resume_guard *guard);
void daemon_resume_guard_stop(struct resume_guard *guard);

/* status_json.c: the state as JSON, in a descriptor, or -errno. */
int daemon_status_fd(struct daemon *daemon);

#endif
