/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/hostile/hostile.h - a matrix of attacks and data paths, and what the attacked processes did.
 *
 *   main.c             options, the matrix, the table
 *   bout.c             one round: a session in a new directory, its processes, the judgement of their ends
 *   roles_dma.c        honest programs: an exporter and an importer
 *   roles_comch.c      honest programs: a Comch server and a client
 *   roles_fast.c       honest programs: a server and a client on Comch's data path
 *   roles_rdma.c       honest programs: a target and a requester of RDMA
 *   attack_kill.c       kills at random moments: each path, Comch, each clock, two cards
 *   attack_descriptor.c changed descriptors
 *   attack_protocol.c   random messages to the daemon, and floods of requests
 *   attack_connection.c a hostile importer on shm and tcp; strangers at the ports of tcp
 *   attack_exporter.c   a hostile exporter, whose memory comes and goes, on each path
 *   harm.c              writes into shared memory
 *   attack_comch.c      a hostile Comch peer that writes into all memory that it shares
 *   attack_forge.c      a Comch client or server that forges its handshake, announcements and records
 *   attack_rdma.c       RDMA: kills, a hostile peer, changed descriptors; order and atomic sums
 *   attack_dpa.c        the DPA: kernels that misbehave, kills of programs whose kernels run, heap that is freed
 *   attack_state.c      a hostile process that writes into the session's shared state, in each clock
 *   attack_memory.c     allocations that fail
 *   attack_recording.c  damaged recordings, and such that are written to while commands read them
 *   attack_process.c    stops, limits of descriptors and memory, forks
 *   attack_programs.c   kills of programs of the work-queue generation; damaged traces for bfsim report
 *
 * A round starts a daemon and processes, does one thing to them, and waits for their ends. Whatever was done:
 *
 *   - each process ends by itself within --patience seconds, well or with an error of its own
 *   - none ends by a signal, unless the attack sent it
 *   - none copies or receives wrong bytes
 *   - no process, no file in the session's directory and none in /dev/shm stays
 *   - a new daemon starts in the directory of a killed one
 *   - among many kills some process ends well; else nothing was attacked, e.g. as bfsimd is of another version
 *
 * What breaks that is printed with the round that repeats it:
 *
 *   BUILD/tests/hostile/hostile --seed SEED --only ATTACK/PATH --round N
 *
 * The moments of kills are random times, so a round repeats the attack, but not always its effect. Attacks use the
 * public headers, or the daemon's protocol (sim/protocol) where the attacker is not a DOCA program. tests/fuzz has the
 * parsers alone; this has whole processes.
 */
#ifndef TESTS_HOSTILE_HOSTILE_H
#define TESTS_HOSTILE_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* How a process ends: by exit status. 1 is check_fail()'s: a call failed that its program can't do without. */
enum role_end {
	ROLE_DONE = 0,
	ROLE_FAILED = 1,
	ROLE_REFUSED = 2,
	ROLE_WRONG = 7, /* wrong bytes, or a promise of the interface is broken */
};

struct tally {
	unsigned int tried, refused, survived;   /* inputs or kills; ends with an error; ends as without attack */
	unsigned int wrong, crashed, hung, left; /* defects */
	bool wants_survivor; /* on each path a process ends well at least once, or the programs never worked */
	bool is_spared;      /* the round: nothing is killed, and waits have the whole patience */
};

struct bout;
typedef int role_body(struct bout *bout, int sock);

struct party {
	const char *name;
	pid_t pid;
	bool is_victim; /* the attack killed it */
	bool has_ended;
	int status; /* of waitpid() */
};

#define BOUT_PARTIES 40

struct bout {
	const char *attack, *path;
	unsigned int round, patience_s;
	unsigned int connect_ms; /* see bout_connect_within() */
	uint64_t seed, random;
	struct timespec since; /* begin of the round */
	struct tally *tally;   /* shared with the processes of the round */
	char dir[64], log[96];
	const char *topology, *clock; /* of the session; NULL = the defaults. Set before bout_session() */
	struct party parties[BOUT_PARTIES];
	unsigned int num_parties;
	struct party *daemon;
};

struct attack {
	const char *name;
	const char *const *paths; /* up to NULL */
	unsigned int rounds, short_rounds;
	void (*run)(struct bout *bout);
};

/* Without a data path. */
extern const char *const attack_no_path[];
extern const char *const attack_all_paths[];
extern const char *const attack_comch_victims[];

/* A number below @limit, from the round's seed. */
uint64_t bout_random(struct bout *bout, uint64_t limit);

void bout_begin(struct bout *bout);

/* How long programs of Comch wait for each other, when one of them may be dead; five seconds if this is not called. */
void bout_connect_within(struct bout *bout, unsigned int ms);

/* Start the daemon. */
void bout_session(struct bout *bout);

/* Start a process on @side that runs @body and exits with its result. @sock becomes its own; the caller closes its
 * copy. */
struct party *bout_start(struct bout *bout, const char *name, const char *side, role_body *body, int sock);

/* A connected pair of sockets, which keep packets apart. */
void bout_pair(int ret_socks[2]);

/* Kill a process at a random moment within @ms. */
void bout_kill_within(struct bout *bout, struct party *victim, unsigned int ms);
void bout_pause(struct bout *bout, unsigned int ms);

/* Wait for the end of one process. Returns false if it hangs. */
bool bout_wait(struct bout *bout, struct party *party);
bool bout_poll(struct bout *bout, struct party *party, unsigned int ms); /* returns whether it has ended */

/* Wait for all processes but the daemon, stop that one, and judge. */
void bout_end(struct bout *bout);

/* Add a defect to the tally, and say how to repeat it. */
void bout_defect(struct bout *bout, unsigned int *count, const char *what, const char *name);

/* ---- honest programs ---- */

/* Exports memory over the socket, until the other end of the socket is closed. */
role_body role_exporter;
/* Imports it, and copies for a while in both directions. */
role_body role_importer;
/* The same, without a look at the bytes. */
role_body role_unchecked_importer;
/* Sends a descriptor. */
void role_send_descriptor(int sock, const void *descriptor, size_t len);
/* Reads a descriptor from @sock. Returns its length, 0 if there is none. */
size_t role_read_descriptor(int sock, void *ret_bytes, size_t size);
/* Import a descriptor and copy from its memory @ms long. */
int role_copy_from(struct bout *bout, const void *descriptor, size_t len, unsigned int ms);

/* Echoes messages. */
role_body role_server;
role_body role_patient_server; /* also after its first client has left, for bout->connect_ms */
role_body role_client;

/* Connects again and again, takes any message and answers; each connection has a producer and a consumer. */
role_body role_stubborn_client;

/* With a consumer and a producer each: one leaves in the middle of the exchange, the other one ends in order. */
role_body role_fast_server;
role_body role_fast_client;

/* ---- the daemon's protocol ---- */

struct sim_msg;

/* Send a request with a descriptor or -1, and wait for its reply. Returns its status, or -1; *ret_fd is its descriptor
 * or -1. */
int attack_call_with(int sock, struct sim_msg *msg, int fd, int *ret_fd);

/* ---- programs of the build ---- */

#define PROGRAM_ARGS 8

/* Executed in @dir with the party's socket as standard input; argv[0] is filled in. */
struct program {
	const char *dir, *path, *argv[PROGRAM_ARGS];
};

struct party *program_start(struct bout *bout, const char *side, int sock, const struct program *program);

/* Run a command to its end. Returns its exit status, or -1. */
int program_run(struct bout *bout, const struct program *program);

/* A directory for files of a round, beside the session's. */
void work_make(const struct bout *bout, char dir[96]);
void work_remove(const char *dir);

/* ---- attacks ---- */

extern const struct attack attack_kill_dma, attack_kill_comch, attack_kill_fast, attack_kill_session, attack_descriptor,
	attack_protocol, attack_flood, attack_connection, attack_comch, attack_signals, attack_limits, attack_fork,
	attack_workq, attack_memory, attack_memory_comch, attack_cards, attack_stop, attack_recording, attack_report,
	attack_state, attack_forge, attack_exporter, attack_kill_rdma, attack_rdma, attack_rdma_descriptor,
	attack_rdma_silent, attack_rdma_order, attack_dpa, attack_kill_dpa;

#endif
