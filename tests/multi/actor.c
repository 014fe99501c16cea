/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that execute a test's commands through sim's own interface. */
#include "cmocka_test.h"
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/daemon/daemon.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

/* ---- in the process ---- */

struct memory {
	uint8_t *bytes;
	int fd;
	uint64_t key;
};

static struct {
	int ctl;
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

static int do_attach(const struct actor_request *request)
{
	struct sim_session_cfg cfg = { .dir = request->dir,
				       .side = request->side,
				       .forced_path = request->path[0] ? request->path : NULL };

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

static int do_export(const struct actor_request *request, struct actor_key *ret)
{
	struct memory *memory = map_memory((enum actor_memory)request->memory, &ret->number);
	struct sim_region region = { .addr = (uintptr_t)memory->bytes,
				     .cpu_addr = (uintptr_t)memory->bytes,
				     .len_bytes = ACTOR_BYTES,
				     .access = SIM_ACCESS_READ |
					       (request->memory == ACTOR_READ_ONLY ? 0 : SIM_ACCESS_WRITE),
				     .function = my_function() };
	int rc;

	ret->fill = request->fill;
	memset(memory->bytes, request->fill, ACTOR_BYTES);
	rc = sim_session_export(self.session, &region, memory->fd, &ret->key);
	memory->key = ret->key.id;
	if (rc == 0)
		sim_descriptor_encode(sim_session_id(self.session), &ret->key, ret->descriptor);
	return rc;
}

/* Overwrite the memory first: a reader that still has access then fails its check. */
static int do_unexport(const struct actor_request *request)
{
	struct memory *memory = &self.memories[request->memory];
	int rc = sim_session_unexport(self.session, memory->key);

	memset(memory->bytes, 0xff, ACTOR_BYTES);
	munmap(memory->bytes, ACTOR_BYTES);
	if (memory->fd >= 0)
		close(memory->fd);
	memory->bytes = NULL;
	return rc;
}

static int do_import(const struct actor_request *request, struct actor_reply *reply)
{
	int rc;

	sim_session_release(self.session, self.remote);
	self.remote = NULL;
	rc = sim_session_import(self.session, &request->key, my_function(), &self.remote, NULL);
	if (rc == 0)
		strncpy(reply->path, sim_remote_path(self.remote), sizeof(reply->path) - 1);
	return rc;
}

static int copy_remote(void *to)
{
	return sim_copy(NULL, (uintptr_t)to, self.remote, self.remote->region.addr, ACTOR_BYTES);
}

/* All bytes are equal; else the reader saw two states of the memory. */
static void check_uniform(const uint8_t *bytes)
{
	CHECK(memcmp(bytes, bytes + 1, ACTOR_BYTES - 1) == 0);
}

static int do_read(uint8_t *ret_fill)
{
	int rc = copy_remote(self.copy);

	if (rc == 0) {
		check_uniform(self.copy);
		*ret_fill = self.copy[0];
	}
	return rc;
}

static int do_read_until_error(uint8_t expected)
{
	int reads = 0, rc;

	while ((rc = copy_remote(self.copy)) == 0) {
		check_uniform(self.copy);
		CHECK(self.copy[0] == expected);
		if (reads++ == 0)
			proc_send(self.ctl, &reads, sizeof(reads)); /* the first read is done */
	}
	return rc;
}

static int do_write(uint8_t fill)
{
	memset(self.copy, fill, ACTOR_BYTES);
	return sim_copy(self.remote, self.remote->region.addr, NULL, (uintptr_t)self.copy, ACTOR_BYTES);
}

/* The copy has hit the read-only page: report that. Report again when the revocation
 * arrives; continue on the test's reply. */
static void on_segv(int signal)
{
	char byte = 0;

	send(self.ctl, &byte, 1, MSG_NOSIGNAL);
	while (!atomic_load(&self.remote->revoked))
		sched_yield();
	send(self.ctl, &byte, 1, MSG_NOSIGNAL);
	recv(self.ctl, &byte, 1, 0);
	mprotect(self.guard, ACTOR_BYTES, PROT_READ | PROT_WRITE);
}

static int do_read_halted(uint8_t *ret_fill)
{
	struct sigaction catch = { .sa_handler = on_segv }, before;
	int rc;

	self.guard = mmap(NULL, ACTOR_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(self.guard != MAP_FAILED);
	CHECK(sigaction(SIGSEGV, &catch, &before) == 0);
	rc = copy_remote(self.guard);
	CHECK(sigaction(SIGSEGV, &before, NULL) == 0);
	if (rc == 0) {
		check_uniform(self.guard);
		*ret_fill = self.guard[0];
	}
	munmap(self.guard, ACTOR_BYTES);
	return rc;
}

/* Use the CPU until the test sends a byte. */
static void do_compute(void)
{
	char byte;

	proc_send(self.ctl, "", 1);
	do {
		for (volatile int i = 0; i < 1000000; i++)
			;
	} while (recv(self.ctl, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0);
	proc_recv(self.ctl, &byte, 1);
}

/* Fork a child that stays alive with copies of all descriptors. */
static pid_t do_fork(bool abandon)
{
	pid_t pid;
	int ready[2];
	char byte;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(PROC_DEADLINE_MS / 1000); /* limit of its life */
		close(self.ctl);
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

static void execute(const struct actor_request *request, struct actor_reply *reply)
{
	switch (request->op) {
	case ACTOR_ATTACH:
		reply->rc = do_attach(request);
		break;
	case ACTOR_EXPORT:
		reply->rc = do_export(request, &reply->exported);
		break;
	case ACTOR_UNEXPORT:
		reply->rc = do_unexport(request);
		break;
	case ACTOR_IMPORT:
		reply->rc = do_import(request, reply);
		break;
	case ACTOR_READ:
		reply->rc = do_read(&reply->fill);
		break;
	case ACTOR_READ_UNTIL_ERROR:
		reply->rc = do_read_until_error(request->fill);
		break;
	case ACTOR_READ_HALTED:
		reply->rc = do_read_halted(&reply->fill);
		break;
	case ACTOR_WRITE:
		reply->rc = do_write(request->fill);
		break;
	case ACTOR_RELEASE:
		sim_session_release(self.session, self.remote);
		self.remote = NULL;
		break;
	case ACTOR_EXPORT_IMPORTED:
		reply->rc = sim_session_export_imported(self.session, self.remote, my_function(), &reply->exported.key);
		break;
	case ACTOR_END_ALIAS:
		reply->rc = sim_session_unexport(self.session, request->key.id);
		break;
	case ACTOR_DETACH:
		detach();
		break;
	case ACTOR_COMPUTE:
		do_compute();
		break;
	case ACTOR_FORK:
		reply->pid = do_fork(request->abandon);
		break;
	}
}

static void run_actor(int ctl, const void *arg)
{
	struct actor_request request;

	self.ctl = ctl;
	while (recv(ctl, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		struct actor_reply reply = { 0 };

		execute(&request, &reply);
		proc_send(ctl, &reply, sizeof(reply));
	}
}

/* ---- in the test ---- */

void actor_begin(struct actor *actor, const struct actor_request *request)
{
	proc_send(actor->proc.ctl, request, sizeof(*request));
}

struct actor_reply actor_finish(struct actor *actor)
{
	struct actor_reply reply;

	proc_recv(actor->proc.ctl, &reply, sizeof(reply));
	return reply;
}

static struct actor_reply call(struct actor *actor, const struct actor_request *request)
{
	actor_begin(actor, request);
	return actor_finish(actor);
}

int actor_attach(struct actor *actor, const char *dir, const char *side, const char *path)
{
	struct actor_request request = { .op = ACTOR_ATTACH };

	proc_start(&actor->proc, run_actor, NULL);
	strncpy(request.dir, dir, sizeof(request.dir) - 1);
	strncpy(request.side, side, sizeof(request.side) - 1);
	strncpy(request.path, path ? path : "", sizeof(request.path) - 1);
	return call(actor, &request).rc;
}

int actor_export(struct actor *actor, enum actor_memory memory, struct actor_key *ret_key)
{
	static uint8_t next_fill;
	struct actor_request request = { .op = ACTOR_EXPORT, .memory = memory, .fill = ++next_fill % 0xff };
	struct actor_reply reply = call(actor, &request);

	*ret_key = reply.exported;
	return reply.rc;
}

int actor_unexport(struct actor *actor, const struct actor_key *key)
{
	struct actor_request request = { .op = ACTOR_UNEXPORT, .memory = key->number };

	return call(actor, &request).rc;
}

int actor_import(struct actor *actor, const struct actor_key *key)
{
	struct actor_request request = { .op = ACTOR_IMPORT, .key = key->key };
	struct actor_reply reply = call(actor, &request);

	memcpy(actor->path, reply.path, sizeof(actor->path));
	return reply.rc;
}

int actor_read(struct actor *actor, const struct actor_key *key)
{
	struct actor_request request = { .op = ACTOR_READ };
	struct actor_reply reply = call(actor, &request);

	if (reply.rc == 0)
		assert_int_equal(reply.fill, key->fill);
	return reply.rc;
}

int actor_write(struct actor *actor, uint8_t fill)
{
	struct actor_request request = { .op = ACTOR_WRITE, .fill = fill };

	return call(actor, &request).rc;
}

int actor_release(struct actor *actor)
{
	struct actor_request request = { .op = ACTOR_RELEASE };

	return call(actor, &request).rc;
}

int actor_export_imported(struct actor *actor, const struct actor_key *key, struct actor_key *ret_alias)
{
	struct actor_request request = { .op = ACTOR_EXPORT_IMPORTED };
	struct actor_reply reply = call(actor, &request);

	*ret_alias = *key;
	ret_alias->key = reply.exported.key;
	return reply.rc;
}

int actor_end_alias(struct actor *actor, const struct actor_key *alias)
{
	struct actor_request request = { .op = ACTOR_END_ALIAS, .key = alias->key };

	return call(actor, &request).rc;
}

pid_t actor_fork(struct actor *actor, bool abandon)
{
	struct actor_request request = { .op = ACTOR_FORK, .abandon = abandon };
	struct actor_reply reply = call(actor, &request);

	proc_adopt(reply.pid);
	return reply.pid;
}

void actor_detach(struct actor *actor)
{
	struct actor_request request = { .op = ACTOR_DETACH };

	call(actor, &request);
	proc_end(&actor->proc);
}

void actor_expect_served(const char *dir)
{
	struct actor host, dpu;
	struct actor_key key;

	assert_int_equal(actor_attach(&host, dir, "host", NULL), 0);
	assert_int_equal(actor_attach(&dpu, dir, "dpu", NULL), 0);
	assert_int_equal(actor_export(&host, ACTOR_MEMFD, &key), 0);
	assert_int_equal(actor_import(&dpu, &key), 0);
	assert_int_equal(actor_read(&dpu, &key), 0);
	assert_int_equal(actor_unexport(&host, &key), 0);
	actor_detach(&dpu);
	actor_detach(&host);
}
