/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/unit/fault_events_rig.h - the events of a session without a daemon, in virtual time, and a trace of their effects:
 *
 *	revoke 0
 *	disconnect 2
 *	changed
 */
#ifndef TESTS_UNIT_FAULT_EVENTS_RIG_H
#define TESTS_UNIT_FAULT_EVENTS_RIG_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guarded_topology.h"
#include "rules.h"
#include "sim/base/log.h"
#include "sim/state/fault_events.h"

#define EVENTS_DEADLINE_S 30

/* Two cards; the first PF of the first has two VFs and an SF; its DPU has the VFs' representors. */
#define EVENTS_TOPOLOGY                                                                                 \
	"cards:\n"                                                                                      \
	"  - name: first\n"                                                                             \
	"    profile: bluefield-3\n"                                                                    \
	"    functions:\n"                                                                              \
	"      - {side: host, pci: 'b1:00.0', type: pf}\n"                                              \
	"      - {side: host, pci: 'b1:00.1', type: pf}\n"                                              \
	"      - {side: host, pci: 'b1:00.2', type: vf, parent: 'b1:00.0'}\n"                           \
	"      - {side: host, pci: 'b1:01.2', type: vf, parent: 'b1:00.1'}\n"                           \
	"      - {side: host, pci: 'b1:00.0', type: sf}\n"                                              \
	"      - {side: host, pci: 'b1:00.3', type: vf, parent: 'b1:00.0'}\n"                           \
	"      - {side: dpu, pci: '03:00.0', type: pf, represents: ['host/b1:00.2', 'host/b1:00.3']}\n" \
	"  - name: second\n"                                                                            \
	"    profile: bluefield-3\n"                                                                    \
	"    functions:\n"                                                                              \
	"      - {side: host, pci: 'c1:00.0', type: pf}\n"
enum { EVENTS_PF, EVENTS_OTHER_PF, EVENTS_VF0, EVENTS_OTHER_VF, EVENTS_SF, EVENTS_VF1, EVENTS_DPU, EVENTS_SECOND_CARD };

struct events_world {
	struct sim_segment segment;
	struct guarded_topology guarded;
	struct sim_clock *clock;
	struct sim_fault_events events;
	char trace[1024];
	unsigned int num_revoked;
	void (*on_revoked)(struct events_world *world); /* NULL = nothing more */
};

static inline struct sim_shared_state *events_shared(struct events_world *world)
{
	return sim_shared_state_of(&world->segment);
}

__attribute__((format(printf, 2, 3))) static inline void events_note(struct events_world *world, const char *format,
								     ...)
{
	size_t used = strlen(world->trace);
	va_list args;

	va_start(args, format);
	vsnprintf(world->trace + used, sizeof(world->trace) - used, format, args);
	va_end(args);
}

static inline void events_on_revoked(void *arg, uint32_t function)
{
	struct events_world *world = arg;

	events_note(world, "revoke %u\n", function);
	world->num_revoked++;
	if (world->on_revoked)
		world->on_revoked(world);
}

static inline void events_on_disconnect(void *arg, uint32_t function)
{
	events_note(arg, "disconnect %u\n", function);
}

static inline void events_on_change(void *arg)
{
	events_note(arg, "changed\n");
}

static inline void events_ignore_others(void *arg, uint64_t since_ns)
{
}

static const struct sim_fault_events_ops events_ops = { .revoke_function = events_on_revoked,
							.disconnect_rep = events_on_disconnect,
							.notify_functions_changed = events_on_change,
							.inject_others = events_ignore_others };

static inline void events_begin(struct events_world *world, enum sim_clock_mode mode, const char *yaml)
{
	struct sim_fault_events_cfg cfg = { .ops = &events_ops, .arg = world };
	int fd;

	*world = (struct events_world){ 0 };
	assert_int_equal(sim_shared_state_create(mode, &world->segment, &fd), 0);
	close(fd);
	guarded_topology_parse(&world->guarded, yaml);
	assert_int_equal(sim_clock_create(&events_shared(world)->clock, world->guarded.topology, &world->clock), 0);
	cfg.shared = events_shared(world);
	cfg.topology = world->guarded.topology;
	cfg.clock = world->clock;
	assert_int_equal(sim_fault_events_init(&world->events, &cfg), 0);
	alarm(EVENTS_DEADLINE_S);
}

static inline void events_end(struct events_world *world)
{
	alarm(0);
	sim_fault_events_fini(&world->events);
	sim_clock_destroy(world->clock);
	guarded_topology_destroy(&world->guarded);
	sim_shared_state_release(&world->segment);
}

/* Returns the rule's number. */
static inline uint32_t events_add(struct events_world *world, const char *text)
{
	return plan_add(&events_shared(world)->plan, text, sim_fault_events_rule_begin_ns(&world->events));
}

/* Apply the events that are due at @now_ns. */
static inline void events_run_at(struct events_world *world, uint64_t now_ns)
{
	world->trace[0] = '\0';
	atomic_store(&events_shared(world)->clock.now_ns, now_ns);
	sim_fault_events_run(&world->events);
}

static inline uint64_t events_bits(struct events_world *world, uint32_t function)
{
	return atomic_load(&events_shared(world)->functions.status_words[function]) & SIM_FUNCTION_BITS;
}

#endif
