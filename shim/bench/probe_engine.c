/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of the accelerator engines, on the process's own memory. */
#include "probe_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUM_WORDS 256 /* of the text's vocabulary */

static const struct probe_engine *const engines[] = { &probe_sha,         &probe_deflate,    &probe_inflate,
						      &probe_lz4,         &probe_ec_create,  &probe_ec_recover,
						      &probe_gcm_encrypt, &probe_gcm_decrypt };

static const struct probe_engine *find_engine(const char *name)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strcmp(engines[i]->name, name) == 0)
			return engines[i];
	return NULL;
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Words of 3 to 8 letters in random order, the same in each run: what compresses as texts do. */
static void write_text(uint8_t *text, size_t len)
{
	uint32_t state = 1;

	for (size_t i = 0; i < len;) {
		uint32_t word = next_random(&state) % NUM_WORDS, letters = word, left = 3 + word % 6;

		for (; left > 0 && i < len; left--)
			text[i++] = (uint8_t)('a' + next_random(&letters) % 26);
		if (i < len)
			text[i++] = ' ';
	}
}

/* NULL if the device does not offer the engine. */
static struct doca_dev *open_device(const struct probe_engine *engine, const char *name)
{
	char found[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "";
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count, i = 0;

	probe_must(doca_devinfo_create_list(&list, &count), "list the devices");
	while (i < count &&
	       (doca_devinfo_get_ibdev_name(list[i], found, sizeof(found)) != DOCA_SUCCESS || strcmp(found, name) != 0))
		i++;
	probe_must(i < count ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find the device");
	if (engine->is_supported(list[i]) == DOCA_SUCCESS)
		probe_must(doca_dev_open(list[i], &dev), "open a device");
	doca_devinfo_destroy_list(list);
	return dev;
}

static struct doca_mmap *map_local(struct doca_dev *dev, void *memory, size_t bytes)
{
	return probe_map(dev, memory, bytes, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

/* Write the source of a task to @block. Returns its length. */
static size_t make_source(const struct probe_engine *engine, struct doca_dev *dev, uint8_t *text, size_t len,
			  uint8_t *block, size_t room)
{
	struct probe_run run = { .dev = dev,
				 .source_addr = text,
				 .target_addr = block,
				 .source_bytes = len,
				 .target_bytes = room,
				 .data_bytes = len };
	size_t written;

	if (engine->pack)
		return engine->pack(text, len, block, room);
	if (!engine->reverse) {
		memcpy(block, text, len);
		return len;
	}
	run.kind = &engine->reverse->kind;
	run.source = map_local(dev, text, len);
	run.target = map_local(dev, block, room);
	written = probe_tasks_run_one(&run);
	probe_must(doca_mmap_destroy(run.source), "destroy a map");
	probe_must(doca_mmap_destroy(run.target), "destroy a map");
	return written;
}

/* Whether each task that has run has restored the text. */
static bool has_restored(const struct probe_run *run, const uint8_t *text, size_t len)
{
	uint64_t num_used = run->count < run->depth ? run->count : run->depth;

	for (unsigned int thread = 0; thread < run->threads; thread++)
		for (uint64_t i = 0; i < num_used; i++)
			if (memcmp(run->target_addr + (thread * run->depth + i) * run->target_bytes, text, len) != 0)
				return false;
	return true;
}

static void measure(const struct probe_engine *engine, struct probe_run *run, size_t size)
{
	size_t room = (size + size / 8 + 256 + 63) / 64 * 64, num_blocks = (size_t)run->depth * run->threads;
	uint8_t *text = probe_allocate(size), *block = probe_allocate(room);

	write_text(text, size);
	run->data_bytes = make_source(engine, run->dev, text, size, block, room);
	run->source_bytes = run->target_bytes = room;
	run->source_addr = probe_allocate(num_blocks * room);
	run->target_addr = probe_allocate(num_blocks * room);
	for (size_t i = 0; i < num_blocks; i++)
		memcpy(run->source_addr + i * room, block, run->data_bytes);
	run->source = map_local(run->dev, run->source_addr, num_blocks * room);
	run->target = map_local(run->dev, run->target_addr, num_blocks * room);
	probe_tasks_run_one(run); /* so that libraries are loaded and know their processor */
	probe_tasks_measure(run, size, "");
	if ((engine->pack || engine->reverse) && !has_restored(run, text, size)) {
		fprintf(stderr, "bfsim-bench-probe: %s: the output of a task is wrong\n", engine->name);
		exit(EXIT_FAILURE);
	}
	probe_must(doca_mmap_destroy(run->source), "destroy a map");
	probe_must(doca_mmap_destroy(run->target), "destroy a map");
}

int probe_engine(const struct probe_engine_cfg *cfg)
{
	const struct probe_engine *engine = find_engine(cfg->name);
	struct probe_run run = { .depth = cfg->depth, .threads = cfg->threads, .count = cfg->count };

	if (!engine)
		return -1;
	run.kind = &engine->kind;
	run.dev = open_device(engine, cfg->device);
	if (!run.dev)
		return PROBE_LACKS_ENGINE;
	measure(engine, &run, cfg->size);
	probe_must(doca_dev_close(run.dev), "close the device");
	return EXIT_SUCCESS;
}
