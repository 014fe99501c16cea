/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/vclock_rig.h - a page, its clock and a scheduler, for the tests of virtual time. */
#ifndef TESTS_UNIT_VCLOCK_RIG_H
#define TESTS_UNIT_VCLOCK_RIG_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cmocka_test.h"
#include "sim/base/log.h"
#include "sim/clock/vclock_sched.h"

#define TOPOLOGY "cards: [{profile: bluefield-3, functions: [{side: host, type: pf, pci: 'b1:00.0'}]}]\n"
#define NEVER    SIM_CLOCK_NEVER_NS

/* The events, in order. */
struct trace {
	pthread_mutex_t lock;
	char text[4096];
};

struct fixture {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_vclock_sched *sched;
	struct trace trace;
	unsigned int warnings;
};

static struct fixture *current;

static inline void count_warnings(int level, const char *file, int line, const char *func, const char *format,
				  va_list args)
{
	if (level == SIM_LOG_WARNING)
		__atomic_fetch_add(&current->warnings, 1, __ATOMIC_RELAXED);
}

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	char error[PCIE_ERROR_SIZE];

	fixture->page = mmap(NULL, sizeof(*fixture->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fixture->page == MAP_FAILED ||
	    pcie_topology_parse("test", TOPOLOGY, strlen(TOPOLOGY), &fixture->topology, error) < 0)
		return -1;
	sim_clock_page_init(fixture->page, SIM_CLOCK_VIRTUAL);
	pthread_mutex_init(&fixture->trace.lock, NULL);
	current = fixture;
	sim_log_set_sink(count_warnings);
	*state = fixture;
	return sim_clock_create(fixture->page, fixture->topology, &fixture->clock) < 0 ||
	       sim_vclock_sched_create(fixture->clock, 1, NULL, &fixture->sched) < 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	sim_vclock_sched_destroy(fixture->sched);
	sim_clock_destroy(fixture->clock);
	pcie_topology_destroy(fixture->topology);
	munmap(fixture->page, sizeof(*fixture->page));
	pthread_mutex_destroy(&fixture->trace.lock);
	sim_log_set_sink(NULL);
	free(fixture);
	return 0;
}

static const struct sim_vclock_source_cfg anything = { 0 };

static inline struct sim_vclock_source *begin(struct fixture *fixture)
{
	struct sim_vclock_source *source;

	assert_int_equal(sim_vclock_source_create(fixture->sched, &anything, &source), 0);
	return source;
}

static inline uint64_t now(const struct fixture *fixture)
{
	return sim_clock_now_ns(fixture->clock);
}

/* A polling program: poll, then wait until the next time. */
static inline void poll_until(struct sim_vclock_source *source, uint64_t ns, const struct fixture *fixture)
{
	for (;;) {
		if (!sim_vclock_source_may_poll(source))
			continue;
		if (now(fixture) >= ns)
			return;
		sim_vclock_source_wait_until(source, ns);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

#endif
