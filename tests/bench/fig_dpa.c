/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPA: RPCs and launches against exchanges of two threads by a futex, guarded kernels against plain ones, waiting kernels. */
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_dpa.h>
#include <doca_sync_event.h>

#include "fig.h"

#define MANY_RANKS    34
#define LOOP_ROUNDS   UINT64_C(200000)
#define NUM_WAITING   32
#define NUM_REACTIONS 51

/* Device code of tests/api/dpa/kernels.c. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t do_nothing, begin_and_end, load_and_store, calculate, follow_event;

struct card {
	struct doca_dev *dev;
	struct doca_dpa *guarded, *plain;
	doca_dpa_dev_uintptr_t guarded_block, plain_block;
	struct doca_sync_event *end;
	uint64_t num_ended;
};

static int check_call(doca_error_t result, const char *what)
{
	return result == DOCA_SUCCESS ? 0 : bench_fail("%s: %s", what, doca_error_get_name(result));
}

#define TRY(call)                                \
	do {                                     \
		if (check_call(call, #call) < 0) \
			return -1;               \
	} while (0)

static int open_dev(struct card *card)
{
	struct doca_devinfo **list;
	uint32_t num = 0;

	TRY(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && !card->dev; i++)
		if (doca_dpa_cap_is_supported(list[i]) == DOCA_SUCCESS)
			TRY(doca_dev_open(list[i], &card->dev));
	TRY(doca_devinfo_destroy_list(list));
	return card->dev ? 0 : bench_fail("no device has a DPA");
}

static int open_dpa(struct card *card, bool is_guarded, struct doca_dpa **ret_dpa, doca_dpa_dev_uintptr_t *ret_block)
{
	setenv("BFSIM_DPA_GUARD", is_guarded ? "on" : "off", 1);
	TRY(doca_dpa_create(card->dev, ret_dpa));
	TRY(doca_dpa_set_app(*ret_dpa, dpa_test_app));
	TRY(doca_dpa_start(*ret_dpa));
	TRY(doca_dpa_mem_alloc(*ret_dpa, 4096, ret_block));
	TRY(doca_dpa_memset(*ret_dpa, *ret_block, 0, 4096));
	unsetenv("BFSIM_DPA_GUARD");
	return 0;
}

static int open_event(struct card *card, struct doca_sync_event **ret_event)
{
	TRY(doca_sync_event_create(ret_event));
	TRY(doca_sync_event_add_publisher_location_cpu(*ret_event, card->dev));
	TRY(doca_sync_event_add_publisher_location_dpa(*ret_event, card->guarded));
	TRY(doca_sync_event_add_subscriber_location_cpu(*ret_event, card->dev));
	TRY(doca_sync_event_add_subscriber_location_dpa(*ret_event, card->guarded));
	TRY(doca_sync_event_start(*ret_event));
	return 0;
}

static int open_card(struct card *card)
{
	if (open_dev(card) < 0 || open_dpa(card, true, &card->guarded, &card->guarded_block) < 0 ||
	    open_dpa(card, false, &card->plain, &card->plain_block) < 0)
		return -1;
	return open_event(card, &card->end);
}

static int close_card(struct card *card)
{
	TRY(doca_sync_event_destroy(card->end));
	TRY(doca_dpa_destroy(card->guarded));
	TRY(doca_dpa_destroy(card->plain));
	TRY(doca_dev_close(card->dev));
	return 0;
}

/* ---- the baseline: two threads that wake each other ---- */

struct partner {
	pthread_t threads[MANY_RANKS];
	int num_threads;
	_Atomic uint32_t asked, answered; /* counts */
	atomic_bool ends;
};

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void *run_partner(void *arg)
{
	struct partner *partner = arg;
	uint32_t seen = 0;

	for (;;) {
		while (atomic_load(&partner->asked) == seen)
			futex_wait(&partner->asked, seen);
		seen++;
		if (atomic_load(&partner->ends))
			return NULL;
		atomic_fetch_add(&partner->answered, 1);
		futex_wake(&partner->answered);
	}
}

static int start_partner(struct partner *partner, int num_threads)
{
	*partner = (struct partner){ .num_threads = num_threads };
	for (int i = 0; i < num_threads; i++)
		if (pthread_create(&partner->threads[i], NULL, run_partner, partner) != 0)
			return bench_fail("no thread");
	return 0;
}

static void end_partner(struct partner *partner)
{
	atomic_store(&partner->ends, true);
	atomic_fetch_add(&partner->asked, 1);
	futex_wake(&partner->asked);
	for (int i = 0; i < partner->num_threads; i++)
		pthread_join(partner->threads[i], NULL);
}

/* All threads are asked, and have answered. */
static void exchange(struct partner *partner)
{
	uint32_t wanted = atomic_load(&partner->answered) + (uint32_t)partner->num_threads, now;

	atomic_fetch_add(&partner->asked, 1);
	futex_wake(&partner->asked);
	while ((now = atomic_load(&partner->answered)) != wanted)
		futex_wait(&partner->answered, now);
}

static int run_exchanges(void *arg, uint32_t count, uint64_t *ret_ns)
{
	uint64_t begin_ns = bench_now_ns();

	for (uint32_t i = 0; i < count; i++)
		exchange(arg);
	*ret_ns = bench_now_ns() - begin_ns;
	return 0;
}

/* ---- RPCs and launches ---- */

static int run_rpcs(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct card *card = arg;
	uint64_t begin_ns = bench_now_ns(), value;

	for (uint32_t i = 0; i < count; i++)
		TRY(doca_dpa_rpc(card->guarded, do_nothing, &value));
	*ret_ns = bench_now_ns() - begin_ns;
	return 0;
}

static int run_launches_of(struct card *card, unsigned int num_ranks, uint32_t count, uint64_t *ret_ns)
{
	uint64_t begin_ns = bench_now_ns();

	for (uint32_t i = 0; i < count; i++) {
		TRY(doca_dpa_kernel_launch_update_add(card->guarded, NULL, 0, card->end, 1, num_ranks, begin_and_end));
		TRY(doca_sync_event_wait_gt(card->end, card->num_ended++, UINT64_MAX));
	}
	*ret_ns = bench_now_ns() - begin_ns;
	return 0;
}

static int run_launches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_launches_of(arg, 1, count, ret_ns);
}

static int run_wide_launches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_launches_of(arg, MANY_RANKS, count, ret_ns);
}

static int run_two_exchanges(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_exchanges(arg, 2 * count, ret_ns);
}

static int compare(const struct bench_report *report, const struct bench_row *row, struct card *card,
		   int (*run)(void *arg, uint32_t count, uint64_t *ret_ns), int num_threads,
		   int (*run_baseline)(void *arg, uint32_t count, uint64_t *ret_ns))
{
	struct partner partner;
	struct bench_cfg cfg = { .ours = { run, card },
				 .baseline = { run_baseline, &partner },
				 .warm_up = 200,
				 .slice_warm_up = 10,
				 .rounds = 41 };
	struct bench_result result;
	int rc = start_partner(&partner, num_threads);

	if (rc == 0)
		rc = bench_measure(&cfg, &result);
	end_partner(&partner);
	return rc == 0 ? bench_report_result(report, row, &result, BENCH_LATENCY, 0) : rc;
}

/* ---- guarded and plain kernels ---- */

static int run_loops(struct doca_dpa *dpa, doca_dpa_dev_uintptr_t block, uint32_t count, uint64_t *ret_ns)
{
	uint64_t begin_ns = bench_now_ns(), value;

	for (uint32_t i = 0; i < count; i++)
		TRY(block ? doca_dpa_rpc(dpa, load_and_store, &value, (uint64_t)block, LOOP_ROUNDS) :
			    doca_dpa_rpc(dpa, calculate, &value, LOOP_ROUNDS));
	*ret_ns = bench_now_ns() - begin_ns;
	return 0;
}

static int run_guarded_memory(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct card *card = arg;

	return run_loops(card->guarded, card->guarded_block, count, ret_ns);
}

static int run_plain_memory(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct card *card = arg;

	return run_loops(card->plain, card->plain_block, count, ret_ns);
}

static int run_guarded_arithmetic(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_loops(((struct card *)arg)->guarded, 0, count, ret_ns);
}

static int run_plain_arithmetic(void *arg, uint32_t count, uint64_t *ret_ns)
{
	return run_loops(((struct card *)arg)->plain, 0, count, ret_ns);
}

static int compare_images(const struct bench_report *report, const struct bench_row *row, struct card *card,
			  int (*run)(void *arg, uint32_t count, uint64_t *ret_ns),
			  int (*run_plain)(void *arg, uint32_t count, uint64_t *ret_ns))
{
	const struct bench_cfg cfg = {
		.ours = { run, card }, .baseline = { run_plain, card }, .warm_up = 3, .rounds = 21
	};
	struct bench_result result;

	return bench_measure(&cfg, &result) < 0 ? -1 : bench_report_result(report, row, &result, BENCH_LATENCY, 0);
}

/* ---- kernels that wait ---- */

static uint64_t process_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* @num_ranks kernels wait for @heard for a while. Measures their CPU time, and then how soon the launch ends. */
static int wait_and_react(struct card *card, unsigned int num_ranks, const struct timespec *wait, double *ret_cpu_ns,
			  double *ret_reaction_ns)
{
	doca_dpa_dev_sync_event_t heard_handle, said_handle;
	struct doca_sync_event *heard, *said;
	uint64_t begin_ns;

	if (open_event(card, &heard) < 0 || open_event(card, &said) < 0)
		return -1;
	TRY(doca_sync_event_get_dpa_handle(heard, card->guarded, &heard_handle));
	TRY(doca_sync_event_get_dpa_handle(said, card->guarded, &said_handle));
	TRY(doca_dpa_kernel_launch_update_add(card->guarded, NULL, 0, card->end, 1, num_ranks, follow_event,
					      heard_handle, said_handle));
	nanosleep(wait, NULL); /* the kernels have polled for long enough to sleep */
	begin_ns = process_cpu_ns();
	nanosleep(wait, NULL);
	*ret_cpu_ns = (double)(process_cpu_ns() - begin_ns);
	begin_ns = bench_now_ns();
	TRY(doca_sync_event_update_set(heard, 7));
	TRY(doca_sync_event_wait_gt(card->end, card->num_ended++, UINT64_MAX));
	*ret_reaction_ns = (double)(bench_now_ns() - begin_ns);
	TRY(doca_sync_event_destroy(heard));
	TRY(doca_sync_event_destroy(said));
	return 0;
}

static int report_waiting(const struct bench_report *report, struct card *card)
{
	struct bench_row row = { .name = "32 kernels that wait, CPU",
				 .unit = "% of a core",
				 .baseline = NAN,
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 5 };
	const struct timespec wait = { .tv_sec = 1 };
	double cpu_ns, reaction_ns;

	if (wait_and_react(card, NUM_WAITING, &wait, &cpu_ns, &reaction_ns) < 0)
		return -1;
	row.ours = cpu_ns / 1e9 * 100;
	return bench_report_row(report, &row);
}

static int report_reaction(const struct bench_report *report, struct card *card)
{
	struct bench_row row = { .name = "a kernel that waits answers after",
				 .unit = "us",
				 .baseline = NAN,
				 .ratio = NAN,
				 .goal = BENCH_OURS_AT_MOST,
				 .limit = 300 };
	const struct timespec wait = { .tv_nsec = 15000000 };
	double reactions[NUM_REACTIONS], cpu_ns;

	for (int i = 0; i < NUM_REACTIONS; i++)
		if (wait_and_react(card, 1, &wait, &cpu_ns, &reactions[i]) < 0)
			return -1;
	row.ours = bench_median(reactions, NUM_REACTIONS) / 1000;
	return bench_report_row(report, &row);
}

/* ---- fatal kernels ---- */

static int report_fatal(const struct bench_report *report, struct card *card)
{
	struct bench_row row = {
		.name = "a fatal kernel, to the next context", .unit = "us", .baseline = NAN, .ratio = NAN
	};
	double times[NUM_REACTIONS];
	char path[64];
	uint64_t value;

	snprintf(path, sizeof(path), "/tmp/doca_dpa_fatal.%d.crash", (int)getpid());
	for (int i = 0; i < NUM_REACTIONS; i++) {
		uint64_t begin_ns = bench_now_ns();

		if (doca_dpa_rpc(card->guarded, load_and_store, &value, UINT64_C(64), UINT64_C(1)) != DOCA_ERROR_DRIVER)
			return bench_fail("the kernel was not fatal");
		TRY(doca_dpa_stop(card->guarded));
		TRY(doca_dpa_start(card->guarded));
		times[i] = (double)(bench_now_ns() - begin_ns);
	}
	unlink(path);
	row.ours = bench_median(times, NUM_REACTIONS) / 1000;
	return bench_report_row(report, &row);
}

/* Fatal kernels come last: they log. */
static int run_all(const struct bench_report *report, struct card *card)
{
	static const struct bench_row rpc = { .name = "RPC of an empty kernel",
					      .baseline_name = "call and answer by a futex",
					      .goal = BENCH_RATIO_AT_MOST,
					      .limit = 1.5 };
	static const struct bench_row launch = { .name = "launch and its event, 1 rank",
						 .baseline_name = "two such exchanges",
						 .goal = BENCH_RATIO_AT_MOST,
						 .limit = 1.5 };
	static const struct bench_row wide = { .name = "launch and its event, 34 ranks",
					       .baseline_name = "exchange with 34 threads",
					       .goal = BENCH_RATIO_AT_MOST,
					       .limit = 1.5 };
	static const struct bench_row memory = { .name = "200k loads and stores of the heap",
						 .baseline_name = "plain image",
						 .goal = BENCH_RATIO_AT_MOST,
						 .limit = 6 };
	static const struct bench_row arithmetic = { .name = "200k rounds of arithmetic",
						     .baseline_name = "plain image",
						     .goal = BENCH_RATIO_AT_MOST,
						     .limit = 1.4 };

	if (compare(report, &rpc, card, run_rpcs, 1, run_exchanges) < 0 ||
	    compare(report, &launch, card, run_launches, 1, run_two_exchanges) < 0 ||
	    compare(report, &wide, card, run_wide_launches, MANY_RANKS, run_exchanges) < 0 ||
	    compare_images(report, &memory, card, run_guarded_memory, run_plain_memory) < 0 ||
	    compare_images(report, &arithmetic, card, run_guarded_arithmetic, run_plain_arithmetic) < 0)
		return -1;
	return report_waiting(report, card) < 0 || report_reaction(report, card) < 0 ? -1 : report_fatal(report, card);
}

int bench_fig_dpa(const struct bench_report *report)
{
	struct card card = { 0 };

	setenv("BFSIM_LOG_LEVEL", "20", 1);
	if (open_card(&card) < 0 || run_all(report, &card) < 0)
		return -1;
	TRY(doca_dpa_mem_free(card.plain, card.plain_block));
	return close_card(&card);
}
