/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers where the program created its objects: devices, engines, contexts, maps, inventories, endpoints. Tasks and
 * buffers are too many. */
#include "object_sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/check/base/check.h"

#define NUM_BUCKETS 1024

struct entry {
	struct check_birth birth;
	struct entry *next;
};

static struct {
	pthread_mutex_t lock;
	struct entry *buckets[NUM_BUCKETS];
} births = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A library's context has the address of the library's object. */
static struct entry **bucket(const void *handle)
{
	return &births.buckets[(uintptr_t)handle / 64 % NUM_BUCKETS];
}

static struct entry *find(const void *handle)
{
	struct entry *entry = *bucket(handle);

	while (entry && entry->birth.handle != handle)
		entry = entry->next;
	return entry;
}

static struct entry *add(const void *handle)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->birth.handle = handle;
	entry->next = *bucket(handle);
	*bucket(handle) = entry;
	return entry;
}

bool check_birth_find(const void *handle, struct check_birth *ret_birth)
{
	const struct entry *entry;

	pthread_mutex_lock(&births.lock);
	entry = find(handle);
	if (entry)
		*ret_birth = entry->birth;
	pthread_mutex_unlock(&births.lock);
	return entry != NULL;
}

static void remember(const struct shim_call *call, const void *handle)
{
	struct check_birth birth = { .handle = handle, .function = call->function, .tid = gettid() };
	struct entry *entry;

	check_stack_take(call->caller, &birth.stack);
	pthread_mutex_lock(&births.lock);
	entry = find(handle);
	if (!entry)
		entry = add(handle);
	if (entry)
		entry->birth = birth;
	pthread_mutex_unlock(&births.lock);
}

/* Argument @i is where the function stores the handle. */
static void remember_output(const struct shim_call *call, int i)
{
	if (check_result(call) == DOCA_SUCCESS)
		remember(call, *(void *const *)check_arg(call, i));
}

static void created_0(struct shim_call *call)
{
	remember_output(call, 0);
}

static void created_1(struct shim_call *call)
{
	remember_output(call, 1);
}

static void created_2(struct shim_call *call)
{
	remember_output(call, 2);
}

static void created_3(struct shim_call *call)
{
	remember_output(call, 3);
}

static void created_4(struct shim_call *call)
{
	remember_output(call, 4);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_dev_open, NULL, created_1 },
	{ SHIM_FN_doca_dev_rep_open, NULL, created_1 },
	{ SHIM_FN_doca_pe_create, NULL, created_0 },
	{ SHIM_FN_doca_mmap_create, NULL, created_0 },
	{ SHIM_FN_doca_mmap_create_from_export, NULL, created_4 },
	{ SHIM_FN_doca_buf_inventory_create, NULL, created_1 },
	{ SHIM_FN_doca_buf_pool_create, NULL, created_3 },
	{ SHIM_FN_doca_dma_create, NULL, created_1 },
	{ SHIM_FN_doca_sha_create, NULL, created_1 },
	{ SHIM_FN_doca_compress_create, NULL, created_1 },
	{ SHIM_FN_doca_ec_create, NULL, created_1 },
	{ SHIM_FN_doca_aes_gcm_create, NULL, created_1 },
	{ SHIM_FN_doca_aes_gcm_key_create, NULL, created_3 },
	{ SHIM_FN_doca_sync_event_create, NULL, created_0 },
	{ SHIM_FN_doca_sync_event_create_from_export, NULL, created_3 },
	{ SHIM_FN_doca_graph_create, NULL, created_1 },
	{ SHIM_FN_doca_comch_server_create, NULL, created_3 },
	{ SHIM_FN_doca_comch_client_create, NULL, created_2 },
	{ SHIM_FN_doca_comch_producer_create, NULL, created_1 },
	{ SHIM_FN_doca_comch_consumer_create, NULL, created_2 },
};

static void forked(void)
{
	pthread_mutex_init(&births.lock, NULL);
}

const struct check_part check_object_sites = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
	.forked = forked,
};
