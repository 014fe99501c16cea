/* SPDX-License-Identifier: BSD-3-Clause */
/* Log sources: a number for each name.
 *
 * A name keeps its number and its entry until the process ends, so that readers need no lock, and
 * a plugin that is loaded a thousand times has one entry. A number is valid while the source has
 * users: source files of that name, or loads of a plugin. Numbers start at 1; 0 means "not registered yet".
 */
#include "shim/common/log/log_priv.h"
#include "sim/base/fork.h"
#include "sim/base/log.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct source {
	struct source *next_in_chain;
	atomic_uint users;
	int id;
	char name[];
};

/* Entries by number: table[k] has the 2^k entries of the numbers from 2^k on, and never moves. */
static _Atomic(_Atomic(struct source *) *) table[sizeof(int) * CHAR_BIT - 1];

/* Protects what registration writes. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct source *by_name[256];
static int last_id;

SIM_AT_FORK(SIM_FORK_LOG, .lock = &lock);

static unsigned int table_index(int id)
{
	return sizeof(int) * CHAR_BIT - 1 - __builtin_clz(id);
}

static struct source *find_source(int id)
{
	_Atomic(struct source *) *entries;

	if (id <= 0)
		return NULL;
	entries = atomic_load(&table[table_index(id)]);
	return entries ? atomic_load(&entries[id - (1 << table_index(id))]) : NULL;
}

const char *shim_log_source_name(int id)
{
	struct source *source = find_source(id);

	return source && atomic_load(&source->users) ? source->name : NULL;
}

static struct source **hash_chain(const char *name)
{
	unsigned int hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return &by_name[hash % (sizeof(by_name) / sizeof(by_name[0]))];
}

/* Allocate the part of the table that has the entry of @id, unless it exists. */
static bool ensure_table(int id)
{
	unsigned int k = table_index(id);
	_Atomic(struct source *) *entries;

	if (atomic_load(&table[k]))
		return true;
	entries = calloc((size_t)1 << k, sizeof(*entries));
	atomic_store(&table[k], entries);
	return entries != NULL;
}

static struct source *add_source(const char *name, struct source **chain)
{
	struct source *source;

	if (last_id == INT_MAX || !ensure_table(last_id + 1))
		return NULL;
	source = calloc(1, sizeof(*source) + strlen(name) + 1);
	if (!source)
		return NULL;
	strcpy(source->name, name);
	source->id = ++last_id;
	source->next_in_chain = *chain;
	*chain = source;
	atomic_store(&table[table_index(last_id)][last_id - (1 << table_index(last_id))], source);
	return source;
}

static struct source *find_or_add_source(const char *name)
{
	struct source **chain = hash_chain(name);
	struct source *source;

	for (source = *chain; source; source = source->next_in_chain) {
		if (!strcmp(source->name, name))
			return source;
	}
	return add_source(name, chain);
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
	struct source *found;

	if (!source_name || !source) {
		sim_err("log source: %s is NULL; pass a name and an int for its number",
			source_name ? "source" : "source_name");
		return DOCA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&lock);
	found = find_or_add_source(source_name);
	if (found) {
		atomic_fetch_add(&found->users, 1);
		*source = found->id;
	}
	pthread_mutex_unlock(&lock);
	if (!found) {
		sim_err("log source %s: no memory to register it", source_name);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

doca_error_t doca_log_unregister_source(int source)
{
	struct source *found = find_source(source);
	bool known;

	pthread_mutex_lock(&lock);
	known = found && atomic_load(&found->users) > 0;
	if (known)
		atomic_fetch_sub(&found->users, 1);
	pthread_mutex_unlock(&lock);
	if (!known) {
		sim_err("log source %d is not registered; it may have been unregistered before", source);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}
