/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of exposed memory, and the check of requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "served_priv.h"

#define FIRST_CAPACITY 16

struct served_memory {
	uint8_t *addr; /* NULL = free */
	size_t len_bytes;
	bool is_writable;
	uint8_t secret[SIM_GRANT_SECRET_SIZE];
};

static int grow(struct served_table *table)
{
	uint32_t capacity = table->capacity ? 2 * table->capacity : FIRST_CAPACITY;
	struct served_memory *entries = realloc(table->entries, capacity * sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	memset(entries + table->capacity, 0, (capacity - table->capacity) * sizeof(*entries));
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

int served_table_add(struct served_table *table, void *addr, size_t len, bool writable, struct sim_grant *ret_grant)
{
	struct served_memory memory = { .addr = addr, .len_bytes = len, .is_writable = writable };

	if (getrandom(memory.secret, sizeof(memory.secret), 0) != sizeof(memory.secret))
		return -EIO;
	while (table->first_free < table->capacity && table->entries[table->first_free].addr)
		table->first_free++;
	if (table->first_free == table->capacity) {
		int rc = grow(table);

		if (rc < 0)
			return rc;
	}
	*ret_grant = (struct sim_grant){ .index = table->first_free };
	memcpy(ret_grant->secret, memory.secret, sizeof(memory.secret));
	table->entries[table->first_free++] = memory;
	return 0;
}

void served_table_remove(struct served_table *table, const struct sim_grant *grant)
{
	table->entries[grant->index] = (struct served_memory){ 0 };
	if (grant->index < table->first_free)
		table->first_free = grant->index;
}

/* In constant time. */
static bool is_same_secret(const uint8_t *a, const uint8_t *b)
{
	uint8_t differ = 0;

	for (int i = 0; i < SIM_GRANT_SECRET_SIZE; i++)
		differ |= a[i] ^ b[i];
	return differ == 0;
}

int served_table_check(const struct served_table *table, const struct served_request *request, uint8_t **ret_addr)
{
	const struct served_memory *memory;

	if (request->grant.index >= table->capacity)
		return -ESTALE;
	memory = &table->entries[request->grant.index];
	if (!memory->addr || !is_same_secret(memory->secret, request->grant.secret))
		return -ESTALE;
	if (request->offset > memory->len_bytes || request->len_bytes > memory->len_bytes - request->offset)
		return -EFAULT;
	if (request->is_write && !memory->is_writable)
		return -EACCES;
	*ret_addr = memory->addr + request->offset;
	return 0;
}

void served_table_fini(struct served_table *table)
{
	free(table->entries);
}
