/* SPDX-License-Identifier: BSD-3-Clause */
/* The DPA: kernels that misbehave in each way, with the program's own signal handlers in place; kills of programs whose kernels run; heap that
 * is freed while kernels use it. */
#include "cmocka_test.h"
#include "hostile.h"

#include <doca_dpa.h>
#include <doca_sync_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../api/dma_util.h"

#define KILL_WITHIN_MS 60
#define NUM_WILD       16 /* kernels of a round */
#define TOPOLOGY_TEXT                         \
	"cards:\n"                            \
	"  - profile: bluefield-3\n"          \
	"    dpa: {eus: 8, run-time-ms: 5}\n" \
	"    functions: [{side: host, type: pf, pci: \"0000:3b:00.0\"}]\n"

/* Device code of tests/api/dpa/kernels.c. */
extern struct doca_dpa_app *dpa_test_app;
doca_dpa_func_t add, load, store, divide, run_for_ever, recurse_deeply, jump, get_event, set_device, poll_completion,
	notify, reschedule_rpc, wait_for_ever, record_rank;

static struct doca_dev *dev;

static struct doca_dpa *open_dpa(const struct bout *bout)
{
	char path[128];
	struct doca_dpa *dpa;

	dev = rig_open_dev(0);
	MUST(doca_dpa_create(dev, &dpa));
	MUST(doca_dpa_set_app(dpa, dpa_test_app));
	snprintf(path, sizeof(path), "%s.dpa", bout->dir);
	MUST(doca_dpa_log_file_set_path(dpa, path));
	MUST(doca_dpa_start(dpa));
	return dpa;
}

static void remove_files_of(const struct bout *bout, pid_t pid)
{
	char path[160];

	snprintf(path, sizeof(path), "%s.dpa", bout->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s.dpa.%d.crash", bout->dir, (int)pid);
	unlink(path);
}

static void remove_files(const struct bout *bout)
{
	remove_files_of(bout, getpid());
}

static struct doca_sync_event *open_event(struct doca_dpa *dpa, doca_dpa_dev_sync_event_t *ret_handle)
{
	struct doca_sync_event *event;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_dpa(event, dpa));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_get_dpa_handle(event, dpa, ret_handle));
	return event;
}

/* ---- kernels that misbehave ---- */

enum wild {
	LOAD_FROM_PROGRAM,
	STORE_TO_PROGRAM,
	LOAD_FROM_NOWHERE,
	STORE_TO_CODE,
	STORE_BEHIND_BLOCK,
	LOAD_FREED,
	DIVIDE,
	ENDLESS,
	RECURSE,
	JUMP_TO_PROGRAM,
	JUMP_NOWHERE,
	WRONG_EVENT,
	WRONG_DEVICE,
	WRONG_COMPLETION,
	WRONG_NOTIFICATION,
	RESCHEDULE,
	NUM_WAYS,
};

static doca_error_t misbehave(struct doca_dpa *dpa, enum wild way, doca_dpa_dev_uintptr_t block, uint64_t number)
{
	static uint64_t secret = 7;
	uint64_t got;

	switch (way) {
	case LOAD_FROM_PROGRAM:
		return doca_dpa_rpc(dpa, load, &got, (uint64_t)(uintptr_t)&secret);
	case STORE_TO_PROGRAM:
		return doca_dpa_rpc(dpa, store, &got, (uint64_t)(uintptr_t)&secret, UINT64_C(0));
	case LOAD_FROM_NOWHERE:
		return doca_dpa_rpc(dpa, load, &got, number << 3);
	case STORE_TO_CODE:
		return doca_dpa_rpc(dpa, store, &got, (uint64_t)(uintptr_t)&misbehave, UINT64_C(0));
	case STORE_BEHIND_BLOCK:
		return doca_dpa_rpc(dpa, store, &got, (uint64_t)block + 64 - number % 8, UINT64_C(1));
	case LOAD_FREED:
		MUST(doca_dpa_mem_free(dpa, block));
		return doca_dpa_rpc(dpa, load, &got, (uint64_t)block);
	case DIVIDE:
		return doca_dpa_rpc(dpa, divide, &got, number, UINT64_C(0));
	case ENDLESS:
		return doca_dpa_rpc(dpa, run_for_ever, &got);
	case RECURSE:
		return doca_dpa_rpc(dpa, recurse_deeply, &got, UINT64_C(1) << 20);
	case JUMP_TO_PROGRAM:
		return doca_dpa_rpc(dpa, jump, &got, number << 4);
	case JUMP_NOWHERE:
		return doca_dpa_rpc(dpa, jump, &got, UINT64_C(16));
	case WRONG_EVENT:
		return doca_dpa_rpc(dpa, get_event, &got, number);
	case WRONG_DEVICE:
		return doca_dpa_rpc(dpa, set_device, &got, number | 1);
	case WRONG_COMPLETION:
		return doca_dpa_rpc(dpa, poll_completion, &got, number);
	case WRONG_NOTIFICATION:
		return doca_dpa_rpc(dpa, notify, &got, number);
	default:
		return doca_dpa_rpc(dpa, reschedule_rpc, &got);
	}
}

/* aarch64 divides by zero. */
static bool is_fatal(enum wild way)
{
#if defined(__aarch64__)
	return way != DIVIDE;
#else
	(void)way;
	return true;
#endif
}

static volatile sig_atomic_t num_own;
static sigjmp_buf own_place;

static void on_own_signal(int number)
{
	(void)number;
	num_own++;
	siglongjmp(own_place, 1);
}

static void install_own_handlers(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE };
	struct sigaction action = { .sa_handler = on_own_signal, .sa_flags = SA_NODEFER };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		CHECK(sigaction(numbers[i], &action, NULL) == 0);
}

/* The program's own faults still come to its handler. */
static void check_own_handler(void)
{
	sig_atomic_t before = num_own;

	if (sigsetjmp(own_place, 1) == 0)
		*(volatile int *)(uintptr_t)16 = 1;
	CHECK(num_own == before + 1);
}

static int run_wild(struct bout *bout, int sock)
{
	struct doca_dpa *dpa;
	uint64_t sum;

	(void)sock;
	install_own_handlers();
	dpa = open_dpa(bout);
	for (int i = 0; i < NUM_WILD; i++) {
		enum wild way = (enum wild)bout_random(bout, NUM_WAYS);
		doca_dpa_dev_uintptr_t block;
		doca_error_t result;

		bout->tally->tried++;
		MUST(doca_dpa_mem_alloc(dpa, 64, &block));
		result = misbehave(dpa, way, block, bout_random(bout, UINT64_MAX));
		if ((result != DOCA_SUCCESS) != is_fatal(way)) {
			fprintf(stderr, "hostile: kernel %d: %s\n", (int)way, doca_error_get_name(result));
			return ROLE_WRONG;
		}
		check_own_handler();
		MUST(doca_dpa_stop(dpa));
		MUST(doca_dpa_start(dpa));
		MUST(doca_dpa_rpc(dpa, add, &sum, UINT64_C(40), UINT32_C(2)));
		if (sum != 42)
			return ROLE_WRONG;
	}
	MUST(doca_dpa_destroy(dpa));
	MUST(doca_dev_close(dev));
	remove_files(bout);
	return ROLE_DONE;
}

/* ---- programs whose kernels run ---- */

static int run_busy(struct bout *bout, int sock)
{
	struct doca_dpa *dpa = open_dpa(bout);
	doca_dpa_dev_sync_event_t handle, end_handle;
	struct doca_sync_event *event = open_event(dpa, &handle), *end = open_event(dpa, &end_handle);
	doca_dpa_dev_uintptr_t ranks;
	uint64_t sum;

	(void)sock;
	MUST(doca_dpa_mem_alloc(dpa, 8 * sizeof(uint64_t), &ranks));
	for (unsigned int i = 1; i <= 200; i++) {
		MUST(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, end, 1, 1 + i % 6, record_rank, ranks,
						       UINT64_C(0)));
		MUST(doca_dpa_rpc(dpa, add, &sum, UINT64_C(1), UINT32_C(1)));
		MUST(doca_sync_event_wait_gt(end, i - 1, UINT64_MAX));
	}
	MUST(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 2, wait_for_ever, handle));
	MUST(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
	MUST(doca_dpa_stop(dpa));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_sync_event_destroy(end));
	MUST(doca_dpa_destroy(dpa));
	MUST(doca_dev_close(dev));
	remove_files(bout);
	return ROLE_DONE;
}

/* ---- heap that goes ---- */

static struct doca_dpa *shared_dpa;
static _Atomic uint64_t shared_block;

static void *load_shared(void *arg)
{
	uint64_t got;

	(void)arg;
	while (doca_dpa_rpc(shared_dpa, load, &got, (uint64_t)shared_block) == DOCA_SUCCESS)
		continue;
	return NULL;
}

static int run_freeing(struct bout *bout, int sock)
{
	doca_dpa_dev_uintptr_t block;
	pthread_t threads[2];

	(void)sock;
	shared_dpa = open_dpa(bout);
	MUST(doca_dpa_mem_alloc(shared_dpa, 4096, &block));
	shared_block = block;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, load_shared, NULL) == 0);
	for (uint64_t i = bout_random(bout, 400); i > 0; i--) {
		doca_dpa_dev_uintptr_t other;

		if (doca_dpa_mem_alloc(shared_dpa, 1 + i, &other) == DOCA_SUCCESS)
			doca_dpa_mem_free(shared_dpa, other);
	}
	MUST(doca_dpa_mem_free(shared_dpa, block));
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	EXPECT(doca_dpa_peek_at_last_error(shared_dpa), DOCA_ERROR_BAD_STATE);
	MUST(doca_dpa_destroy(shared_dpa));
	MUST(doca_dev_close(dev));
	remove_files(bout);
	return ROLE_DONE;
}

/* ---- attacks ---- */

static void start_session(struct bout *bout, char path[112])
{
	FILE *file;

	snprintf(path, 112, "%s.yaml", bout->dir);
	file = fopen(path, "w");
	CHECK(file && fputs(TOPOLOGY_TEXT, file) >= 0 && fclose(file) == 0);
	bout->topology = path;
	bout_session(bout);
	unlink(path);
}

static void attack_kernels(struct bout *bout)
{
	char path[112];

	bout_connect_within(bout, 300);
	start_session(bout, path);
	bout_start(bout, "program", "host", strcmp(bout->path, "wild") == 0 ? run_wild : run_freeing, -1);
}

static void kill_kernels(struct bout *bout)
{
	struct party *victim;
	char path[112];

	bout->clock = strcmp(bout->path, "functional") == 0 ? NULL : bout->path;
	start_session(bout, path);
	victim = bout_start(bout, "program", "host", run_busy, -1);
	bout_kill_within(bout, victim, KILL_WITHIN_MS);
	bout_wait(bout, victim);
	remove_files_of(bout, victim->pid);
}

static const char *const ways[] = { "wild", "freed", NULL };
static const char *const clocks[] = { "functional", "timed", "virtual", NULL };

const struct attack attack_dpa = { "dpa", ways, 100, 2, attack_kernels };
const struct attack attack_kill_dpa = { "kill-dpa", clocks, 350, 3, kill_kernels };
