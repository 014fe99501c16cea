/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers where the program created and destroyed its objects: devices, engines, contexts, maps, inventories, endpoints.
 * Tasks and buffers are too many. */
#include "object_sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/check/base/check.h"
#include "shim/common/process/runtime.h"

#define NUM_BUCKETS 1024

struct entry {
	struct check_object_sites sites;
	struct entry *next;
};

/* Entries stay for life. */
static struct {
	pthread_mutex_t lock;
	struct entry *buckets[NUM_BUCKETS];
} objects = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A library's context has the address of the library's object. */
static struct entry **bucket(const void *handle)
{
	return &objects.buckets[(uintptr_t)handle / 64 % NUM_BUCKETS];
}

static struct entry *find(const void *handle)
{
	struct entry *entry = *bucket(handle);

	while (entry && entry->sites.handle != handle)
		entry = entry->next;
	return entry;
}

/* NULL without memory. */
static struct entry *get(const void *handle)
{
	struct entry *entry = find(handle);

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->sites.handle = handle;
	entry->next = *bucket(handle);
	*bucket(handle) = entry;
	return entry;
}

bool check_object_sites_find(const void *handle, struct check_object_sites *ret_sites)
{
	const struct entry *entry;

	pthread_mutex_lock(&objects.lock);
	entry = find(handle);
	if (entry)
		*ret_sites = entry->sites;
	pthread_mutex_unlock(&objects.lock);
	return entry != NULL;
}

static bool is_alive(const struct check_object_sites *sites)
{
	return sites->created.stack.num_frames > 0 && sites->destroyed.stack.num_frames == 0;
}

static const struct entry *first_of(size_t i)
{
	const struct entry *entry;

	pthread_mutex_lock(&objects.lock);
	entry = objects.buckets[i];
	pthread_mutex_unlock(&objects.lock);
	return entry;
}

void check_objects_each(void (*see)(const struct check_object_sites *sites, void *arg), void *arg)
{
	struct check_object_sites sites;

	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (const struct entry *entry = first_of(i); entry; entry = entry->next) {
			pthread_mutex_lock(&objects.lock);
			sites = entry->sites;
			pthread_mutex_unlock(&objects.lock);
			if (is_alive(&sites))
				see(&sites, arg);
		}
}

/* ---- the functions ---- */

/* Functions that create an object: the argument where they store its handle, and its kind. */
#define CREATES(X)                                                 \
	X(doca_dev_open, 1, "device")                              \
	X(doca_dev_rep_open, 1, "representor")                     \
	X(doca_pe_create, 0, "progress engine")                    \
	X(doca_mmap_create, 0, "memory map")                       \
	X(doca_mmap_create_from_export, 4, "memory map")           \
	X(doca_buf_inventory_create, 1, "inventory")               \
	X(doca_buf_pool_create, 3, "buffer pool")                  \
	X(doca_graph_create, 1, "graph")                           \
	X(doca_mmap_advise_create, 1, "mmap advise context")       \
	X(doca_sync_event_create, 0, "sync event")                 \
	X(doca_sync_event_create_from_export, 3, "sync event")     \
	X(doca_dma_create, 1, "dma context")                       \
	X(doca_sha_create, 1, "sha context")                       \
	X(doca_compress_create, 1, "compress context")             \
	X(doca_ec_create, 1, "erasure coding context")             \
	X(doca_aes_gcm_create, 1, "aes_gcm context")               \
	X(doca_aes_gcm_key_create, 3, "AES-GCM key")               \
	X(doca_comch_server_create, 3, "Comch server")             \
	X(doca_comch_client_create, 2, "Comch client")             \
	X(doca_comch_producer_create, 1, "Comch producer")         \
	X(doca_comch_consumer_create, 2, "Comch consumer")         \
	X(doca_comm_channel_ep_create, 0, "Comm Channel endpoint") \
	X(doca_cc_server_create, 3, "server")                      \
	X(doca_cc_client_create, 2, "client")                      \
	X(doca_cc_producer_create, 1, "producer")                  \
	X(doca_cc_consumer_create, 2, "consumer")

/* Functions whose first argument is an object that they destroy. */
#define ENDS(X)                                                                   \
	X(doca_dev_close, "device")                                               \
	X(doca_dev_rep_close, "representor")                                      \
	X(doca_pe_destroy, "progress engine")                                     \
	X(doca_mmap_destroy, "memory map")                                        \
	X(doca_buf_inventory_destroy, "inventory")                                \
	X(doca_buf_pool_destroy, "buffer pool")                                   \
	X(doca_buf_arr_destroy, "buffer array")                                   \
	X(doca_clock_destroy, "clock")                                            \
	X(doca_graph_destroy, "graph")                                            \
	X(doca_graph_instance_destroy, "graph instance")                          \
	X(doca_mmap_advise_destroy, "mmap advise context")                        \
	X(doca_sync_event_destroy, "sync event")                                  \
	X(doca_sync_event_remote_net_destroy, "remote sync event")                \
	X(doca_dma_destroy, "dma context")                                        \
	X(doca_sha_destroy, "sha context")                                        \
	X(doca_compress_destroy, "compress context")                              \
	X(doca_ec_destroy, "erasure coding context")                              \
	X(doca_ec_matrix_destroy, "erasure coding matrix")                        \
	X(doca_aes_gcm_destroy, "aes_gcm context")                                \
	X(doca_aes_gcm_key_destroy, "AES-GCM key")                                \
	X(doca_comch_server_destroy, "Comch server")                              \
	X(doca_comch_client_destroy, "Comch client")                              \
	X(doca_comch_producer_destroy, "Comch producer")                          \
	X(doca_comch_consumer_destroy, "Comch consumer")                          \
	X(doca_comch_consumer_completion_destroy, "consumer's completion object") \
	X(doca_comch_msgq_destroy, "message queue")                               \
	X(doca_comm_channel_ep_destroy, "Comm Channel endpoint")                  \
	X(doca_cc_server_destroy, "server")                                       \
	X(doca_cc_client_destroy, "client")                                       \
	X(doca_cc_producer_destroy, "producer")                                   \
	X(doca_cc_consumer_destroy, "consumer")

static const char *kind_of(uint32_t function)
{
	switch (function) {
#define CREATED(name, arg, words) \
	case SHIM_FN_##name:      \
		return words;
#define DESTROYED(name, words) \
	case SHIM_FN_##name:   \
		return words;
		CREATES(CREATED)
		ENDS(DESTROYED)
#undef CREATED
#undef DESTROYED
	default:
		return "object";
	}
}

/* ---- creation ---- */

static struct check_site site_of(const struct shim_call *call)
{
	struct check_site site = { .function = call->function, .tid = gettid() };

	check_stack_take(call->caller, &site.stack);
	return site;
}

static void remember(const struct shim_call *call, const void *handle)
{
	struct check_site site = site_of(call);
	struct entry *entry;

	pthread_mutex_lock(&objects.lock);
	entry = get(handle);
	if (entry)
		entry->sites = (struct check_object_sites){ .handle = handle,
							    .kind = kind_of(call->function),
							    .fork_generation = shim_fork_generation,
							    .created = site };
	pthread_mutex_unlock(&objects.lock);
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

/* ---- destruction ---- */

static void destroyed(struct shim_call *call)
{
	struct check_site site;
	struct entry *entry;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	site = site_of(call);
	pthread_mutex_lock(&objects.lock);
	entry = get(check_arg(call, 0));
	if (entry) {
		entry->sites.kind = kind_of(call->function);
		entry->sites.destroyed = site;
	}
	pthread_mutex_unlock(&objects.lock);
}

static const struct check_watch watches[] = {
#define CREATED(name, arg, words) { SHIM_FN_##name, NULL, created_##arg },
#define DESTROYED(name, words)    { SHIM_FN_##name, NULL, destroyed },
	CREATES(CREATED) ENDS(DESTROYED)
#undef CREATED
#undef DESTROYED
};

static void forked(void)
{
	pthread_mutex_init(&objects.lock, NULL);
}

const struct check_part check_object_sites = {
	.watches = watches,
	.num_watches = sizeof(watches) / sizeof(watches[0]),
	.mode = SIM_CHECK_API,
	.forked = forked,
};
