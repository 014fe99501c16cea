/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of exposed memory, and the check of requests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "served_priv.h"

#define FIRST_CAPACITY 16

struct served_memory {
	uint8_t *addr; /* NULL = free; of far memory the argument of @begin */
	size_t len_bytes;
	bool is_writable;
	sim_far_begin *begin; /* NULL = memory of this process */
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

static int add(struct served_table *table, struct served_memory memory, struct sim_grant *ret_grant)
{
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

int served_table_add(struct served_table *table, void *addr, size_t len, bool writable, struct sim_grant *ret_grant)
{
	return add(table, (struct served_memory){ .addr = addr, .len_bytes = len, .is_writable = writable }, ret_grant);
}

int served_table_add_far(struct served_table *table, size_t len, sim_far_begin *begin, void *arg,
			 struct sim_grant *ret_grant)
{
	const struct served_memory memory = { .addr = arg, .len_bytes = len, .is_writable = true, .begin = begin };

	return add(table, memory, ret_grant);
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

/* Returns 0, -ESTALE (no such memory, or a wrong secret), -EFAULT or -EACCES. */
static int find(const struct served_table *table, const struct served_request *request,
		const struct served_memory **ret_memory)
{
	const struct served_memory *memory;

	if (request->grant.index >= table->capacity)
		return -ESTALE;
	memory = &table->entries[request->grant.index];
	if (!memory->addr || !is_same_secret(memory->secret, request->grant.secret))
		return -ESTALE;
	if (request->offset > memory->len_bytes)
		return -EFAULT;
	if (request->kind != SIM_SERVED_FAR_OP && request->len_bytes > memory->len_bytes - request->offset)
		return -EFAULT;
	if (request->kind != SIM_SERVED_READ && !memory->is_writable)
		return -EACCES;
	*ret_memory = memory;
	return 0;
}

int served_table_check(const struct served_table *table, const struct served_request *request, uint8_t **ret_addr)
{
	const struct served_memory *memory;
	int rc = find(table, request, &memory);

	if (rc == 0 && (memory->begin || request->kind > SIM_SERVED_WRITE))
		rc = -EOPNOTSUPP;
	if (rc == 0)
		*ret_addr = memory->addr + request->offset;
	return rc;
}

int served_table_check_any(const struct served_table *table, const struct served_request *request, uint8_t **ret_addr,
			   sim_far_begin **ret_begin)
{
	const struct served_memory *memory;
	int rc = find(table, request, &memory);

	if (rc == 0 && !memory->begin)
		return served_table_check(table, request, ret_addr);
	if (rc == 0) {
		*ret_addr = memory->addr;
		*ret_begin = memory->begin;
	}
	return rc;
}

void served_table_fini(struct served_table *table)
{
	free(table->entries);
}
