/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of worker.c: what it does depends on the order and the times of other kernels. */
#include <doca_dpa_dev.h>
#include <doca_dpa_dev_sync_event.h>
#include <dpaintrin.h>

#include "shared.h"

/* Ranks take numbers from one word, and compute for a time that depends on their rank. */
__dpa_global__ void take_numbers(uint64_t addr, uint32_t rounds)
{
	struct dpa_shared *shared = (struct dpa_shared *)addr;
	unsigned rank = doca_dpa_dev_thread_rank();

	for (uint32_t i = 0; i < rounds; i++) {
		uint64_t number = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);

		for (volatile uint64_t j = 0; j < 500 * (rank % 3 + 1); j++)
			;
		shared->order[number % DPA_MAX_ORDER] = rank;
	}
	DOCA_DPA_DEV_LOG_INFO("rank %u of %u at %lu us\n", rank, doca_dpa_dev_num_threads(), __dpa_thread_time());
}

/* A thread of a ring: it notifies the next one, until the ball has gone round often enough. */
__dpa_global__ void pass_on(uint64_t addr)
{
	struct dpa_place *place = (struct dpa_place *)addr;
	struct dpa_shared *shared = (struct dpa_shared *)place->shared;

	place->runs++;
	DOCA_DPA_DEV_LOG_INFO("thread %lu, run %lu at %lu us\n", place->number, place->runs, __dpa_thread_time());
	if (++shared->passes < place->max_passes)
		doca_dpa_dev_thread_notify(place->next);
	doca_dpa_dev_sync_event_update_add(place->event, 1);
	doca_dpa_dev_thread_reschedule();
}

/* Wait for the host's word, and answer. */
__dpa_global__ void answer(doca_dpa_dev_sync_event_t heard, doca_dpa_dev_sync_event_t said, uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		doca_dpa_dev_sync_event_wait_gt(heard, i, UINT64_MAX);
		doca_dpa_dev_sync_event_update_add(said, 1);
	}
}

__dpa_rpc__ uint64_t kick(doca_dpa_dev_notification_completion_t notification)
{
	doca_dpa_dev_thread_notify(notification);
	return __dpa_thread_time();
}

__dpa_rpc__ uint64_t compute(uint64_t rounds)
{
	uint64_t sum = 0;

	for (volatile uint64_t i = 0; i < rounds; i++)
		sum += i;
	return sum;
}

/* A walk of @num records of 64 bytes, each of which names the next. */
__dpa_rpc__ uint64_t walk(uint64_t addr, uint64_t num)
{
	uint64_t begin = __dpa_thread_cycles();

	for (uint64_t i = 0; i < num; i++)
		addr = *(const volatile uint64_t *)addr;
	return __dpa_thread_cycles() - begin;
}

__dpa_rpc__ uint64_t load(uint64_t addr)
{
	return *(const volatile uint64_t *)addr;
}
