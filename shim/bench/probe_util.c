/* SPDX-License-Identifier: BSD-3-Clause */
/* What both sides of a measurement need. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <doca_ctx.h>
#include <doca_pe.h>

#include "probe.h"

void probe_must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "bfsim-bench-probe: cannot %s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

void probe_write_file(const char *path, const void *bytes, size_t len)
{
	char name[4096];
	FILE *out;

	snprintf(name, sizeof(name), "%s.new", path);
	out = fopen(name, "wbe");
	if (!out || fwrite(bytes, 1, len, out) != len || fclose(out) != 0 || rename(name, path) < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

struct doca_dev *probe_open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	probe_must(doca_devinfo_create_list(&list, &count), "list the devices");
	probe_must(count > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	probe_must(doca_dev_open(list[0], &dev), "open the first device");
	doca_devinfo_destroy_list(list);
	return dev;
}

struct doca_mmap *probe_map(struct doca_dev *dev, void *memory, size_t bytes, uint32_t permissions)
{
	struct doca_mmap *mmap;

	probe_must(doca_mmap_create(&mmap), "create a map");
	probe_must(doca_mmap_set_permissions(mmap, permissions), "set its permissions");
	probe_must(doca_mmap_set_memrange(mmap, memory, bytes), "set its range");
	probe_must(doca_mmap_add_dev(mmap, dev), "add the device");
	probe_must(doca_mmap_start(mmap), "start it");
	return mmap;
}

void *probe_calloc(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	probe_must(memory ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	return memory;
}

void *probe_allocate(size_t bytes)
{
	const char *path = getenv("BFSIM_PATH");
	bool is_shared = path && strcmp(path, "mapped") == 0;
	size_t size = (bytes + 4095) / 4096 * 4096;
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | (is_shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);

	probe_must(memory != MAP_FAILED ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "allocate memory");
	memset(memory, 0x5a, bytes);
	return memory;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_IDLE;

	probe_must(doca_ctx_get_state(ctx, &state), "get a context's state");
	return state;
}

void probe_ctx_start(struct doca_ctx *ctx, struct doca_pe *pe, void *data, struct doca_pe *other_pe)
{
	doca_error_t result;

	probe_must(doca_pe_connect_ctx(pe, ctx), "connect a context");
	probe_must(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = data }), "set its data");
	result = doca_ctx_start(ctx);
	probe_must(result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result, "start it");
	while (state_of(ctx) == DOCA_CTX_STATE_STARTING) {
		doca_pe_progress(pe);
		if (other_pe)
			doca_pe_progress(other_pe);
	}
	probe_must(state_of(ctx) == DOCA_CTX_STATE_RUNNING ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED, "start it");
}

void probe_ctx_stop(struct doca_ctx *ctx, struct doca_pe *pe)
{
	doca_ctx_stop(ctx);
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(pe);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t percentile(const uint64_t *sorted, uint64_t count, unsigned int thousandths)
{
	uint64_t rank = (count * thousandths + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

void probe_read_import_path(char path[16])
{
	const char *command = getenv("BFSIM_BENCH_PS");
	FILE *in = command ? popen(command, "re") : NULL;
	char *line = NULL;
	size_t size = 0;

	path[0] = '\0';
	while (in && getline(&line, &size, in) > 0)
		if (!path[0] && sscanf(line, " \"path\": \"%15[a-z-]", path) != 1)
			path[0] = '\0';
	free(line);
	if (in)
		pclose(in);
}

void probe_print_result(const struct probe_times *times, size_t num_threads, uint64_t task_bytes, const char *path)
{
	uint64_t count = 0, begin = UINT64_MAX, end = 0, *all;
	char import_path[16];

	for (size_t i = 0; i < num_threads; i++) {
		count += times[i].count;
		begin = times[i].began_ns < begin ? times[i].began_ns : begin;
		end = times[i].ended_ns > end ? times[i].ended_ns : end;
	}
	all = probe_calloc(count, sizeof(*all));
	for (size_t i = 0, used = 0; i < num_threads; used += times[i++].count)
		memcpy(all + used, times[i].latencies, times[i].count * sizeof(*all));
	qsort(all, count, sizeof(*all), compare);
	if (!path)
		probe_read_import_path(import_path);
	printf("{\"tasks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"p50\":%" PRIu64 ",\"p90\":%" PRIu64
	       ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64 ",\"max\":%" PRIu64 ",\"path\":\"%s\"}\n",
	       count, count * task_bytes, end - begin, percentile(all, count, 500), percentile(all, count, 900),
	       percentile(all, count, 990), percentile(all, count, 999), all[count - 1], path ? path : import_path);
	fflush(stdout);
	free(all);
}
