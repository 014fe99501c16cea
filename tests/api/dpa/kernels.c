/* SPDX-License-Identifier: BSD-3-Clause */
/* Device code of the tests of libdoca_dpa. */
#include <doca_dpa_dev.h>
#include <doca_dpa_dev_buf.h>
#include <doca_dpa_dev_sync_event.h>
#include <dpaintrin.h>
#include <stdbool.h>

/* ---- RPCs ---- */

__dpa_rpc__ uint64_t add(uint64_t a, uint32_t b)
{
	return a + b;
}

__dpa_rpc__ uint64_t count_calls(void)
{
	static uint64_t count;

	return ++count;
}

__dpa_rpc__ uint64_t load(uint64_t addr)
{
	return *(volatile uint64_t *)addr;
}

/* Its line, or what is there: the place of a fatal load. */
__dpa_rpc__ uint64_t load_or_line(uint64_t addr)
{
	return addr ? *(volatile uint64_t *)addr : __LINE__;
}

__dpa_rpc__ uint64_t store(uint64_t addr, uint64_t value)
{
	*(volatile uint64_t *)addr = value;
	return 0;
}

__dpa_rpc__ uint64_t divide(uint64_t a, uint64_t b)
{
	return a / b;
}

__dpa_rpc__ uint64_t jump(uint64_t addr)
{
	((void (*)(void))addr)();
	return 0;
}

__dpa_rpc__ uint64_t run_for_ever(void)
{
	static volatile uint64_t rounds;

	for (;;)
		rounds++;
}

static uint64_t recurse(uint64_t depth)
{
	volatile uint64_t here[64];

	here[0] = depth;
	return depth == 0 ? 0 : recurse(depth - 1) + here[0];
}

__dpa_rpc__ uint64_t recurse_deeply(uint64_t depth)
{
	return recurse(depth);
}

__dpa_rpc__ uint64_t say(uint64_t number)
{
	DOCA_DPA_DEV_LOG_ERR("error %lu\n", number);
	DOCA_DPA_DEV_LOG_INFO("information %lu\n", number);
	DOCA_DPA_DEV_LOG_DBG("detail %lu\n", number);
	return 0;
}

__dpa_rpc__ uint64_t trace_numbers(uint64_t number, uint64_t flushes)
{
	doca_dpa_dev_trace(number, number + 1, 0, UINT64_MAX, 5);
	if (flushes)
		doca_dpa_dev_trace_flush();
	return 0;
}

__dpa_rpc__ uint64_t get_event(doca_dpa_dev_sync_event_t event)
{
	uint64_t value = 0;

	doca_dpa_dev_sync_event_get(event, &value);
	return value;
}

__dpa_rpc__ uint64_t read_time_us(void)
{
	return __dpa_thread_time();
}

__dpa_rpc__ uint64_t measure_cycles(uint64_t rounds)
{
	uint64_t begin = __dpa_thread_cycles();

	for (volatile uint64_t i = 0; i < rounds; i++)
		;
	return __dpa_thread_cycles() - begin;
}

__dpa_rpc__ uint64_t reschedule_rpc(void)
{
	doca_dpa_dev_thread_reschedule();
	return 0;
}

__dpa_rpc__ uint64_t set_device(doca_dpa_dev_t device)
{
	doca_dpa_dev_device_set(device);
	return 1;
}

__dpa_rpc__ uint64_t fill_table(doca_dpa_dev_hash_table_t table, uint32_t num)
{
	uint64_t sum = 0, value;

	for (uint32_t i = 0; i < num; i++)
		doca_dpa_dev_hash_table_add(table, 7 * i, i);
	doca_dpa_dev_hash_table_remove(table, 7);
	for (uint32_t i = 0; i < num; i++)
		if (doca_dpa_dev_hash_table_find(table, 7 * i, &value))
			sum += value;
	return sum;
}

__dpa_rpc__ uint64_t poll_completion(doca_dpa_dev_completion_t completion)
{
	doca_dpa_dev_completion_element_t element;

	return (uint64_t)doca_dpa_dev_get_completion(completion, &element);
}

__dpa_rpc__ uint64_t notify(doca_dpa_dev_notification_completion_t notification)
{
	doca_dpa_dev_thread_notify(notification);
	return 0;
}

/* ---- launches ---- */

__dpa_global__ void record_rank(uint64_t ranks, uint64_t value)
{
	((volatile uint64_t *)ranks)[doca_dpa_dev_thread_rank()] = value + doca_dpa_dev_num_threads();
}

/* The last rank waits for none. */
__dpa_global__ void wait_for_next_rank(uint64_t words)
{
	volatile uint64_t *has_run = (volatile uint64_t *)words;
	unsigned int rank = doca_dpa_dev_thread_rank();

	while (rank + 1 < doca_dpa_dev_num_threads() && !has_run[rank + 1])
		;
	has_run[rank] = 1;
}

__dpa_global__ void follow_event(doca_dpa_dev_sync_event_t heard, doca_dpa_dev_sync_event_t said)
{
	doca_dpa_dev_sync_event_wait_gt(heard, 6, UINT64_MAX);
	doca_dpa_dev_sync_event_update_add(said, 2);
	doca_dpa_dev_sync_event_update_set(said, 9);
}

/* ---- threads ---- */

struct storage {
	doca_dpa_dev_sync_event_t event;
	uint64_t runs, rank;
	bool finishes;
};

__dpa_global__ void run_thread(uint64_t arg)
{
	struct storage *storage = (struct storage *)doca_dpa_dev_thread_get_local_storage();

	storage->runs += arg;
	storage->rank = doca_dpa_dev_thread_rank();
	doca_dpa_dev_sync_event_update_add(storage->event, 1);
	if (storage->finishes)
		doca_dpa_dev_thread_finish();
	doca_dpa_dev_thread_reschedule();
}

__dpa_global__ void wait_for_ever(uint64_t event)
{
	doca_dpa_dev_sync_event_update_add(event, 1);
	doca_dpa_dev_sync_event_wait_gt(event, UINT64_MAX - 1, UINT64_MAX);
}

/* ---- for the checker's cases ---- */

/* Copy a word to the next line of the map, so often; each copy has a completion. */
__dpa_rpc__ uint64_t post_copies(doca_dpa_dev_async_ops_t queue, doca_dpa_dev_mmap_t map, uint64_t addr, uint64_t num)
{
	while (num-- > 0)
		doca_dpa_dev_post_memcpy(queue, map, addr + 64, map, addr, 8, DOCA_DPA_DEV_SUBMIT_FLAG_FLUSH);
	return 0;
}

static uint64_t take_all(doca_dpa_dev_completion_t completion, uint64_t acks)
{
	doca_dpa_dev_completion_element_t element;
	uint64_t num = 0;

	while (doca_dpa_dev_get_completion(completion, &element))
		num++;
	if (acks)
		doca_dpa_dev_completion_ack(completion, num);
	return num;
}

__dpa_rpc__ uint64_t take_completions(doca_dpa_dev_completion_t completion, uint64_t acks)
{
	return take_all(completion, acks);
}

__dpa_rpc__ uint64_t get_window(doca_dpa_dev_mmap_t map, uint64_t addr)
{
	return doca_dpa_dev_mmap_get_external_ptr(map, addr);
}

/* A thread that takes what there is, and sleeps, with or without a request for the next notification. */
struct napper {
	doca_dpa_dev_completion_t completion;
	doca_dpa_dev_sync_event_t event;
	uint64_t arms, acks;
};

__dpa_global__ void nap(uint64_t arg)
{
	const struct napper *napper = (const struct napper *)arg;

	take_all(napper->completion, napper->acks);
	if (napper->arms)
		doca_dpa_dev_completion_request_notification(napper->completion);
	doca_dpa_dev_sync_event_update_add(napper->event, 1);
	doca_dpa_dev_thread_reschedule();
}

/* ---- for ci/bench dpa ---- */

__dpa_rpc__ uint64_t do_nothing(void)
{
	return 0;
}

__dpa_global__ void begin_and_end(void)
{
}

/* A load and a store of the heap for each round. */
__dpa_rpc__ uint64_t load_and_store(uint64_t addr, uint64_t rounds)
{
	uint64_t *words = (uint64_t *)addr;

	for (uint64_t i = 0; i < rounds; i++)
		words[i % 512] = words[(i + 7) % 512] + i;
	return words[0];
}

__dpa_rpc__ uint64_t calculate(uint64_t rounds)
{
	uint64_t value = rounds;

	for (uint64_t i = 0; i < rounds; i++) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
		value = value * UINT64_C(6364136223846793005) + i;
	}
	return value;
}
