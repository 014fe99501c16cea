/* SPDX-License-Identifier: BSD-3-Clause */
/* Records where buffers are taken and returned. */
#include "buf_records.h"

#include <stdatomic.h>

#include "shim/check/base/check.h"
#include "shim/common/base/check.h"
#include "shim/common/mem/buf_priv.h"

#define NUM_PLACES 4096

/* Threads that use buffers of one place mix their records. Reports may then lack a site. */
struct place {
	_Atomic(const struct doca_buf *) buf;
	_Atomic(const void *) origin;
	_Atomic(const void *) taken_at;
	_Atomic(const void *) returned_at;
	_Atomic uint64_t number;
} __attribute__((aligned(64)));

static struct place places[NUM_PLACES];
static _Atomic uint64_t num_taken;

#define LOAD(member)         atomic_load_explicit(&(member), memory_order_relaxed)
#define STORE(member, value) atomic_store_explicit(&(member), (value), memory_order_relaxed)

static inline struct place *place_of(const struct doca_buf *buf)
{
	return &places[(uintptr_t)buf / sizeof(*buf) % NUM_PLACES];
}

static inline void note_taken(const struct shim_call *call, const struct doca_buf *buf)
{
	struct place *place = place_of(buf);
	uint64_t number = LOAD(num_taken);

	STORE(num_taken, number + 1); /* a take of another thread may get lost: an age is about right */
	STORE(place->buf, buf);
	STORE(place->origin, check_arg(call, 0));
	STORE(place->taken_at, call->caller);
	STORE(place->returned_at, NULL);
	STORE(place->number, number);
}

static struct check_buf_record read_place(const struct place *place)
{
	return (struct check_buf_record){ .buf = LOAD(place->buf),
					  .origin = LOAD(place->origin),
					  .taken_at = LOAD(place->taken_at),
					  .returned_at = LOAD(place->returned_at),
					  .number = LOAD(place->number) };
}

bool check_buf_record_find(const struct doca_buf *buf, struct check_buf_record *ret_record)
{
	*ret_record = read_place(place_of(buf));
	return ret_record->buf == buf;
}

void check_buf_records_out(const void *origin, void (*see)(const struct check_buf_record *record, void *arg), void *arg)
{
	for (size_t i = 0; i < NUM_PLACES; i++) {
		const struct check_buf_record record = read_place(&places[i]);

		if (record.buf && record.origin == origin && !record.returned_at)
			see(&record, arg);
	}
}

uint64_t check_buf_num_taken(void)
{
	return LOAD(num_taken);
}

static void leave_get(struct shim_call *call)
{
	if (doca_likely(check_result(call) == DOCA_SUCCESS))
		note_taken(call, *(struct doca_buf *const *)check_arg(call, 6));
}

static void leave_dup(struct shim_call *call)
{
	if (check_result(call) != DOCA_SUCCESS)
		return;
	for (const struct doca_buf *buf = *(struct doca_buf *const *)check_arg(call, 2); buf; buf = buf->next)
		note_taken(call, buf);
}

static void leave_pool_alloc(struct shim_call *call)
{
	if (doca_likely(check_result(call) == DOCA_SUCCESS))
		note_taken(call, *(struct doca_buf *const *)check_arg(call, 1));
}

static void enter_dec(struct shim_call *call)
{
	const struct doca_buf *buf = check_arg(call, 0);

	if (doca_unlikely(!shim_object_is(buf, SHIM_BUF)) || buf->refcount != 1 || buf->is_inner)
		return;
	for (; buf; buf = buf->next) {
		struct place *place = place_of(buf);

		if (LOAD(place->buf) == buf)
			STORE(place->returned_at, call->caller);
	}
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_buf_inventory_buf_get_by_args, NULL, leave_get },
	{ SHIM_FN_doca_buf_inventory_buf_dup, NULL, leave_dup },
	{ SHIM_FN_doca_buf_pool_buf_alloc, NULL, leave_pool_alloc },
	{ SHIM_FN_doca_buf_dec_refcount, enter_dec, NULL },
};

const struct check_part check_buf_records = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_API,
};
