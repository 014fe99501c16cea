/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of two processes that are connected by Comch's fast path: a producer on the host, a consumer on the DPU. The
 * program under test is one of them; the other one does what it should. */
#include "comch_pair.h"

#include <bfsim.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DPU_DEVICE  "03:00.0"
#define HOST_DEVICE "b1:00.0"

/* ---- the two processes ---- */

static void run_half(struct bfsim_session *session, racebench_half *half, bool is_dpu,
		     const struct racebench_args *args, int socket)
{
	struct side side = { .is_dpu = is_dpu, .is_busy = true, .sync_fd = socket };

	CHECK(bfsim_session_enter(session, is_dpu ? "dpu" : "host") == 0);
	side.dev = comch_open(is_dpu ? DPU_DEVICE : HOST_DEVICE);
	if (is_dpu)
		side.rep = comch_open_rep(side.dev, HOST_DEVICE);
	MUST(doca_pe_create(&side.pe));
	comch_meet(&side);
	half(&side, args);
	MUST(doca_pe_destroy(side.pe));
	if (is_dpu)
		MUST(doca_dev_rep_close(side.rep));
	MUST(doca_dev_close(side.dev));
	exit(0);
}

static pid_t start_half(struct bfsim_session *session, racebench_half *half, bool is_dpu,
			const struct racebench_args *args, const int *sockets)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(sockets[is_dpu]);
	run_half(session, half, is_dpu, args, sockets[!is_dpu]);
	return 0;
}

/* When one process fails, its peer would wait for it. */
void racebench_run_both(racebench_half *dpu, racebench_half *host, const struct racebench_args *args)
{
	struct bfsim_session *session;
	int sockets[2], status;
	pid_t pids[2], ended;
	bool is_bad = false;

	CHECK(bfsim_session_start(NULL, &session) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
	pids[0] = start_half(session, dpu, true, args, sockets);
	pids[1] = start_half(session, host, false, args, sockets);
	close(sockets[0]);
	close(sockets[1]);
	for (int i = 0; i < 2; i++) {
		ended = wait(&status);
		CHECK(ended == pids[0] || ended == pids[1]);
		is_bad |= status != 0;
		if (i == 0 && is_bad)
			kill(pids[ended == pids[0]], SIGKILL);
	}
	CHECK(bfsim_session_stop(session) == 0);
	if (is_bad)
		exit(1);
}

/* ---- what the other process does ---- */

#define NUM_MESSAGES 3
#define SLOT(i)      ((size_t)(i)*AREA_BYTES)

/* Consume @count messages, each into a buffer of its own. */
static void consume(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	side->is_quiet = true;
	fast_open_dpu(&fast, side);
	for (uint64_t i = 0; i < NUM_MESSAGES; i++)
		fast_post(fast.consumer, i, arena_empty(fast.arena, SLOT(i), args->len));
	comch_sync_send(side, 0);
	(void)comch_sync_recv_progressing(side);
	fast_close(&fast);
}

static struct doca_buf *message(struct fast *fast, const struct racebench_args *args, size_t offset)
{
	struct doca_buf *buf = arena_empty(fast->arena, offset, args->len);

	MUST(doca_buf_set_data(buf, fast->arena->bytes + offset, args->len));
	return buf;
}

static void await_sent(struct side *side, uint32_t count)
{
	comch_until(side, side->num_sent == count);
}

/* Produce one message when the consumer has posted and done what it does. */
static void produce(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	side->is_quiet = true;
	fast_open_host(&fast, side);
	for (size_t i = 0; i < args->len; i++)
		fast.arena->bytes[i] = rig_byte(i);
	(void)comch_sync_recv_progressing(side);
	fast_put(fast.producer, 1, message(&fast, args, 0), NULL, fast.peer);
	await_sent(side, 1);
	comch_sync_send(side, 0);
	fast_close(&fast);
}

/* ---- touches ---- */

struct byte {
	uint8_t *addr;
	uint8_t value;
};

static void write_byte(void *arg)
{
	const struct byte *byte = arg;

	*byte->addr = byte->value;
}

static void write_at(struct fast *fast, const struct racebench_args *args, size_t offset, uint8_t value)
{
	struct byte byte = { fast->arena->bytes + offset + args->at, value };

	if (args->in_other_thread)
		racebench_in_thread(write_byte, &byte);
	else
		write_byte(&byte);
}

/* ---- producers ---- */

static void begin_producer(struct fast *fast, struct side *side)
{
	side->is_quiet = true;
	fast_open_host(fast, side);
	(void)comch_sync_recv_progressing(side);
}

static void end_producer(struct fast *fast, struct side *side)
{
	comch_sync_send(side, 0);
	fast_close(fast);
}

static void modify_at_once(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_producer(&fast, side);
	fast_put(fast.producer, 1, message(&fast, args, 0), NULL, fast.peer);
	write_at(&fast, args, 0, 0x77);
	await_sent(side, 1);
	end_producer(&fast, side);
}

static void reuse_at_once(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_producer(&fast, side);
	for (uint64_t i = 0; i < NUM_MESSAGES; i++) {
		memset(fast.arena->bytes, (int)i + 1, args->len);
		fast_put(fast.producer, i, message(&fast, args, 0), NULL, fast.peer);
	}
	await_sent(side, NUM_MESSAGES);
	end_producer(&fast, side);
}

static void modify_after_completion(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_producer(&fast, side);
	for (uint32_t i = 0; i < NUM_MESSAGES; i++) {
		fast_put(fast.producer, i, message(&fast, args, 0), NULL, fast.peer);
		await_sent(side, i + 1);
		write_at(&fast, args, 0, (uint8_t)(0x70 + i));
	}
	end_producer(&fast, side);
}

static void send_from_each_buffer(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_producer(&fast, side);
	for (uint64_t i = 0; i < NUM_MESSAGES; i++) {
		memset(fast.arena->bytes + SLOT(i), (int)i + 1, args->len);
		fast_put(fast.producer, i, message(&fast, args, SLOT(i)), NULL, fast.peer);
	}
	await_sent(side, NUM_MESSAGES);
	end_producer(&fast, side);
}

static void send_one_buffer_twice(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_producer(&fast, side);
	fast_put(fast.producer, 1, message(&fast, args, 0), NULL, fast.peer);
	fast_put(fast.producer, 2, message(&fast, args, 0), NULL, fast.peer);
	racebench_use(fast.arena->bytes[args->at] == 0);
	await_sent(side, 2);
	end_producer(&fast, side);
}

/* ---- consumers ---- */

static bool has_message(const struct fast *fast, const struct racebench_args *args, size_t offset)
{
	for (size_t i = 0; i < args->len; i++)
		if (fast->arena->bytes[offset + i] != rig_byte(i))
			return false;
	return true;
}

static void begin_consumer(struct fast *fast, struct side *side, const struct racebench_args *args)
{
	fast_open_dpu(fast, side);
	fast_post(fast->consumer, 1, arena_empty(fast->arena, 0, args->len));
}

static void end_consumer(struct fast *fast, struct side *side, const struct racebench_args *args)
{
	comch_until(side, strstr(side->trace, "got"));
	(void)comch_sync_recv_progressing(side);
	fast_close(fast);
}

static void write_posted(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	write_at(&fast, args, 0, 0x77);
	comch_sync_send(side, 0);
	end_consumer(&fast, side, args);
}

/* As if a message were there as soon as a buffer is posted. */
static void read_posted(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	racebench_use(has_message(&fast, args, 0));
	comch_sync_send(side, 0);
	end_consumer(&fast, side, args);
}

static void post_twice(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	fast_post(fast.consumer, 2, arena_empty(fast.arena, args->at, args->len));
	comch_sync_send(side, 0);
	end_consumer(&fast, side, args);
}

static void touch_after_message(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	comch_sync_send(side, 0);
	comch_until(side, strstr(side->trace, "got"));
	racebench_use(has_message(&fast, args, 0));
	write_at(&fast, args, 0, 0x77);
	end_consumer(&fast, side, args);
}

static void write_neighbours(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	fast_post(fast.consumer, 2, arena_empty(fast.arena, args->len + 64, args->len));
	write_at(&fast, args, args->len, 0x77);
	comch_sync_send(side, 0);
	end_consumer(&fast, side, args);
}

static void post_again_after_message(struct side *side, const struct racebench_args *args)
{
	struct fast fast;

	begin_consumer(&fast, side, args);
	comch_sync_send(side, 0);
	comch_until(side, strstr(side->trace, "got"));
	fast_post(fast.consumer, 2, arena_empty(fast.arena, 0, args->len));
	end_consumer(&fast, side, args);
}

/* ---- the table ---- */

#define PRODUCER(name, producer)                             \
	static void name(const struct racebench_args *args)  \
	{                                                    \
		racebench_run_both(consume, producer, args); \
	}
#define CONSUMER(name, consumer)                             \
	static void name(const struct racebench_args *args)  \
	{                                                    \
		racebench_run_both(consumer, produce, args); \
	}

PRODUCER(producer_modifies, modify_at_once)
PRODUCER(producer_reuses, reuse_at_once)
PRODUCER(producer_waits, modify_after_completion)
PRODUCER(producer_has_buffers, send_from_each_buffer)
PRODUCER(producer_sends_twice, send_one_buffer_twice)
CONSUMER(consumer_writes, write_posted)
CONSUMER(consumer_reads, read_posted)
CONSUMER(consumer_posts_twice, post_twice)
CONSUMER(consumer_waits, touch_after_message)
CONSUMER(consumer_writes_neighbours, write_neighbours)
CONSUMER(consumer_posts_again, post_again_after_message)

#define P(name, function, ...) RACEBENCH_PROGRAM(comch, name, 2, run, function, __VA_ARGS__)

const struct racebench_program comch_programs[] = {
	P(producer_modifies_source_racy, producer_modifies, RACEBENCH_SMALL),
	P(producer_modifies_source_64k_racy, producer_modifies, RACEBENCH_BYTES(65536, 0)),
	P(producer_modifies_source_by_thread_racy, producer_modifies, RACEBENCH_SMALL, .in_other_thread = true),
	P(producer_reuses_buffer_racy, producer_reuses, RACEBENCH_SMALL),
	P(consumer_writes_posted_racy, consumer_writes, RACEBENCH_SMALL),
	P(consumer_writes_posted_by_thread_racy, consumer_writes, RACEBENCH_SMALL, .in_other_thread = true),
	P(consumer_reads_posted_racy, consumer_reads, RACEBENCH_SMALL),
	P(consumer_reads_posted_64k_racy, consumer_reads, RACEBENCH_LARGE),
	P(consumer_posts_buffer_twice_racy, consumer_posts_twice, RACEBENCH_BYTES(64, 0)),
	P(consumer_posts_overlap_racy, consumer_posts_twice, RACEBENCH_BYTES(64, 63)),
	P(producer_modifies_after_clean, producer_waits, RACEBENCH_SMALL),
	P(producer_modifies_after_64k_clean, producer_waits, RACEBENCH_LARGE),
	P(producer_modifies_after_by_thread_clean, producer_waits, RACEBENCH_SMALL, .in_other_thread = true),
	P(producer_has_three_buffers_clean, producer_has_buffers, RACEBENCH_SMALL),
	P(producer_sends_buffer_twice_clean, producer_sends_twice, RACEBENCH_SMALL),
	P(consumer_waits_clean, consumer_waits, RACEBENCH_SMALL),
	P(consumer_waits_64k_clean, consumer_waits, RACEBENCH_LARGE),
	P(consumer_waits_by_thread_clean, consumer_waits, RACEBENCH_SMALL, .in_other_thread = true),
	P(consumer_writes_neighbours_clean, consumer_writes_neighbours, RACEBENCH_SMALL),
	P(consumer_posts_again_clean, consumer_posts_again, RACEBENCH_SMALL),
	{ 0 },
};
