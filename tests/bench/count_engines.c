/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of instructions: small tasks of engines besides DMA's, and the library's part of them. */
#include <string.h>

#include "count.h"
#include "engine.h"
#include "measure.h"

static const struct bench_engine_kind *find_kind(const char *name)
{
	for (size_t i = 0; i < bench_num_engine_kinds; i++)
		if (strcmp(bench_engine_kinds[i].name, name) == 0)
			return &bench_engine_kinds[i];
	return NULL;
}

int bench_count_engine(const char *name, bool is_bare, uint32_t count)
{
	struct bench_engine engine = { .kind = find_kind(name), .num_blocks = 64, .depth = BENCH_COUNT_BATCH };
	int (*run)(struct bench_engine * engine, uint32_t count) = is_bare ? bench_engine_run_bare : bench_engine_run;
	int rc;

	if (!engine.kind)
		return bench_fail("no engine is called %s", name);
	engine.text_bytes = engine.kind->small_bytes;
	rc = bench_engine_open(&engine);
	if (rc == 0)
		rc = run(&engine, engine.num_blocks);
	bench_count_toggle();
	if (rc == 0)
		rc = run(&engine, count);
	bench_count_toggle();
	bench_engine_close(&engine);
	return rc;
}
