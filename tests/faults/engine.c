/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an accelerator's tasks in a cell. */
#include "engine.h"

#include <bfsim.h>

#include "tests/api/comch_fast.h"

bool engine_task_succeeds(int number)
{
	if (!cell->on_host)
		return number < 2;
	return !(cell_is("refuse") && number == 2) && !(cell_is("hang") && number == 3);
}

unsigned int engine_wrong_bits(const uint8_t *output, const uint8_t *expected, size_t len)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < len; i++)
		wrong += (unsigned int)__builtin_popcount(output[i] ^ expected[i]);
	return wrong;
}

static void expect_output(const uint8_t *output, const uint8_t *expected, int number)
{
	static const uint8_t nothing[ENGINE_ROOM];
	bool is_hit = number == 2;

	if (is_hit && cell_is("fail")) {
		CHECK(memcmp(output, expected, engine.moved) == 0);
		CHECK(memcmp(output + engine.moved, nothing, engine.room - engine.moved) == 0);
	} else if (engine_task_succeeds(number)) {
		CHECK(engine_wrong_bits(output, expected, engine.len()) ==
		      (is_hit && (cell_is("flip") || cell_is("bad_tag"))));
		CHECK(memcmp(output + engine.len(), nothing, engine.room - engine.len()) == 0);
	} else if (!cell_is("hang") && !(is_hit && cell_is("bad_tag"))) {
		CHECK(memcmp(output, nothing, engine.room) == 0);
	}
	if (engine.check)
		engine.check(output, number);
}

static void submit_all(struct arena *arena, struct doca_buf **src, struct doca_buf **dst)
{
	for (int i = 1; i <= ENGINE_TASKS; i++) {
		uint8_t *bytes = arena->bytes + (size_t)i * engine.room;

		src[i] = arena_empty(arena, (size_t)i * engine.room, engine.room);
		dst[i] = arena_empty(arena, (size_t)(ENGINE_TASKS + i) * engine.room, engine.room);
		MUST(doca_buf_set_data(src[i], bytes, engine.fill(bytes, i)));
		tasks_submit(engine.make(src[i], dst[i], (union doca_data){ .u64 = (uint64_t)i }), i);
	}
}

static void expect_outputs(struct arena *arena, struct doca_buf **dst)
{
	const uint8_t *outputs = arena->bytes + ENGINE_TASKS * engine.room;

	for (int i = 1; i <= ENGINE_TASKS; i++) {
		size_t len;

		MUST(doca_buf_get_data_len(dst[i], &len));
		CHECK(len == (engine_task_succeeds(i) ? engine.len() : 0));
		expect_output(outputs + (size_t)i * engine.room,
			      engine.expected ? engine.expected(i) : outputs + engine.room, i);
	}
}

void engine_dpu(struct side *side)
{
	struct arena *arena = arena_open(side->dev);
	struct doca_buf *src[ENGINE_TASKS + 1], *dst[ENGINE_TASKS + 1];
	uint64_t begin_ns = bfsim_now_ns();
	struct comch_actor *actor = comch_actor(side, "engine", engine.open(side->dev));

	MUST(doca_ctx_start(actor->ctx));
	if (engine.prepare)
		engine.prepare();
	comch_forget(side);
	cell_arm();
	submit_all(arena, src, dst);
	tasks_expect_all(side, begin_ns);
	if (cell->on_host)
		tasks_stop(actor, cell->on_host);
	expect_outputs(arena, dst);
	engine.close();
	free(actor);
	for (int i = 1; i <= ENGINE_TASKS; i++) {
		MUST(doca_buf_dec_refcount(src[i], NULL));
		MUST(doca_buf_dec_refcount(dst[i], NULL));
	}
	arena_close(arena);
}
