/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers where the program created and destroyed its objects: devices, engines, contexts, maps, inventories, endpoints
 * (objects of each library.toml). Tasks and buffers are too many. */
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

enum { NO_OUTPUT = -1 };

static const struct function {
	uint32_t function;
	int output;       /* the argument where it stores the handle; NO_OUTPUT = it destroys its first argument */
	const char *kind; /* of the object */
} functions[] = {
#define CREATED(name, arg, words) { SHIM_FN_##name, arg, words },
#define DESTROYED(name, words)    { SHIM_FN_##name, NO_OUTPUT, words },
	SHIM_CREATE(CREATED) SHIM_DESTROY(DESTROYED)
#undef CREATED
#undef DESTROYED
};

static const struct function *function_of(const struct shim_call *call)
{
	size_t i = 0;

	while (functions[i].function != call->function)
		i++;
	return &functions[i];
}

/* ---- creation ---- */

static struct check_site site_of(const struct shim_call *call)
{
	struct check_site site = { .function = call->function, .tid = gettid() };

	check_stack_take(call->caller, &site.stack);
	return site;
}

static void created(struct shim_call *call)
{
	const struct function *function = function_of(call);
	struct check_site site;
	struct entry *entry;
	const void *handle;

	if (check_result(call) != DOCA_SUCCESS)
		return;
	handle = *(void *const *)check_arg(call, function->output);
	site = site_of(call);
	pthread_mutex_lock(&objects.lock);
	entry = get(handle);
	if (entry)
		entry->sites = (struct check_object_sites){ .handle = handle,
							    .kind = function->kind,
							    .fork_generation = shim_fork_generation,
							    .created = site };
	pthread_mutex_unlock(&objects.lock);
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
		entry->sites.kind = function_of(call)->kind;
		entry->sites.destroyed = site;
	}
	pthread_mutex_unlock(&objects.lock);
}

static const struct check_watch watches[] = {
#define CREATED(name, arg, words) { SHIM_FN_##name, NULL, created },
#define DESTROYED(name, words)    { SHIM_FN_##name, NULL, destroyed },
	SHIM_CREATE(CREATED) SHIM_DESTROY(DESTROYED)
#undef CREATED
#undef DESTROYED
};

const struct check_part check_object_sites = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
	.lock = &objects.lock,
};
