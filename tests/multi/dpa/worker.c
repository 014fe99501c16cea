/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with kernels, DPA threads and sync events, which prints what it saw.
 *
 *   dpa_worker order|ring|answer|rpc|fatal|all [ROUNDS]
 */
#include <doca_sync_event.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "open.h"
#include "shared.h"

extern struct doca_dpa_app *dpa_worker_app;
doca_dpa_func_t take_numbers, pass_on, answer, kick, compute, walk, load;

#define NUM_RANKS   8
#define NUM_THREADS 4

static struct doca_sync_event *open_event(doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	OK(doca_sync_event_add_publisher_location_dpa(event, dpa));
	OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	OK(doca_sync_event_add_subscriber_location_dpa(event, dpa));
	OK(doca_sync_event_start(event));
	OK(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

static doca_dpa_dev_uintptr_t open_shared(void)
{
	doca_dpa_dev_uintptr_t addr;

	OK(doca_dpa_mem_alloc(dpa, sizeof(struct dpa_shared), &addr));
	OK(doca_dpa_memset(dpa, addr, 0, sizeof(struct dpa_shared)));
	return addr;
}

/* Ranks of a launch behind an event that the host sets; the order in which they took numbers. */
static void run_order(unsigned long rounds)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *begin = open_event(&handle), *end = open_event(&handle);
	doca_dpa_dev_uintptr_t addr = open_shared();
	struct dpa_shared shared;

	for (unsigned long i = 0; i < rounds; i++) {
		OK(doca_dpa_kernel_launch_update_add(dpa, begin, i, end, 1, NUM_RANKS, take_numbers, addr,
						     UINT32_C(4)));
		OK(doca_sync_event_update_set(begin, i + 1));
		OK(doca_sync_event_wait_gt(end, i, UINT64_MAX));
	}
	OK(doca_dpa_d2h_memcpy(dpa, &shared, addr, sizeof(shared)));
	for (uint64_t i = 0; i < shared.next && i < DPA_MAX_ORDER; i++)
		printf("%" PRIu64 "%c", shared.order[i], i % 16 == 15 ? '\n' : ' ');
	printf("\n%" PRIu64 " numbers\n", shared.next);
	OK(doca_dpa_mem_free(dpa, addr));
	OK(doca_sync_event_destroy(begin));
	OK(doca_sync_event_destroy(end));
}

struct ring {
	struct doca_dpa_thread *threads[NUM_THREADS];
	struct doca_dpa_notification_completion *notifications[NUM_THREADS];
	doca_dpa_dev_notification_completion_t handles[NUM_THREADS];
	doca_dpa_dev_uintptr_t places[NUM_THREADS];
	struct doca_dpa_eu_affinity *affinity[NUM_THREADS];
};

/* Two of the threads share an EU, one may run on any. */
static void open_thread(struct ring *ring, unsigned i)
{
	OK(doca_dpa_mem_alloc(dpa, sizeof(struct dpa_place), &ring->places[i]));
	OK(doca_dpa_thread_create(dpa, &ring->threads[i]));
	OK(doca_dpa_thread_set_func_arg(ring->threads[i], pass_on, ring->places[i]));
	OK(doca_dpa_eu_affinity_create(dpa, &ring->affinity[i]));
	OK(doca_dpa_eu_affinity_set(ring->affinity[i], i / 2));
	if (i > 0)
		OK(doca_dpa_thread_set_affinity(ring->threads[i], ring->affinity[i]));
	OK(doca_dpa_thread_start(ring->threads[i]));
	OK(doca_dpa_notification_completion_create(dpa, ring->threads[i], &ring->notifications[i]));
	OK(doca_dpa_notification_completion_start(ring->notifications[i]));
	OK(doca_dpa_notification_completion_get_dpa_handle(ring->notifications[i], &ring->handles[i]));
}

static void close_thread(struct ring *ring, unsigned i)
{
	OK(doca_dpa_notification_completion_destroy(ring->notifications[i]));
	OK(doca_dpa_thread_destroy(ring->threads[i]));
	OK(doca_dpa_eu_affinity_destroy(ring->affinity[i]));
	OK(doca_dpa_mem_free(dpa, ring->places[i]));
}

static void run_ring(unsigned long rounds)
{
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = open_event(&handle);
	doca_dpa_dev_uintptr_t addr = open_shared();
	struct ring ring;
	uint64_t at_us;

	for (unsigned i = 0; i < NUM_THREADS; i++)
		open_thread(&ring, i);
	for (unsigned i = 0; i < NUM_THREADS; i++) {
		struct dpa_place place = { .shared = addr,
					   .number = i,
					   .max_passes = rounds,
					   .next = ring.handles[(i + 1) % NUM_THREADS],
					   .event = handle };

		OK(doca_dpa_h2d_memcpy(dpa, ring.places[i], &place, sizeof(place)));
		OK(doca_dpa_thread_run(ring.threads[i]));
	}
	OK(doca_dpa_rpc(dpa, kick, &at_us, ring.handles[0]));
	printf("kicked at %" PRIu64 " us\n", at_us);
	OK(doca_sync_event_wait_gt(event, rounds - 1, UINT64_MAX));
	for (unsigned i = 0; i < NUM_THREADS; i++)
		close_thread(&ring, i);
	OK(doca_dpa_mem_free(dpa, addr));
	OK(doca_sync_event_destroy(event));
}

/* Host and kernel answer each other. */
static void run_answer(unsigned long rounds)
{
	doca_dpa_dev_sync_event_t heard, said;
	struct doca_sync_event *to_dpa = open_event(&heard), *to_host = open_event(&said);

	OK(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, answer, heard, said, (uint64_t)rounds));
	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t before;

		OK(doca_sync_event_update_add(to_dpa, 1, &before));
		OK(doca_sync_event_wait_gt(to_host, i, UINT64_MAX));
	}
	printf("%lu answers\n", rounds);
	OK(doca_sync_event_destroy(to_dpa));
	OK(doca_sync_event_destroy(to_host));
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* In timed mode @rounds of a kernel take at least its own time. */
static void run_timed(unsigned long rounds)
{
	uint64_t begin = now_ns(), took_ns, sum;

	OK(doca_dpa_rpc(dpa, compute, &sum, UINT64_C(100000)));
	(void)rounds;
	took_ns = now_ns() - begin;
	printf("100000 rounds took %s than 200 us\n", took_ns < 200000 ? "less" : "more");
}

static void run_rpc(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t sum;

		OK(doca_dpa_rpc(dpa, compute, &sum, 100 * (uint64_t)(i % 7)));
		printf("sum %" PRIu64 "\n", sum);
	}
}

/* Records of 64 bytes, in an order that is no line's neighbour. */
static void run_walk(unsigned long num)
{
	uint64_t(*records)[8] = calloc(num, sizeof(*records)), cycles;
	doca_dpa_dev_uintptr_t addr;

	OK(doca_dpa_mem_alloc(dpa, num * sizeof(*records), &addr));
	for (unsigned long i = 0; i < num; i++)
		records[i][0] = addr + (i + 7) % num * sizeof(*records);
	OK(doca_dpa_h2d_memcpy(dpa, addr, records, num * sizeof(*records)));
	OK(doca_dpa_rpc(dpa, walk, &cycles, addr, (uint64_t)num));
	printf("%" PRIu64 " ns a record\n", cycles * 5 / 9 / num);
	free(records);
	OK(doca_dpa_mem_free(dpa, addr));
}

static void run_fatal(unsigned long rounds)
{
	doca_dpa_dev_sync_event_t heard, said;
	struct doca_sync_event *to_dpa = open_event(&heard), *to_host = open_event(&said);
	uint64_t value = rounds;

	OK(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 3, answer, heard, said, (uint64_t)1000));
	OK(doca_sync_event_update_set(to_dpa, 3));
	printf("load: %s\n", doca_error_get_name(doca_dpa_rpc(dpa, load, &value, UINT64_C(64))));
	OK(doca_sync_event_destroy(to_dpa));
	OK(doca_sync_event_destroy(to_host));
}

static void run(const char *what, unsigned long rounds)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long rounds);
		bool is_in_all;
	} runs[] = { { "order", run_order, true }, { "ring", run_ring, true },  { "answer", run_answer, true },
		     { "rpc", run_rpc, true },     { "walk", run_walk, false }, { "timed", run_timed, false },
		     { "fatal", run_fatal, false } };

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (strcmp(what, runs[i].name) == 0 || (strcmp(what, "all") == 0 && runs[i].is_in_all))
			runs[i].run(rounds);
}

int main(int argc, char **argv)
{
	open_dpa(dpa_worker_app);
	run(argc > 1 ? argv[1] : "all", argc > 2 ? strtoul(argv[2], NULL, 10) : 8);
	OK(doca_dpa_destroy(dpa));
	OK(doca_dev_close(dev));
	return 0;
}
