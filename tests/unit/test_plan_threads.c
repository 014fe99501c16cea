/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads and processes evaluate at the same time while the plan changes. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"
#include "sim/faults/inject/injector.h"

#define THREADS 3
#define ASKS    20000

struct asker {
	struct sim_injector *faults;
	pthread_t thread;
	uint64_t size;
	const atomic_bool *changing; /* evaluate while the plan changes */
	uint32_t asked, fired, wrong;
};

static struct sim_injector *view_of(struct sim_plan *plan)
{
	struct sim_injector_cfg cfg = { .plan = plan, .self = { "host", "app", 1 } };
	struct sim_injector *faults;

	assert_int_equal(sim_injector_create(&cfg, &faults), 0);
	return faults;
}

/* Rules of other sizes never fire, however often they change. */
static void *ask(void *arg)
{
	struct asker *asker = arg;
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY, .size = asker->size, .function = SIM_NO_FUNCTION };
	struct sim_fault_hit hit;

	while (asker->asked < ASKS || *asker->changing) {
		asker->asked++;
		if (!sim_injector_may_hit(asker->faults, site.op) || !sim_injector_evaluate(asker->faults, &site, &hit))
			continue;
		asker->fired += !!(hit.actions & SIM_ACT_BIT(SIM_ACT_TEAR));
		asker->wrong += (hit.actions & SIM_ACT_BIT(SIM_ACT_DELAY)) && hit.delay_ns % 1000 != asker->size;
	}
	return NULL;
}

static void start(struct asker *askers, struct sim_injector *faults, const atomic_bool *changing)
{
	for (int i = 0; i < THREADS; i++) {
		askers[i] = (struct asker){ .faults = faults, .size = 64 + (uint64_t)i, .changing = changing };
		assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
	}
}

static void join(struct asker *askers)
{
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
}

struct counts {
	uint32_t id;
	uint64_t matched, fired;
};

static void find_counts(void *arg, const struct sim_plan_rule *rule)
{
	struct counts *counts = arg;

	if (rule->id == counts->id) {
		counts->matched = rule->matched;
		counts->fired = rule->fired;
	}
}

static struct counts counts_of(const struct sim_plan *plan, uint32_t id)
{
	struct counts counts = { .id = id };

	sim_plan_each(plan, find_counts, &counts);
	return counts;
}

static void test_faults_are_counted_out_exactly_among_threads(void **state)
{
	const atomic_bool changing = false;
	struct asker askers[THREADS];
	struct sim_plan *plan;
	struct sim_injector *faults;
	uint32_t every, times, fired = 0;

	assert_int_equal(sim_plan_create(1, &plan), 0);
	faults = view_of(plan);
	every = plan_add(plan, "dma.memcpy every=10 tear", 0);
	times = plan_add(plan, "dma.memcpy times=777 flip=1", 0);
	start(askers, faults, &changing);
	join(askers);
	for (int i = 0; i < THREADS; i++)
		fired += askers[i].fired;
	assert_int_equal(counts_of(plan, every).matched, THREADS * ASKS);
	assert_int_equal(counts_of(plan, every).fired, THREADS * ASKS / 10);
	assert_int_equal(fired, THREADS * ASKS / 10);
	assert_int_equal(counts_of(plan, times).fired, 777);
	sim_injector_destroy(faults);
	sim_plan_destroy(plan);
}

/* Each thread's size has rules of its own, whose delays end in that size: a rule that is read while it is written
 * would be detected. */
static void test_plan_changes_while_threads_evaluate_it(void **state)
{
	static const char *const rules[] = {
		"dma.memcpy size=64 delay=1064ns",
		"dma.memcpy size=65 delay=2065ns",
		"dma.memcpy size=66 delay=3066ns",
		"comch.send size=64 delay=1ns",
	};
	atomic_bool changing = true;
	struct asker askers[THREADS];
	struct sim_plan *plan;
	struct sim_injector *faults;
	uint32_t id, last = 0;

	assert_int_equal(sim_plan_create(1, &plan), 0);
	faults = view_of(plan);
	plan_add(plan, "dma.memcpy tear", 0);
	start(askers, faults, &changing);
	for (int i = 0; i < 3 * SIM_PLAN_MAX_RULES; i++) {
		id = plan_add(plan, rules[i % 4], 0);
		if (last)
			assert_int_equal(sim_plan_remove(plan, last), 0);
		last = id;
	}
	changing = false;
	join(askers);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(askers[i].fired, askers[i].asked);
		assert_int_equal(askers[i].wrong, 0);
	}
	sim_injector_destroy(faults);
	sim_plan_destroy(plan);
}

static int ask_in_child(struct sim_plan *plan)
{
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY };
	struct sim_injector *faults = view_of(plan);
	struct sim_fault_hit hit;
	int fired = 0;

	for (int i = 0; i < 100; i++)
		fired += sim_injector_evaluate(faults, &site, &hit);
	sim_injector_destroy(faults);
	return fired;
}

static void test_processes_share_a_plan(void **state)
{
	struct sim_plan *plan = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t id;
	int status;
	pid_t pid;

	assert_ptr_not_equal(plan, MAP_FAILED);
	sim_plan_init(plan, 1);
	id = plan_add(plan, "dma.memcpy every=4 tear", 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(ask_in_child(plan));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 25);
	assert_int_equal(ask_in_child(plan), 25);
	assert_int_equal(counts_of(plan, id).matched, 200);
	assert_int_equal(counts_of(plan, id).fired, 50);
	munmap(plan, sizeof(*plan));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults_are_counted_out_exactly_among_threads),
		cmocka_unit_test(test_plan_changes_while_threads_evaluate_it),
		cmocka_unit_test(test_processes_share_a_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
