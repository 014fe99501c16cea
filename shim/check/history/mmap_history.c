/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers the last calls that configured, started and ended each memory map. */
#include "mmap_history.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUM_BUCKETS 1024

struct entry {
	const struct doca_mmap *mmap;
	bool is_started;
	struct check_mmap_call calls[CHECK_MMAP_NUM_EVENTS]; /* without frames = none */
	struct entry *next;
};

static struct {
	pthread_mutex_t lock;
	struct entry *buckets[NUM_BUCKETS];
} histories = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* With the lock. NULL without memory. */
static struct entry *get(const struct doca_mmap *mmap)
{
	struct entry **bucket = &histories.buckets[(uintptr_t)mmap / 64 % NUM_BUCKETS], *entry = *bucket;

	while (entry && entry->mmap != mmap)
		entry = entry->next;
	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (entry) {
		entry->mmap = mmap;
		entry->next = *bucket;
		*bucket = entry;
	}
	return entry;
}

static void forget(const struct doca_mmap *mmap)
{
	struct entry *entry;

	pthread_mutex_lock(&histories.lock);
	entry = get(mmap);
	if (entry)
		memset(entry->calls, 0, sizeof(entry->calls));
	pthread_mutex_unlock(&histories.lock);
}

static void note(const struct shim_call *call, enum check_mmap_event event)
{
	struct check_mmap_call noted = { .function = call->function, .tid = gettid() };
	struct entry *entry;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	check_stack_take(call->caller, &noted.stack);
	pthread_mutex_lock(&histories.lock);
	entry = get(check_arg(call, 0));
	if (entry) {
		entry->calls[event] = noted;
		if (event == CHECK_MMAP_START || event == CHECK_MMAP_END)
			entry->is_started = event == CHECK_MMAP_START;
	}
	pthread_mutex_unlock(&histories.lock);
}

bool check_mmap_call_find(const struct doca_mmap *mmap, enum check_mmap_event event, struct check_mmap_call *ret_call)
{
	const struct entry *entry;
	bool is_found;

	pthread_mutex_lock(&histories.lock);
	entry = get(mmap);
	is_found = entry && entry->calls[event].stack.num_frames > 0;
	if (is_found)
		*ret_call = entry->calls[event];
	pthread_mutex_unlock(&histories.lock);
	return is_found;
}

bool check_mmap_was_started_here(const struct doca_mmap *mmap)
{
	const struct entry *entry;
	bool is_started;

	pthread_mutex_lock(&histories.lock);
	entry = get(mmap);
	is_started = entry && entry->is_started;
	pthread_mutex_unlock(&histories.lock);
	return is_started;
}

void check_mmap_add_call(struct check_hit *hit, const struct doca_mmap *mmap, enum check_mmap_event event,
			 const char *what)
{
	struct check_mmap_call call;

	if (hit && check_mmap_call_find(mmap, event, &call))
		check_hit_add_party(hit, call.tid, &call.stack, "%s %s", shim_function_names[call.function].name, what);
}

const char *check_access_format(uint32_t access, char text[CHECK_ACCESS_TEXT_SIZE])
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = {
		{ DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, "LOCAL_READ_WRITE" },
		{ DOCA_ACCESS_FLAG_RDMA_READ, "RDMA_READ" },
		{ DOCA_ACCESS_FLAG_RDMA_WRITE, "RDMA_WRITE" },
		{ DOCA_ACCESS_FLAG_RDMA_ATOMIC, "RDMA_ATOMIC" },
		{ DOCA_ACCESS_FLAG_PCI_READ_ONLY, "PCI_READ_ONLY" },
		{ DOCA_ACCESS_FLAG_PCI_READ_WRITE, "PCI_READ_WRITE" },
		{ DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING, "PCI_RELAXED_ORDERING" },
	};
	size_t len;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!(access & flags[i].flag))
			continue;
		len = strlen(text);
		snprintf(text + len, CHECK_ACCESS_TEXT_SIZE - len, "%s%s", len ? " | " : "", flags[i].name);
	}
	return text[0] ? text : "LOCAL_READ_ONLY";
}

void check_mmap_add_object(struct check_hit *hit, const struct doca_mmap *mmap)
{
	char access[CHECK_ACCESS_TEXT_SIZE], name[CHECK_ACCESS_TEXT_SIZE + 128];

	if (!hit)
		return;
	if (!shim_handle_is(mmap, SHIM_MMAP)) {
		check_hit_add_object(hit, "memory map", mmap, "destroyed");
		return;
	}
	snprintf(name, sizeof(name), "%s%zu bytes at %p, %s", shim_mmap_is_imported(mmap) ? "imported, " : "",
		 mmap->len_bytes, (void *)mmap->addr, check_access_format(mmap->access, access));
	check_hit_add_object(hit, "memory map", mmap, name);
}

uint64_t check_mmap_started_bytes(uint32_t *ret_count)
{
	uint64_t bytes = 0;

	*ret_count = 0;
	pthread_mutex_lock(&histories.lock);
	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (const struct entry *entry = histories.buckets[i]; entry; entry = entry->next)
			if (entry->is_started && shim_handle_is(entry->mmap, SHIM_MMAP)) {
				bytes += entry->mmap->len_bytes;
				(*ret_count)++;
			}
	pthread_mutex_unlock(&histories.lock);
	return bytes;
}

static void created(struct shim_call *call)
{
	if (check_result(call) == DOCA_SUCCESS)
		forget(*(struct doca_mmap *const *)check_arg(call, call->function == SHIM_FN_doca_mmap_create ? 0 : 4));
}

static void permissions_set(struct shim_call *call)
{
	note(call, CHECK_MMAP_PERMISSIONS);
}

static void range_set(struct shim_call *call)
{
	note(call, CHECK_MMAP_RANGE);
}

static void started(struct shim_call *call)
{
	note(call, CHECK_MMAP_START);
}

static void ended(struct shim_call *call)
{
	note(call, CHECK_MMAP_END);
}

/* The child's copy of the memory is registered with no device. */
static void forked(void)
{
	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (struct entry *entry = histories.buckets[i]; entry; entry = entry->next)
			entry->is_started = false;
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_create, NULL, created },
	{ SHIM_FN_doca_mmap_create_from_export, NULL, created },
	{ SHIM_FN_doca_mmap_set_permissions, NULL, permissions_set },
	{ SHIM_FN_doca_mmap_set_memrange, NULL, range_set },
	{ SHIM_FN_doca_mmap_set_dmabuf_memrange, NULL, range_set },
	{ SHIM_FN_doca_mmap_start, NULL, started },
	{ SHIM_FN_doca_mmap_stop, NULL, ended },
	{ SHIM_FN_doca_mmap_destroy, NULL, ended },
};

const struct check_part check_mmap_history = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &histories.lock,
	.forked = forked,
};
