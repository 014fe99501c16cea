/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at tasks of SHA.
 *
 * Three tasks are submitted, and a fault hits the second one, or the third, if its end never comes. A failed task
 * leaves the part of its output that the rule says, and adds no data. A flip shows in the output. */
#include <bfsim.h>
#include <doca_sha.h>

#include "cell.h"
#include "tasks.h"
#include "tests/api/comch_fast.h"
#include "doca_check.h"

#define BYTES        64 /* of a message */
#define DIGEST_BYTES 32
#define NUM          3

/* An engine's tasks: three sources, three destinations. */
struct engine {
	struct comch_actor *actor;
	struct arena *arena;
	struct doca_buf *src[NUM + 1], *dst[NUM + 1];
};

static size_t place(int number)
{
	return (size_t)number * BYTES;
}

/* Message @number is 64 times its number. */
static void make_buffers(struct engine *engine)
{
	for (int i = 1; i <= NUM; i++) {
		engine->src[i] = arena_empty(engine->arena, place(i), BYTES);
		engine->dst[i] = arena_empty(engine->arena, place(NUM + i), BYTES);
		memset(engine->arena->bytes + place(i), i, BYTES);
		MUST(doca_buf_set_data(engine->src[i], engine->arena->bytes + place(i), BYTES));
	}
}

static void close_engine(struct engine *engine)
{
	free(engine->actor);
	for (int i = 1; i <= NUM; i++) {
		MUST(doca_buf_dec_refcount(engine->src[i], NULL));
		MUST(doca_buf_dec_refcount(engine->dst[i], NULL));
	}
	arena_close(engine->arena);
}

static size_t data_len(const struct doca_buf *buf)
{
	size_t len;

	MUST(doca_buf_get_data_len(buf, &len));
	return len;
}

static bool has_succeeded(int number)
{
	if (cell_is("fail"))
		return number < 2;
	return !(cell_is("refuse") && number == 2) && !(cell_is("hang") && number == 3);
}

/* ---- SHA ---- */

/* SHA-256 of 64 bytes that are 1, 2 and 3 (by sha256sum). */
static const uint8_t digests[NUM + 1][DIGEST_BYTES] = {
	{ 0 },
	{ 0x7c, 0x89, 0x75, 0xe1, 0xe6, 0x0a, 0x5c, 0x83, 0x37, 0xf2, 0x8e, 0xdf, 0x8c, 0x33, 0xc3, 0xb1,
	  0x80, 0x36, 0x0b, 0x72, 0x79, 0x64, 0x4a, 0x9b, 0xc1, 0xaf, 0x3c, 0x51, 0xe6, 0x22, 0x0b, 0xf5 },
	{ 0xf8, 0x3b, 0x33, 0x2b, 0xe4, 0xe6, 0xa5, 0xa4, 0xb1, 0xc5, 0x6a, 0xaf, 0x6d, 0xb5, 0x26, 0x57,
	  0xda, 0x49, 0x5e, 0x14, 0x98, 0x70, 0x05, 0x7d, 0x85, 0x90, 0xab, 0x9d, 0x7a, 0x61, 0x67, 0xad },
	{ 0x6a, 0xa5, 0x6c, 0x4b, 0xcd, 0x20, 0x89, 0x11, 0x79, 0x2a, 0xd2, 0x4c, 0x76, 0x81, 0xfe, 0xfb,
	  0x93, 0xbe, 0xd5, 0x19, 0x03, 0xaf, 0xc5, 0x48, 0x60, 0xc9, 0xbd, 0x37, 0xe4, 0x1e, 0x5a, 0x31 },
};

static unsigned int wrong_bits(const struct engine *engine, int number, size_t begin, size_t end)
{
	const uint8_t *output = engine->arena->bytes + place(NUM + number);
	unsigned int wrong = 0;

	for (size_t i = begin; i < end; i++)
		wrong += (unsigned int)__builtin_popcount(output[i] ^ digests[number][i]);
	return wrong;
}

static void expect_digest(const struct engine *engine, int number)
{
	static const uint8_t nothing[BYTES];
	const uint8_t *output = engine->arena->bytes + place(NUM + number);

	CHECK(data_len(engine->dst[number]) == (has_succeeded(number) ? DIGEST_BYTES : 0));
	if (number == 2 && cell_is("fail")) {
		CHECK(wrong_bits(engine, number, 0, BYTES / 4) == 0);
		CHECK(memcmp(output + BYTES / 4, nothing, BYTES - BYTES / 4) == 0);
	} else if (has_succeeded(number)) {
		CHECK(wrong_bits(engine, number, 0, DIGEST_BYTES) == (number == 2 && cell_is("flip") ? 1 : 0));
	} else if (!cell_is("hang")) {
		CHECK(memcmp(output, nothing, BYTES) == 0);
	}
}

static void on_hash(struct doca_sha_task_hash *task, union doca_data number, union doca_data data)
{
	tasks_note(doca_sha_task_hash_as_task(task), "hash", number);
}

static void on_partial(struct doca_sha_task_partial_hash *task, union doca_data number, union doca_data data)
{
	if (doca_task_get_status(doca_sha_task_partial_hash_as_task(task)) == DOCA_SUCCESS)
		CHECK(doca_sha_task_partial_hash_get_has_result(task));
	else
		CHECK(!doca_sha_task_partial_hash_get_has_result(task));
	tasks_note(doca_sha_task_partial_hash_as_task(task), "hash", number);
}

static struct doca_task *make_hash(struct doca_sha *sha, const struct engine *engine, int number)
{
	const union doca_data user_data = { .u64 = (uint64_t)number };
	struct doca_sha_task_partial_hash *partial;
	struct doca_sha_task_hash *hash;

	if (strcmp(cell->op, "sha.hash") == 0) {
		MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, engine->src[number],
						   engine->dst[number], user_data, &hash));
		return doca_sha_task_hash_as_task(hash);
	}
	MUST(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, engine->src[number],
						   engine->dst[number], user_data, &partial));
	MUST(doca_sha_task_partial_hash_set_is_final_buf(partial));
	return doca_sha_task_partial_hash_as_task(partial);
}

static void sha_dpu(struct side *side)
{
	struct engine engine = { .arena = arena_open(side->dev) };
	uint64_t begin_ns = bfsim_now_ns();
	struct doca_sha *sha;

	make_buffers(&engine);
	MUST(doca_sha_create(side->dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 2));
	MUST(doca_sha_task_partial_hash_set_conf(sha, on_partial, on_partial, 2));
	engine.actor = comch_actor(side, "sha", doca_sha_as_ctx(sha));
	MUST(doca_ctx_start(engine.actor->ctx));
	comch_forget(side);
	cell_arm();
	for (int number = 1; number <= NUM; number++)
		tasks_submit(make_hash(sha, &engine, number), number);
	tasks_expect_all(side, begin_ns);
	if (!cell_is("fail"))
		tasks_stop(engine.actor, cell->on_host);
	for (int number = 1; number <= NUM; number++)
		expect_digest(&engine, number);
	MUST(doca_sha_destroy(sha));
	close_engine(&engine);
}

#define STOPS     "sha: running -> stopping\n"
#define IDLE      "sha: stopping -> idle\n"
#define IO_FAILED " failed: DOCA_ERROR_IO_FAILED\n"
#define ALL       "hash 1\nhash 2\nhash 3\n"

/* The host's field of the cell holds the trace of stopping the context. */
#define SHA_CELLS(op)                                                                                                    \
	{ op, "refuse", "nth=2 refuse", sha_dpu, comch_nothing, "hash 1\nhash 3\n", STOPS IDLE },                        \
		{ op,      "fail",        "nth=2 fail=TIME_OUT moved=25%",                                               \
		  sha_dpu, comch_nothing, "hash 1\n" STOPS "hash 2 failed: DOCA_ERROR_TIME_OUT\nhash 3" IO_FAILED IDLE,  \
		  NULL },                                                                                                \
		{ op, "hang", "nth=3 hang", sha_dpu, comch_nothing, "hash 1\nhash 2\n", STOPS "hash 3" IO_FAILED IDLE }, \
		{ op, "delay", "nth=2 delay=500ms", sha_dpu, comch_nothing, ALL, STOPS IDLE },                           \
	{                                                                                                                \
		op, "flip", "nth=2 flip=1", sha_dpu, comch_nothing, ALL, STOPS IDLE                                      \
	}

static const struct cell cells[] = { SHA_CELLS("sha.hash"), SHA_CELLS("sha.partial_hash") };

int main(void)
{
	return cell_run("sha", cells, sizeof(cells) / sizeof(cells[0]));
}
