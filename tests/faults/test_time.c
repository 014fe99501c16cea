/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that a fault delays in virtual time (doc/time.md): the delay is session time, however long, and other
 * contexts' times do not change.
 *
 * A process uses one card, so each test's part on a card is a process of its own; it ends well, or aborts. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfsim.h>

#include "tests/api/dma_util.h"
#include "tests/api/sync_event_util.h"

#define LONG_NS UINT64_C(5000000000000) /* "5000s": far beyond any real wait */
#define TASKS   8

typedef void program(void);

static void run(program *program)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setenv("BFSIM_CLOCK", "virtual", 1);
		program();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The only rule; its id. */
static uint32_t add_rule(const char *rule)
{
	uint32_t id;

	CHECK(bfsim_fault_clear() == 0 && bfsim_fault_add(rule, &id) == 0);
	return id;
}

/* ---- each of the calls ---- */

#define CHECK_TAKES(call, ns)                              \
	do {                                               \
		uint64_t begin_ns_ = bfsim_now_ns();       \
		MUST(call);                                \
		CHECK(bfsim_now_ns() - begin_ns_ == (ns)); \
	} while (0)

static void opens_a_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	MUST(doca_devinfo_create_list(&list, &count));
	add_rule("dev.open delay=5000s");
	CHECK_TAKES(doca_dev_open(list[0], &dev), LONG_NS);
	MUST(doca_dev_close(dev));
	MUST(doca_devinfo_destroy_list(list));
}

static void starts_a_context(void)
{
	struct rig *rig = rig_open(NULL);

	add_rule("ctx.start delay=5000s");
	CHECK_TAKES(doca_ctx_start(rig->ctx), LONG_NS);
	rig_close(rig);
}

static void exports_memory(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_mmap *map;
	static char memory[64];
	const void *bytes;
	size_t len;

	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, memory, sizeof(memory)));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_add_dev(map, rig->dev));
	MUST(doca_mmap_start(map));
	add_rule("mmap.export nth=2 delay=uniform(1s,5000s)");
	CHECK_TAKES(doca_mmap_export_pci(map, rig->dev, &bytes, &len), 0);
	add_rule("mmap.export delay=5000s");
	CHECK_TAKES(doca_mmap_export_pci(map, rig->dev, &bytes, &len), LONG_NS);
	CHECK_TAKES(doca_mmap_export_pci(map, rig->dev, &bytes, &len), LONG_NS);
	MUST(doca_mmap_destroy(map));
	rig_close(rig);
}

static void uses_a_sync_event(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_sync_event *event = se_started(rig->dev);

	add_rule("sync_event.update delay=5000s");
	CHECK_TAKES(doca_sync_event_update_set(event, 7), LONG_NS);
	add_rule("sync_event.wait delay=1ns");
	CHECK_TAKES(doca_sync_event_wait_eq(event, 7, UINT64_MAX), 1);
	add_rule("sync_event.wait fail=IO_FAILED delay=5000s");
	CHECK(doca_sync_event_wait_eq(event, 7, UINT64_MAX) == DOCA_ERROR_IO_FAILED);
	CHECK(bfsim_now_ns() == 2 * LONG_NS + 1);
	se_end(event);
	rig_close(rig);
}

static void test_delay_of_a_call_is_virtual_time(void **state)
{
	run(opens_a_device);
	run(starts_a_context);
	run(exports_memory);
	run(uses_a_sync_event);
}

/* ---- others meanwhile ---- */

/* A thread that copies, and notes when each task ended. */
struct copier {
	struct rig *rig;
	uint64_t ended_ns[TASKS];
	unsigned int ended;
	void (*then)(struct copier *copier); /* when a task has ended */
	struct doca_sync_event *event;
};

static void on_task(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct copier *copier = rig->arg;

	doca_task_free(doca_dma_task_memcpy_as_task(task));
	copier->ended_ns[copier->ended++] = bfsim_now_ns();
	if (copier->then)
		copier->then(copier);
}

static void copier_open(struct copier *copier)
{
	*copier = (struct copier){ .rig = rig_start(rig_open(NULL)) };
	copier->rig->on_task = on_task;
	copier->rig->arg = copier;
}

static void submit(struct copier *copier, unsigned int number)
{
	size_t at = copier->rig->arena_bytes / 2 + number * 2048;

	MUST(doca_task_submit(
		rig_task(copier->rig, number, rig_src(copier->rig, 0, 2048), rig_dst(copier->rig, at, 2048))));
}

static void copy_all(struct copier *copier)
{
	for (unsigned int i = 0; i < TASKS; i++)
		submit(copier, i);
	while (copier->ended < TASKS)
		doca_pe_progress(copier->rig->pe);
}

/* Tasks of another context complete during the delayed call; their owner sees them with their own end times. */
struct other {
	struct copier copier;
	pthread_barrier_t *barrier;
	uint32_t rule;
};

static void *copies(void *arg)
{
	struct other *other = arg;

	copier_open(&other->copier);
	pthread_barrier_wait(other->barrier); /* its tasks take part ... */
	pthread_barrier_wait(other->barrier); /* ... and so do both */
	copy_all(&other->copier);
	return NULL;
}

/* The times at which the other's tasks end, while this thread makes the call after all of them have joined. */
static void copy_during(void (*what)(struct doca_sync_event *event), uint64_t ended_ns[TASKS])
{
	pthread_barrier_t barrier;
	struct other other = { .barrier = &barrier };
	struct doca_sync_event *event;
	pthread_t thread;
	struct rig *rig;

	pthread_barrier_init(&barrier, NULL, 2);
	CHECK(pthread_create(&thread, NULL, copies, &other) == 0);
	pthread_barrier_wait(&barrier);
	rig = rig_start(rig_open(NULL));
	event = se_started(rig->dev);
	pthread_barrier_wait(&barrier);
	what(event);
	pthread_join(thread, NULL);
	memcpy(ended_ns, other.copier.ended_ns, sizeof(other.copier.ended_ns));
	rig_close(other.copier.rig);
	se_end(event);
	rig_close(rig);
	pthread_barrier_destroy(&barrier);
}

static void is_late(struct doca_sync_event *event)
{
	uint64_t begin_ns = bfsim_now_ns();

	add_rule("sync_event.update delay=1300ns");
	for (uint64_t i = 1; i <= 10; i++) {
		MUST(doca_sync_event_update_set(event, i));
		CHECK(bfsim_now_ns() == begin_ns + i * 1300);
	}
	CHECK(bfsim_fault_clear() == 0);
}

/* Alone, on a card that was just joined. */
static void copies_beside_a_late_call(void)
{
	uint64_t beside_ns[TASKS], begin_ns, alone_ns;
	struct copier alone;

	copy_during(is_late, beside_ns);
	begin_ns = bfsim_now_ns();
	copier_open(&alone);
	copy_all(&alone);
	for (int i = 0; i < TASKS; i++) {
		alone_ns = alone.ended_ns[i] - begin_ns;
		CHECK(alone_ns > 0 && alone_ns == beside_ns[i]);
	}
	rig_close(alone.rig);
}

static void test_late_call_delays_no_other_context(void **state)
{
	for (int i = 0; i < 5; i++)
		run(copies_beside_a_late_call);
}

/* ---- in the middle of one's own ---- */

static void is_late_once(struct copier *copier)
{
	if (copier->ended != 1)
		return;
	add_rule("sync_event.update delay=5000s");
	MUST(doca_sync_event_update_set(copier->event, 1));
}

/* Its callback was late, and so are those behind it: all had ended by then. */
static void is_late_in_a_callback(void)
{
	struct copier copier;

	copier_open(&copier);
	copier.event = se_started(copier.rig->dev);
	copier.then = is_late_once;
	copy_all(&copier);
	for (int i = 1; i < TASKS; i++)
		CHECK(copier.ended_ns[i] == copier.ended_ns[0] + LONG_NS);
	se_end(copier.event);
	rig_close(copier.rig);
}

static void test_late_call_in_a_callback_holds_up_the_next_ones(void **state)
{
	run(is_late_in_a_callback);
}

/* ---- never ---- */

static void *hangs(void *arg)
{
	struct other *other = arg;
	struct doca_sync_event *event;
	struct rig *rig = rig_start(rig_open(NULL));

	event = se_started(rig->dev);
	other->rule = add_rule("sync_event.wait hang");
	pthread_barrier_wait(other->barrier);
	doca_sync_event_wait_eq(event, 1, UINT64_MAX);
	return NULL;
}

/* A process in a hanging call gets no stall warning. Its log is the text. */
static void copies_beside_a_call_that_hangs(void)
{
	char text[4096] = "";
	pthread_barrier_t barrier;
	struct other other = { .barrier = &barrier };
	FILE *file = tmpfile();
	struct bfsim_fault fault;
	pthread_t thread;

	CHECK(file && dup2(fileno(file), STDERR_FILENO) >= 0);
	pthread_barrier_init(&barrier, NULL, 2);
	copier_open(&other.copier);
	CHECK(pthread_create(&thread, NULL, hangs, &other) == 0);
	pthread_barrier_wait(&barrier);
	do {
		CHECK(bfsim_fault_get(other.rule, &fault) == 0);
	} while (fault.fired == 0);
	copy_all(&other.copier);
	CHECK(bfsim_now_ns() == other.copier.ended_ns[TASKS - 1]);
	rewind(file);
	CHECK(fread(text, 1, sizeof(text) - 1, file) < sizeof(text) - 1);
	CHECK(!strstr(text, "no longer waits"));
}

static void test_virtual_time_does_not_wait_for_a_call_that_hangs(void **state)
{
	run(copies_beside_a_call_that_hangs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delay_of_a_call_is_virtual_time),
		cmocka_unit_test(test_late_call_delays_no_other_context),
		cmocka_unit_test(test_late_call_in_a_callback_holds_up_the_next_ones),
		cmocka_unit_test(test_virtual_time_does_not_wait_for_a_call_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
