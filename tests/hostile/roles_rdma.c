/* SPDX-License-Identifier: BSD-3-Clause */
/* A target and a requester of RDMA. */
#include "cmocka_test.h"
#include "roles_rdma.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../api/rdma_util.h"
#include "proc.h"

#define TALK_MS      60
#define PROBE_MS     50 /* a requester without answers writes, and so learns of the target's end */
#define END_MS       8000
#define WINDOW       4 /* messages without an answer */
#define NUM_RECEIVES 16
#define MAX_BYTES    12000 /* of a message: some records */
#define SLOTS        8     /* of a requester, in the target's memory */
#define SLOT_BYTES   512

/* The arena of either. */
#define ROOM_BYTES 16384 /* of a receive */
#define SLOTS_AT   (NUM_RECEIVES * ROOM_BYTES)
#define OUT_AT     (SLOTS_AT + PEER_CONNECTIONS * SLOTS * SLOT_BYTES)
#define SUM_AT     (OUT_AT + PEER_CONNECTIONS * WINDOW * ROOM_BYTES)
#define RESULTS_AT (SUM_AT + 8)
#define ARENA_END  (RESULTS_AT + PEER_TASKS * 8) /* an answer may be received before an earlier addition is reported */

_Static_assert(ARENA_END <= PEER_ARENA_BYTES, "the arena has room");

/* What an end tells the other one. */
struct offer {
	uint32_t index; /* of the target's connection */
	uint32_t is_unchecked;
	uint8_t connection[64], memory[64];
	uint64_t base;
};

struct requester {
	bool is_unchecked;
	uint64_t received;
};

static struct program_state {
	struct peer *peer, target; /* @target: where the target's arena is */
	int sock;
	doca_notification_handle_t handle; /* if it sleeps */
	bool sleeps, is_broken, is_wrong, is_closing;
	/* Of the target. */
	struct rdma_target_cfg target_cfg;
	struct requester requesters[PEER_CONNECTIONS];
	/* Of the requester. */
	struct rdma_requester_cfg requester_cfg;
	uint32_t index;
	uint64_t sent, answered, num_adds, last_sum;
	int64_t news_ms;
} self;

/* ---- memory ---- */

static uint8_t byte_of(uint64_t number, size_t i)
{
	return (uint8_t)(number * 31 + i * 7 + 1);
}

static size_t len_of(uint64_t number)
{
	return number % 8 == 7 ? MAX_BYTES : 16 + number * 57 % 600;
}

static void fill(uint8_t *at, uint64_t number, size_t len)
{
	memcpy(at, &number, sizeof(number));
	for (size_t i = sizeof(number); i < len; i++)
		at[i] = byte_of(number, i);
}

static bool is_filled(const uint8_t *at, uint64_t number, size_t len)
{
	bool is = memcmp(at, &number, sizeof(number)) == 0;

	for (size_t i = sizeof(number); i < len; i++)
		is &= at[i] == byte_of(number, i);
	return is;
}

static void fail_wrong(const char *what, uint64_t number)
{
	fprintf(stderr, "%s %llu is wrong\n", what, (unsigned long long)number);
	self.is_wrong = true;
}

static size_t slot_at(uint32_t index, uint64_t number)
{
	return SLOTS_AT + (index * SLOTS + number % SLOTS) * SLOT_BYTES;
}

static size_t out_at(uint32_t index, uint64_t number)
{
	return OUT_AT + (index * WINDOW + number % WINDOW) * ROOM_BYTES;
}

static void drop(const struct doca_buf *buf)
{
	MUST(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)buf, NULL));
}

/* ---- tasks ---- */

static void end_task(struct doca_task *task)
{
	if (doca_task_get_status(task) != DOCA_SUCCESS)
		self.is_broken = true;
	doca_task_free(task);
	self.peer->num_pending--;
}

static void on_send(struct doca_rdma_task_send *task, union doca_data user_data, union doca_data ctx_user_data)
{
	drop(doca_rdma_task_send_get_src_buf(task));
	end_task(doca_rdma_task_send_as_task(task));
}

static void on_write(struct doca_rdma_task_write *task, union doca_data user_data, union doca_data ctx_user_data)
{
	drop(doca_rdma_task_write_get_src_buf(task));
	drop(doca_rdma_task_write_get_dst_buf(task));
	end_task(doca_rdma_task_write_as_task(task));
}

/* The counter grows by 1 or more from one addition of a requester to the next. */
static void on_add(struct doca_rdma_task_atomic_fetch_add *task, union doca_data user_data,
		   union doca_data ctx_user_data)
{
	uint64_t before;

	memcpy(&before, self.peer->arena + RESULTS_AT + user_data.u64 % PEER_TASKS * 8, sizeof(before));
	if (doca_task_get_status(doca_rdma_task_atomic_fetch_add_as_task(task)) == DOCA_SUCCESS &&
	    !self.requester_cfg.is_unchecked) {
		if (self.num_adds++ > 0 && before <= self.last_sum)
			fail_wrong("the sum before addition", user_data.u64);
		self.last_sum = before;
	}
	drop(doca_rdma_task_atomic_fetch_add_get_dst_buf(task));
	drop(doca_rdma_task_atomic_fetch_add_get_result_buf(task));
	end_task(doca_rdma_task_atomic_fetch_add_as_task(task));
}

static void submit(struct doca_task *task, const struct doca_buf *first, const struct doca_buf *second)
{
	if (doca_task_submit(task) == DOCA_SUCCESS) {
		self.peer->num_pending++;
		return;
	}
	self.is_broken = true;
	drop(first);
	if (second)
		drop(second);
	doca_task_free(task);
}

static void send_on(uint32_t index, uint64_t number, size_t len)
{
	struct doca_buf *src = peer_buf(self.peer, out_at(index, number), ROOM_BYTES, len);
	struct doca_rdma_task_send *task;

	MUST(doca_rdma_task_send_allocate_init(self.peer->rdma, self.peer->connections[index], src,
					       (union doca_data){ .u64 = number }, &task));
	submit(doca_rdma_task_send_as_task(task), src, NULL);
}

static void write_slot(uint64_t number)
{
	struct doca_buf *src = peer_buf(self.peer, slot_at(0, number), SLOT_BYTES, SLOT_BYTES);
	struct doca_buf *dst = peer_remote_buf(self.peer, &self.target, slot_at(self.index, number), SLOT_BYTES, 0);
	struct doca_rdma_task_write *task;

	MUST(doca_rdma_task_write_allocate_init(self.peer->rdma, self.peer->connections[0], src, dst,
						(union doca_data){ .u64 = number }, &task));
	submit(doca_rdma_task_write_as_task(task), src, dst);
}

static void add_one(uint64_t number)
{
	struct doca_buf *dst = peer_remote_buf(self.peer, &self.target, SUM_AT, 8, 8);
	struct doca_buf *result = peer_buf(self.peer, RESULTS_AT + number % PEER_TASKS * 8, 8, 0);
	struct doca_rdma_task_atomic_fetch_add *task;

	MUST(doca_rdma_task_atomic_fetch_add_allocate_init(self.peer->rdma, self.peer->connections[0], dst, result, 1,
							   (union doca_data){ .u64 = number }, &task));
	submit(doca_rdma_task_atomic_fetch_add_as_task(task), dst, result);
}

static void post_receive(uint64_t room)
{
	struct doca_buf *dst = peer_buf(self.peer, room * ROOM_BYTES, ROOM_BYTES, 0);
	struct doca_rdma_task_receive *task;

	MUST(doca_rdma_task_receive_allocate_init(self.peer->rdma, dst, (union doca_data){ .u64 = room }, &task));
	submit(doca_rdma_task_receive_as_task(task), dst, NULL);
}

/* ---- messages ---- */

static void answer(uint32_t index, const uint8_t *bytes, size_t len)
{
	struct requester *requester = &self.requesters[index];
	uint64_t number = requester->received++;

	if (!requester->is_unchecked) {
		if (len != len_of(number) || !is_filled(bytes, number, len))
			fail_wrong("message", number);
		if (!is_filled(self.peer->arena + slot_at(index, number), number, SLOT_BYTES))
			fail_wrong("what was written before message", number);
	}
	fill(self.peer->arena + out_at(index, number), number, sizeof(number));
	send_on(index, number, sizeof(number));
}

static void take_answer(const uint8_t *bytes, size_t len)
{
	if (!self.requester_cfg.is_unchecked &&
	    (len != sizeof(uint64_t) || !is_filled(bytes, self.answered, sizeof(uint64_t))))
		fail_wrong("answer", self.answered);
	self.answered++;
}

static uint32_t index_of(const struct doca_rdma_connection *connection)
{
	uint32_t index = 0;

	while (index < PEER_CONNECTIONS && self.peer->connections[index] != connection)
		index++;
	return index;
}

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	bool is_whole = doca_task_get_status(doca_rdma_task_receive_as_task(task)) == DOCA_SUCCESS;
	uint32_t index = index_of(doca_rdma_task_receive_get_result_rdma_connection(task));
	const uint8_t *bytes = self.peer->arena + user_data.u64 * ROOM_BYTES;
	size_t len = doca_rdma_task_receive_get_result_len(task);

	self.news_ms = proc_now_ms();
	drop(doca_rdma_task_receive_get_dst_buf(task));
	doca_task_free(doca_rdma_task_receive_as_task(task));
	self.peer->num_pending--;
	if (is_whole && self.target_cfg.num_requesters > 0 && index < PEER_CONNECTIONS)
		answer(index, bytes, len);
	else if (is_whole)
		take_answer(bytes, len);
	if (!self.is_closing)
		post_receive(user_data.u64);
}

/* ---- life ---- */

/* The path "mapped" reaches a shared object only, which the start of the map finds. */
static void share_arena(struct peer *peer)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	CHECK(fd >= 0 && ftruncate(fd, PEER_ARENA_BYTES) == 0);
	MUST(doca_mmap_stop(peer->mmap));
	CHECK(mmap(peer->arena, PEER_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	MUST(doca_mmap_start(peer->mmap));
	close(fd);
}

static void open_program(int sock)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);

	self.peer = peer;
	self.sock = sock;
	if (strcmp(getenv("BFSIM_PATH"), "mapped") == 0)
		share_arena(peer);
	MUST(doca_rdma_task_receive_set_conf(peer->rdma, on_receive, on_receive, NUM_RECEIVES));
	MUST(doca_rdma_task_send_set_conf(peer->rdma, on_send, on_send, PEER_TASKS));
	MUST(doca_rdma_task_write_set_conf(peer->rdma, on_write, on_write, PEER_TASKS));
	MUST(doca_rdma_task_atomic_fetch_add_set_conf(peer->rdma, on_add, on_add, PEER_TASKS));
	MUST(doca_pe_get_notification_handle(peer->pe, &self.handle));
	MUST(doca_ctx_start(peer->ctx));
	for (uint64_t i = 0; i < NUM_RECEIVES && !self.target_cfg.posts_none; i++)
		post_receive(i);
}

void rdma_close(void)
{
	self.is_closing = true;
	peer_close(self.peer);
}

static void export_to(struct offer *offer)
{
	struct peer *peer = self.peer;
	const void *bytes;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &bytes, &len, &peer->connections[peer->num_connections++]));
	memcpy(offer->connection, bytes, sizeof(offer->connection));
	MUST(doca_mmap_export_rdma(peer->mmap, peer->dev, &bytes, &len));
	memcpy(offer->memory, bytes, sizeof(offer->memory));
	offer->base = (uintptr_t)peer->arena;
}

/* Take the requesters that have come. Returns false once all of them are gone. */
static bool meet_requesters(void)
{
	struct offer join;
	ssize_t got;

	while ((got = recv(self.sock, &join, sizeof(join), MSG_DONTWAIT)) == sizeof(join)) {
		CHECK(join.index < self.target_cfg.num_requesters);
		self.requesters[join.index].is_unchecked = join.is_unchecked;
		if (doca_rdma_connect(self.peer->rdma, join.connection, sizeof(join.connection),
				      self.peer->connections[join.index]) != DOCA_SUCCESS)
			self.is_broken = true; /* it was killed */
	}
	return got < 0;
}

/* Sleep if the program does; in steps, as a requester with nothing in flight does not learn of its peer's end. */
static void rest(void)
{
	struct pollfd fds[2] = { { .fd = self.handle, .events = POLLIN }, { .fd = self.sock, .events = POLLIN } };

	if (!self.sleeps)
		return;
	MUST(doca_pe_request_notification(self.peer->pe));
	poll(fds, self.target_cfg.num_requesters > 0 ? 2 : 1, 20);
	MUST(doca_pe_clear_notification(self.peer->pe, self.handle));
}

static bool step(void)
{
	bool is_any = doca_pe_progress(self.peer->pe);

	if (!is_any)
		rest();
	return is_any;
}

void rdma_target_open(const struct bout *bout, const struct rdma_target_cfg *cfg, int sock)
{
	self.target_cfg = *cfg;
	self.sleeps = bout->round % 2;
	open_program(sock);
	for (uint32_t i = 0; i < cfg->num_requesters; i++) {
		struct offer offer = { .index = i };

		export_to(&offer);
		send(sock, &offer, sizeof(offer), MSG_NOSIGNAL);
	}
}

static void check_sum(void)
{
	uint64_t sum, received = 0;

	memcpy(&sum, self.peer->arena + SUM_AT, sizeof(sum));
	for (int i = 0; i < PEER_CONNECTIONS; i++)
		received += self.requesters[i].received;
	if (sum != received)
		fail_wrong("the sum of messages", received);
}

int rdma_target_run(void)
{
	int64_t end = proc_now_ms() + self.target_cfg.ms;

	while ((self.target_cfg.ms == 0 || proc_now_ms() < end) && meet_requesters())
		step();
	while (doca_pe_progress(self.peer->pe))
		;
	if (self.target_cfg.is_sum_checked && !self.is_broken)
		check_sum();
	if (self.is_wrong)
		return ROLE_WRONG;
	return self.is_broken ? ROLE_REFUSED : ROLE_DONE;
}

void rdma_requester_open(const struct rdma_requester_cfg *cfg, int sock)
{
	struct offer offer, join = { .is_unchecked = cfg->is_unchecked };

	self.requester_cfg = *cfg;
	open_program(sock);
	if (recv(sock, &offer, sizeof(offer), 0) != sizeof(offer))
		_exit(ROLE_REFUSED);
	self.index = join.index = offer.index;
	self.target.arena = (uint8_t *)(uintptr_t)offer.base;
	export_to(&join);
	if (doca_mmap_create_from_export(NULL, offer.memory, sizeof(offer.memory), self.peer->dev,
					 &self.peer->remote) != DOCA_SUCCESS ||
	    doca_rdma_connect(self.peer->rdma, offer.connection, sizeof(offer.connection), self.peer->connections[0]) !=
		    DOCA_SUCCESS)
		_exit(ROLE_REFUSED); /* the target was killed */
	send(sock, &join, sizeof(join), MSG_NOSIGNAL);
}

static void request_next(void)
{
	uint64_t number = self.sent++;

	fill(self.peer->arena + slot_at(0, number), number, SLOT_BYTES);
	fill(self.peer->arena + out_at(0, number), number, len_of(number));
	add_one(number);
	write_slot(number);
	send_on(0, number, len_of(number));
}

/* Message n + SLOTS is written to where message n was: its answer has come. */
static bool may_request(void)
{
	return self.sent < self.answered + WINDOW && !self.is_broken && self.peer->num_pending < PEER_TASKS / 2;
}

static void probe(void)
{
	if (self.is_broken || self.peer->num_pending >= PEER_TASKS / 2)
		return;
	self.news_ms = proc_now_ms();
	if (self.sent > 0)
		write_slot(self.sent - 1);
}

static bool has_more(int64_t end)
{
	const struct rdma_requester_cfg *cfg = &self.requester_cfg;

	return cfg->num_messages > 0 ? self.sent < cfg->num_messages : proc_now_ms() < end;
}

int rdma_requester_run(void)
{
	int64_t now = proc_now_ms(), end = now + (self.requester_cfg.ms ? self.requester_cfg.ms : TALK_MS);

	self.news_ms = now;
	while (!self.is_broken && (has_more(end) || (self.answered < self.sent && !self.requester_cfg.is_unchecked))) {
		while (has_more(end) && may_request())
			request_next();
		step();
		now = proc_now_ms();
		if (now > self.news_ms + PROBE_MS)
			probe();
		if (now > end + END_MS && self.requester_cfg.num_messages == 0) {
			fprintf(stderr, "%llu messages, %llu answers\n", (unsigned long long)self.sent,
				(unsigned long long)self.answered);
			return ROLE_WRONG;
		}
	}
	if (self.is_wrong)
		return ROLE_WRONG;
	return self.is_broken ? ROLE_REFUSED : ROLE_DONE;
}

/* ---- changed descriptors ---- */

static void change(struct bout *bout, struct offer *offer)
{
	uint8_t *bytes = bout_random(bout, 2) ? offer->connection : offer->memory;

	for (uint64_t i = bout_random(bout, 4); i > 0; i--)
		bytes[bout_random(bout, 64)] ^= (uint8_t)(1u << bout_random(bout, 8));
	if (bout_random(bout, 8) == 0)
		memcpy(offer->connection, offer->memory, sizeof(offer->connection));
}

int rdma_connect_changed(struct bout *bout, int sock, unsigned int count)
{
	struct offer offer, changed;
	struct doca_mmap *map;

	open_program(sock);
	CHECK(recv(sock, &offer, sizeof(offer), 0) == sizeof(offer));
	export_to(&changed);
	for (unsigned int i = 0; i < count; i++) {
		bool is_same;

		changed = offer;
		change(bout, &changed);
		is_same = memcmp(changed.connection, offer.connection, sizeof(offer.connection)) == 0;
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
		if (!is_same && doca_rdma_connect(self.peer->rdma, changed.connection, bout_random(bout, 80),
						  self.peer->connections[0]) == DOCA_SUCCESS)
			fail_wrong("a connection by changed descriptor", i);
		is_same = memcmp(changed.memory, offer.memory, sizeof(offer.memory)) == 0;
		if (doca_mmap_create_from_export(NULL, changed.memory, sizeof(changed.memory), self.peer->dev, &map) ==
		    DOCA_SUCCESS) {
			if (!is_same)
				fail_wrong("a map by changed descriptor", i);
			MUST(doca_mmap_destroy(map));
		}
	}
	rdma_close();
	return self.is_wrong ? ROLE_WRONG : ROLE_DONE;
}
