/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that execute a test's commands through sim's own interface. */
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "check.h"
#include "sim/daemon/daemon.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

/* ---- the daemon ---- */

struct daemon_arg {
	const char *dir, *topology;
	int max_fds; /* 0 = as many as the machine allows */
};

static void run_daemon(int talk, const void *arg)
{
	const struct daemon_arg *how = arg;
	struct sim_daemon_cfg cfg = { .dir = how->dir, .topology_path = how->topology, .ready_fd = dup(talk) };
	struct rlimit limit = { .rlim_cur = (rlim_t)how->max_fds, .rlim_max = (rlim_t)how->max_fds };
	int rc;

	if (how->max_fds)
		CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	rc = sim_daemon_run(&cfg);
	send(talk, &rc, sizeof(rc), MSG_NOSIGNAL);
}

static void wait_until_ready(struct proc *daemon)
{
	char byte;

	proc_hear(daemon->talk, &byte, 1);
}

void daemon_try(struct proc *daemon, const char *dir, const char *topology)
{
	struct daemon_arg arg = { .dir = dir, .topology = topology };

	proc_start(daemon, run_daemon, &arg);
}

void daemon_start(struct proc *daemon, const char *dir, const char *topology)
{
	daemon_try(daemon, dir, topology);
	wait_until_ready(daemon);
}

void daemon_start_limited(struct proc *daemon, const char *dir, int max_fds)
{
	struct daemon_arg arg = { .dir = dir, .max_fds = max_fds };

	proc_start(daemon, run_daemon, &arg);
	wait_until_ready(daemon);
}

int daemon_result(struct proc *daemon)
{
	int rc;

	proc_hear(daemon->talk, &rc, sizeof(rc));
	proc_end(daemon);
	return rc;
}

void daemon_stop(struct proc *daemon)
{
	proc_signal(daemon, SIGTERM);
	assert_int_equal(daemon_result(daemon), 0);
}

void daemon_read_status(const char *dir, char *text, size_t size)
{
	int dir_fd = sim_session_dir_open(dir, false), sock = sim_session_dir_connect(dir_fd), fd = -1;
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	ssize_t got;
	char *to = text;

	assert_true(sock >= 0);
	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
	assert_true(proc_hears_within(sock, PROC_DEADLINE_MS));
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	got = read(fd, text, size - 1);
	assert_true(got > 0);
	for (const char *from = text; from < text + got; from++)
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
	*to = '\0';
	close(fd);
	close(sock);
	close(dir_fd);
}

bool daemon_knows(const char *dir, pid_t pid)
{
	char text[65536], field[64];

	snprintf(field, sizeof(field), "\"pid\":%d,\"program\"", (int)pid);
	daemon_read_status(dir, text, sizeof(text));
	return strstr(text, field) != NULL;
}

bool daemon_forgets(const char *dir, pid_t pid)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	while (daemon_knows(dir, pid))
		if (proc_now_ms() > end)
			return false;
	return true;
}

/* ---- in the process ---- */

struct memory {
	uint8_t *bytes;
	int fd;
	uint64_t key;
};

static struct {
	int talk;
	struct sim_session *session;
	struct sim_remote *remote;
	uint8_t copy[ACTOR_BYTES];
	struct memory memories[ACTOR_MAX_EXPORTS];
	uint8_t *guard; /* of ACTOR_READ_HALTED */
} self;

static uint32_t my_function(void)
{
	const struct pcie_topology *topology = sim_session_topology(self.session);

	for (uint32_t i = 0; i < topology->num_functions; i++)
		if (strcmp(topology->functions[i].side, sim_session_side(self.session)) == 0)
			return i;
	CHECK(!"a function of this side");
	return 0;
}

static int do_attach(const struct actor_say *say)
{
	struct sim_session_cfg cfg = { .dir = say->dir,
				       .side = say->side,
				       .forced_path = say->path[0] ? say->path : NULL };

	return sim_session_attach(&cfg, &self.session);
}

static struct memory *map_memory(enum actor_memory kind, int *ret_number)
{
	int number = 0;
	struct memory *memory;

	while (number < ACTOR_MAX_EXPORTS && self.memories[number].bytes)
		number++;
	CHECK(number < ACTOR_MAX_EXPORTS);
	memory = &self.memories[number];
	memory->fd = kind == ACTOR_MEMFD ? memfd_create("actor", MFD_CLOEXEC) : -1;
	if (memory->fd >= 0)
		CHECK(ftruncate(memory->fd, ACTOR_BYTES) == 0);
	memory->bytes = mmap(NULL, ACTOR_BYTES, PROT_READ | PROT_WRITE,
			     memory->fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memory->fd, 0);
	CHECK(memory->bytes != MAP_FAILED);
	*ret_number = number;
	return memory;
}

static int do_export(const struct actor_say *say, struct actor_key *ret)
{
	struct memory *memory = map_memory((enum actor_memory)say->memory, &ret->number);
	struct sim_region region = { .addr = (uintptr_t)memory->bytes,
				     .cpu_addr = (uintptr_t)memory->bytes,
				     .len_bytes = ACTOR_BYTES,
				     .access = SIM_ACCESS_READ | SIM_ACCESS_WRITE,
				     .function = my_function() };
	int rc;

	ret->fill = say->fill;
	memset(memory->bytes, say->fill, ACTOR_BYTES);
	rc = sim_session_export(self.session, &region, memory->fd, &ret->key);
	memory->key = ret->key.id;
	if (rc == 0)
		sim_descriptor_encode(sim_session_id(self.session), &ret->key, ret->descriptor);
	return rc;
}

/* The memory gets other bytes, so that whoever still reads it is found out. */
static int do_unexport(const struct actor_say *say)
{
	struct memory *memory = &self.memories[say->memory];
	int rc = sim_session_unexport(self.session, memory->key);

	memset(memory->bytes, 0xff, ACTOR_BYTES);
	munmap(memory->bytes, ACTOR_BYTES);
	if (memory->fd >= 0)
		close(memory->fd);
	memory->bytes = NULL;
	return rc;
}

static int do_import(const struct actor_say *say, struct actor_answer *answer)
{
	int rc;

	sim_session_release(self.session, self.remote);
	self.remote = NULL;
	rc = sim_session_import(self.session, &say->key, my_function(), &self.remote);
	if (rc == 0)
		strncpy(answer->path, sim_remote_path(self.remote), sizeof(answer->path) - 1);
	return rc;
}

static int copy_here(void *to)
{
	return sim_copy(NULL, (uintptr_t)to, self.remote, self.remote->region.addr, ACTOR_BYTES);
}

/* All bytes are the same, or a reader saw two states of the memory. */
static void need_uniform(const uint8_t *bytes)
{
	CHECK(memcmp(bytes, bytes + 1, ACTOR_BYTES - 1) == 0);
}

static int do_read(uint8_t *ret_fill)
{
	int rc = copy_here(self.copy);

	if (rc == 0) {
		need_uniform(self.copy);
		*ret_fill = self.copy[0];
	}
	return rc;
}

static int do_read_until_error(uint8_t expected)
{
	int reads = 0, rc;

	while ((rc = copy_here(self.copy)) == 0) {
		need_uniform(self.copy);
		CHECK(self.copy[0] == expected);
		if (reads++ == 0)
			proc_say(self.talk, &reads, sizeof(reads)); /* it runs */
	}
	return rc;
}

static int do_write(uint8_t fill)
{
	memset(self.copy, fill, ACTOR_BYTES);
	return sim_copy(self.remote, self.remote->region.addr, NULL, (uintptr_t)self.copy, ACTOR_BYTES);
}

/* The copy has met the page that can't be written. Say so; say again when the
 * revocation has come; go on when told. */
static void halted(int signal)
{
	char byte = 0;

	(void)signal;
	send(self.talk, &byte, 1, MSG_NOSIGNAL);
	while (!atomic_load(&self.remote->revoked))
		sched_yield();
	send(self.talk, &byte, 1, MSG_NOSIGNAL);
	recv(self.talk, &byte, 1, 0);
	mprotect(self.guard, ACTOR_BYTES, PROT_READ | PROT_WRITE);
}

static int do_read_halted(uint8_t *ret_fill)
{
	struct sigaction catch = { .sa_handler = halted }, before;
	int rc;

	self.guard = mmap(NULL, ACTOR_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(self.guard != MAP_FAILED);
	CHECK(sigaction(SIGSEGV, &catch, &before) == 0);
	rc = copy_here(self.guard);
	CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
	if (rc == 0) {
		need_uniform(self.guard);
		*ret_fill = self.guard[0];
	}
	munmap(self.guard, ACTOR_BYTES);
	return rc;
}

/* Busy, with a look at the test now and then. */
static void do_compute(void)
{
	char byte;

	proc_say(self.talk, "", 1);
	do {
		for (volatile int i = 0; i < 1000000; i++)
			;
	} while (recv(self.talk, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0);
	proc_hear(self.talk, &byte, 1);
}

/* A child that lives on. It has all descriptors of ours. */
static pid_t do_fork(bool abandon)
{
	pid_t pid;
	int ready[2];
	char byte;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(PROC_DEADLINE_MS / 1000); /* at the latest */
		close(self.talk);
		if (abandon)
			sim_session_abandon(self.session);
		CHECK(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void detach(void)
{
	sim_session_release(self.session, self.remote);
	self.remote = NULL;
	sim_session_detach(self.session);
	self.session = NULL;
	for (int i = 0; i < ACTOR_MAX_EXPORTS; i++)
		if (self.memories[i].bytes)
			munmap(self.memories[i].bytes, ACTOR_BYTES);
}

static void act(const struct actor_say *say, struct actor_answer *answer)
{
	switch (say->order) {
	case ACTOR_ATTACH:
		answer->rc = do_attach(say);
		break;
	case ACTOR_EXPORT:
		answer->rc = do_export(say, &answer->exported);
		break;
	case ACTOR_UNEXPORT:
		answer->rc = do_unexport(say);
		break;
	case ACTOR_IMPORT:
		answer->rc = do_import(say, answer);
		break;
	case ACTOR_READ:
		answer->rc = do_read(&answer->fill);
		break;
	case ACTOR_READ_UNTIL_ERROR:
		answer->rc = do_read_until_error(say->fill);
		break;
	case ACTOR_READ_HALTED:
		answer->rc = do_read_halted(&answer->fill);
		break;
	case ACTOR_WRITE:
		answer->rc = do_write(say->fill);
		break;
	case ACTOR_RELEASE:
		sim_session_release(self.session, self.remote);
		self.remote = NULL;
		break;
	case ACTOR_DETACH:
		detach();
		break;
	case ACTOR_COMPUTE:
		do_compute();
		break;
	case ACTOR_FORK:
		answer->pid = do_fork(say->abandon);
		break;
	}
}

static void run_actor(int talk, const void *arg)
{
	struct actor_say say;

	(void)arg;
	self.talk = talk;
	while (recv(talk, &say, sizeof(say), 0) == (ssize_t)sizeof(say)) {
		struct actor_answer answer = { 0 };

		act(&say, &answer);
		proc_say(talk, &answer, sizeof(answer));
	}
}

/* ---- in the test ---- */

void actor_begin(struct actor *actor, const struct actor_say *say)
{
	proc_say(actor->proc.talk, say, sizeof(*say));
}

struct actor_answer actor_finish(struct actor *actor)
{
	struct actor_answer answer;

	proc_hear(actor->proc.talk, &answer, sizeof(answer));
	return answer;
}

static struct actor_answer order(struct actor *actor, const struct actor_say *say)
{
	actor_begin(actor, say);
	return actor_finish(actor);
}

static struct {
	char *dir;
	struct proc daemon;
} session;

int session_setup(void **state)
{
	(void)state;
	session.dir = proc_make_dir();
	daemon_start(&session.daemon, session.dir, NULL);
	setenv("BFSIM_SESSION", session.dir, 1);
	return 0;
}

int session_teardown(void **state)
{
	(void)state;
	daemon_stop(&session.daemon);
	proc_kill_all();
	proc_remove_dir(session.dir);
	return 0;
}

int actor_attach(struct actor *actor, const char *dir, const char *side, const char *path)
{
	struct actor_say say = { .order = ACTOR_ATTACH };

	proc_start(&actor->proc, run_actor, NULL);
	strncpy(say.dir, dir, sizeof(say.dir) - 1);
	strncpy(say.side, side, sizeof(say.side) - 1);
	strncpy(say.path, path ? path : "", sizeof(say.path) - 1);
	return order(actor, &say).rc;
}

int actor_export(struct actor *actor, enum actor_memory memory, struct actor_key *ret_key)
{
	static uint8_t next_fill;
	struct actor_say say = { .order = ACTOR_EXPORT, .memory = memory, .fill = ++next_fill % 0xff };
	struct actor_answer answer = order(actor, &say);

	*ret_key = answer.exported;
	return answer.rc;
}

int actor_unexport(struct actor *actor, const struct actor_key *key)
{
	struct actor_say say = { .order = ACTOR_UNEXPORT, .memory = key->number };

	return order(actor, &say).rc;
}

int actor_import(struct actor *actor, const struct actor_key *key)
{
	struct actor_say say = { .order = ACTOR_IMPORT, .key = key->key };
	struct actor_answer answer = order(actor, &say);

	memcpy(actor->path, answer.path, sizeof(actor->path));
	return answer.rc;
}

int actor_import_patiently(struct actor *actor, const struct actor_key *key)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	int rc;

	do {
		rc = actor_import(actor, key);
	} while (rc == -ETIMEDOUT && proc_now_ms() < end);
	return rc;
}

int actor_read(struct actor *actor, const struct actor_key *key)
{
	struct actor_say say = { .order = ACTOR_READ };
	struct actor_answer answer = order(actor, &say);

	if (answer.rc == 0)
		assert_int_equal(answer.fill, key->fill);
	return answer.rc;
}

int actor_write(struct actor *actor, uint8_t fill)
{
	struct actor_say say = { .order = ACTOR_WRITE, .fill = fill };

	return order(actor, &say).rc;
}

int actor_release(struct actor *actor)
{
	struct actor_say say = { .order = ACTOR_RELEASE };

	return order(actor, &say).rc;
}

pid_t actor_fork(struct actor *actor, bool abandon)
{
	struct actor_say say = { .order = ACTOR_FORK, .abandon = abandon };
	struct actor_answer answer = order(actor, &say);

	proc_adopt(answer.pid);
	return answer.pid;
}

void actor_detach(struct actor *actor)
{
	struct actor_say say = { .order = ACTOR_DETACH };

	order(actor, &say);
	proc_end(&actor->proc);
}
