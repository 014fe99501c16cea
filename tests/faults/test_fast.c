/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at Comch's fast path: a producer's messages, and a consumer's receives.
 *
 * In each cell the DPU's consumer posts five receives, the host's producer sends four texts, and a fault hits the
 * second send or the second receive. */
#include <bfsim.h>

#include "cell.h"
#include "other.h"
#include "tests/api/comch_fast.h"

#define ROOM      64 /* bytes of a receive */
#define NUM_RECVS 5
#define LARGE     1000

static const char *const texts[] = { "one", "two", "three", "four" };

static bool is_at_receiver(void)
{
	return strcmp(cell->op, "comch.consumer.recv") == 0;
}

/* ---- traces ---- */

/* All @lines are in the trace, in any order: contexts take turns. */
static bool has_lines(const char *trace, const char *lines)
{
	char line[128];

	for (; *lines; lines = strchr(lines, '\n') + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(strchr(lines, '\n') + 1 - lines), lines);
		if (!strstr(trace, line))
			return false;
	}
	return true;
}

static void expect(struct side *side, const char *lines)
{
	if (!cell_is("break")) {
		comch_expect(side, lines);
		return;
	}
	comch_until(side, has_lines(side->trace, lines));
	if (strlen(side->trace) != strlen(lines))
		check_fail(__FILE__, __LINE__, "trace", side->trace, lines);
	comch_forget(side);
}

static unsigned int num_wrong_bits(const uint8_t *bytes, const char *text, size_t len)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < len; i++)
		wrong += (unsigned int)__builtin_popcount(bytes[i] ^ (uint8_t)text[i]);
	return wrong;
}

static bool has_four_lines(const char *trace)
{
	int count = 0;

	for (; *trace; trace++)
		count += *trace == '\n';
	return count == 4;
}

static void expect_flip(struct side *side, const struct arena *arena)
{
	comch_until(side, has_four_lines(side->trace));
	comch_forget(side);
	for (int i = 0; i < 4; i++)
		CHECK(num_wrong_bits(arena->bytes + (i + 1) * ROOM, texts[i], strlen(texts[i])) == (i == 1));
}

/* ---- the two sides ---- */

static void post(struct fast *fast, uint64_t number)
{
	struct doca_buf *buf = arena_empty(fast->arena, (size_t)number * ROOM, ROOM);
	struct doca_task *task = doca_comch_consumer_task_post_recv_as_task(fast_recv(fast->consumer, number, buf));
	bool is_refused = is_at_receiver() && cell_is("refuse") && number == 2;

	EXPECT(doca_task_submit(task), is_refused ? DOCA_ERROR_AGAIN : DOCA_SUCCESS);
	if (!is_refused)
		return;
	doca_task_free(task);
	MUST(doca_buf_dec_refcount(buf, NULL));
}

static void receives_dpu(struct side *side)
{
	struct comch_actor *other;
	struct fast fast;

	fast_open_dpu(&fast, side);
	comch_forget(side);
	comch_meet_progressing(side);
	other = other_serve(side);
	if (is_at_receiver())
		cell_arm();
	for (uint64_t number = 1; number <= NUM_RECVS; number++)
		post(&fast, number);
	comch_meet(side);
	if (cell_is("flip"))
		expect_flip(side, fast.arena);
	else
		expect(side, cell->on_dpu);
	if (cell_is("delay"))
		CHECK(cell_since_ns(comch_sync_recv(side)) >= CELL_DELAY_NS);
	if (is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	other_use_dpu(side, other);
	fast_close(&fast);
}

static void put_all(struct fast *fast)
{
	for (uint64_t i = 0; i < 4; i++) {
		struct doca_buf *buf = arena_text(fast->arena, (size_t)i * ROOM, texts[i]);
		bool is_refused = !is_at_receiver() && cell_is("refuse") && i == 1;

		EXPECT(fast_try(fast->producer, i + 1, buf, NULL, fast->peer),
		       is_refused ? DOCA_ERROR_AGAIN : DOCA_SUCCESS);
		if (is_refused)
			MUST(doca_buf_dec_refcount(buf, NULL));
	}
}

/* A hanging task completes when the context is stopped, and holds up the completions after it until then. */
static void end_what_hangs(struct side *side, struct fast *fast)
{
	EXPECT(doca_ctx_stop(fast->actor->ctx), DOCA_ERROR_IN_PROGRESS);
	comch_expect(side, "producer: running -> stopping\nput 2 failed: DOCA_ERROR_IO_FAILED\nput 3\nput 4\n"
			   "producer: stopping -> idle\n");
}

static void sends_host(struct side *side)
{
	struct comch_actor *other;
	struct fast fast;
	uint64_t begin_ns;

	fast_open_host(&fast, side);
	comch_meet_progressing(side);
	other = other_call(side);
	if (!is_at_receiver())
		cell_arm();
	comch_meet(side);
	begin_ns = bfsim_now_ns();
	put_all(&fast);
	expect(side, cell->on_host);
	if (cell_is("delay") && !is_at_receiver())
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	if (cell_is("delay"))
		comch_sync_send(side, begin_ns);
	if (!is_at_receiver())
		cell_expect_hit();
	comch_meet(side);
	if (cell_is("hang") && !is_at_receiver())
		end_what_hangs(side, &fast);
	other_use_host(side, other);
	fast_close(&fast);
}

/* ---- a producer that leaves at once ---- */

static void left_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	comch_forget(side);
	comch_meet_progressing(side);
	for (uint64_t number = 1; number <= NUM_RECVS; number++)
		post(&fast, number);
	comch_meet(side);
	comch_expect(side, cell->on_dpu);
	fast_close(&fast);
}

static void left_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_meet_progressing(side);
	cell_arm();
	comch_meet(side);
	put_all(&fast);
	expect(side, cell->on_host);
	cell_expect_hit();
	fast_close(&fast);
}

/* ---- a message that is written directly into the consumer's memory ---- */

static void large_dpu(struct side *side)
{
	struct fast fast;
	char sent[LARGE];

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, LARGE));
	comch_meet_progressing(side);
	comch_expect(side, "got 1: 1000 bytes\n");
	for (size_t i = 0; i < LARGE; i++)
		sent[i] = (char)i;
	CHECK(num_wrong_bits(fast.arena->bytes, sent, LARGE) == 2);
	comch_meet_progressing(side);
	fast_close(&fast);
}

static void large_host(struct side *side)
{
	struct doca_buf *buf;
	struct fast fast;

	fast_open_host(&fast, side);
	buf = arena_empty(fast.arena, 0, LARGE);
	for (size_t i = 0; i < LARGE; i++)
		fast.arena->bytes[i] = (uint8_t)i;
	MUST(doca_buf_set_data(buf, fast.arena->bytes, LARGE));
	cell_arm();
	comch_meet_progressing(side);
	fast_put(fast.producer, 1, buf, NULL, fast.peer);
	comch_expect(side, "put 1\n");
	for (size_t i = 0; i < LARGE; i++)
		CHECK(fast.arena->bytes[i] == (uint8_t)i); /* the sender's own are as they were */
	cell_expect_hit();
	comch_meet_progressing(side);
	fast_close(&fast);
}

#define GOT_ALL    "got 1: \"one\"\ngot 2: \"two\"\ngot 3: \"three\"\ngot 4: \"four\"\n"
#define GOT_OTHERS "got 1: \"one\"\ngot 2: \"three\"\ngot 3: \"four\"\n"
#define PUT_ALL    "put 1\nput 2\nput 3\nput 4\n"
#define RECVS_LOST                                                                                 \
	"recv 2 failed: DOCA_ERROR_CONNECTION_RESET\nrecv 3 failed: DOCA_ERROR_CONNECTION_RESET\n" \
	"recv 4 failed: DOCA_ERROR_CONNECTION_RESET\nrecv 5 failed: DOCA_ERROR_CONNECTION_RESET\n"
#define PRODUCER_ENDED "producer: running -> stopping\n"

static const struct cell cells[] = {
	{ "comch.producer.send", "refuse", "nth=2 refuse", receives_dpu, sends_host, GOT_OTHERS,
	  "put 1\nput 3\nput 4\n" },
	{ "comch.producer.send", "delay", "nth=2 delay=500ms", receives_dpu, sends_host, GOT_ALL, PUT_ALL },
	{ "comch.producer.send", "fail", "nth=2 fail=TIME_OUT", receives_dpu, sends_host, "got 1: \"one\"\n",
	  "put 1\n" PRODUCER_ENDED "put 2 failed: DOCA_ERROR_TIME_OUT\nput 3 failed: DOCA_ERROR_IO_FAILED\n"
	  "put 4 failed: DOCA_ERROR_IO_FAILED\nproducer: stopping -> idle\n" },
	{ "comch.producer.send", "hang", "nth=2 hang", receives_dpu, sends_host, GOT_OTHERS, "put 1\n" },
	{ "comch.producer.send", "drop", "nth=2 drop", receives_dpu, sends_host, GOT_OTHERS, PUT_ALL },
	{ "comch.producer.send", "duplicate", "nth=2 duplicate", receives_dpu, sends_host,
	  "got 1: \"one\"\ngot 2: \"two\"\ngot 3: \"two\"\ngot 4: \"three\"\ngot 5: \"four\"\n", PUT_ALL },
	{ "comch.producer.send", "reorder", "nth=2 reorder=1", receives_dpu, sends_host,
	  "got 1: \"one\"\ngot 3: \"three\"\ngot 2: \"two\"\ngot 4: \"four\"\n", PUT_ALL },
	{ "comch.producer.send", "reorder", "nth=4 reorder=3", receives_dpu, sends_host, GOT_ALL,
	  PUT_ALL }, /* no message follows */
	{ "comch.producer.send", "reorder", "nth=4 reorder=3", left_dpu, left_host, GOT_ALL, PUT_ALL },
	{ "comch.producer.send", "truncate", "nth=2 truncate=1", receives_dpu, sends_host,
	  "got 1: \"one\"\ngot 2: \"t\"\ngot 3: \"three\"\ngot 4: \"four\"\n", PUT_ALL },
	{ "comch.producer.send", "flip", "nth=2 flip=1", receives_dpu, sends_host, NULL, PUT_ALL },
	{ "comch.producer.send", "flip", "size>=1000 nth=1 flip=2", large_dpu, large_host, NULL, NULL },
	{ "comch.producer.send", "break", "nth=2 break", receives_dpu, sends_host,
	  "got 1: \"one\"\ndisconnected\nconsumer: running -> stopping\n" RECVS_LOST "consumer: stopping -> idle\n",
	  "put 1\n" PRODUCER_ENDED "put 2 failed: DOCA_ERROR_CONNECTION_ABORTED\nput 3 failed: DOCA_ERROR_IO_FAILED\n"
	  "put 4 failed: DOCA_ERROR_IO_FAILED\nproducer: stopping -> idle\n"
	  "client: running -> stopping\nclient: stopping -> idle\n" },
	{ "comch.consumer.recv", "refuse", "nth=2 refuse", receives_dpu, sends_host,
	  "got 1: \"one\"\ngot 3: \"two\"\ngot 4: \"three\"\ngot 5: \"four\"\n", PUT_ALL },
	{ "comch.consumer.recv", "delay", "nth=2 delay=500ms", receives_dpu, sends_host, GOT_ALL, PUT_ALL },
	{ "comch.consumer.recv", "fail", "nth=2 fail=TIME_OUT", receives_dpu, sends_host,
	  "got 1: \"one\"\nrecv 2 failed: DOCA_ERROR_TIME_OUT\ngot 3: \"three\"\ngot 4: \"four\"\n", PUT_ALL },
	{ "comch.consumer.recv", "hang", "nth=2 hang", receives_dpu, sends_host,
	  "got 1: \"one\"\ngot 3: \"three\"\ngot 4: \"four\"\n", PUT_ALL },
	{ "comch.consumer.recv", "flip", "nth=2 flip=1", receives_dpu, sends_host, NULL, PUT_ALL },
};

int main(void)
{
	return cell_run("fast", cells, sizeof(cells) / sizeof(cells[0]));
}
