/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from memory of the heap: freed early, or not. Built with the address sanitizer, for test_freed.py. */
#include "tests/api/dma_util.h"

static void __attribute__((noinline)) free_early(void *block)
{
	free(block);
}

int main(int argc, char **argv)
{
	bool is_early = argc == 2 && strcmp(argv[1], "early") == 0;
	struct rig *rig = rig_start(rig_open(NULL));
	uint8_t *block = calloc(1, 256);
	struct doca_mmap *map = rig_make_mmap(rig->dev, block, 256, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY);
	struct doca_buf *src = rig_buf(rig, map, block, 256, 128, 64);

	if (is_early)
		free_early(block);
	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 0, 64))));
	rig_drain(rig);
	MUST(doca_buf_dec_refcount(src, NULL));
	rig->num_bufs = 0;
	MUST(doca_ctx_stop(rig->ctx));
	CHECK(argc == 2);
	if (!is_early)
		free(block);
	return 0;
}
