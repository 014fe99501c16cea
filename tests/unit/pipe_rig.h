/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a message pipe in one process, without an API above: the test is their owner and their carrier.
 *
 *   rig_open(&rig, SIM_CLOCK_VIRTUAL, &timing);     a pipe that is open at both ends
 *   rig_send(&rig.a, &send, "text"); rig_poll(&rig.b, &event); rig_release(&rig.b, &event);
 *   rig_pass_time(&rig, ns);                        virtual time; alarms of both ends that expire are heard
 *   rig_close(&rig);
 */
#ifndef TESTS_UNIT_PIPE_RIG_H
#define TESTS_UNIT_PIPE_RIG_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/clock/vclock_sched.h"
#include "sim/faults/plan/plan.h"
#include "sim/faults/rule/rule.h"
#include "sim/msg/pipe.h"
#include "sim/protocol/wire.h"
#include "sim/shm/wake.h"

#define RIG_MSG_BYTES   64
#define RIG_RECORDS     4 /* that a ring has room for */
#define RIG_MAX_CARRIED 8

struct rig;

struct rig_end {
	struct sim_poll_group group; /* first */
	struct sim_pipe pipe;
	struct rig *rig;
	struct rig_end *other;
	struct sim_wake wake;
	uint32_t engine;   /* of virtual time */
	uint64_t alarm_ns; /* 0 = not set */
	unsigned int num_wakes, num_peer_wakes, num_announced;
	int carry_error;
	struct sim_handshake_msg carried[RIG_MAX_CARRIED]; /* to this end, and not arrived yet */
	unsigned int num_carried;
};

struct rig {
	struct sim_clock_page *page;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_vclock_sched *sched;   /* NULL = not virtual */
	struct sim_vclock_source *source; /* of the thread that opened the rig */
	struct sim_plan *plan;
	struct sim_injector *injector;
	struct rig_end a, b;
};

/* A check that is not compiled out, in a test of cmocka and elsewhere. */
#define RIG_NEED(condition)                                                             \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

/* ---- what the ends ask for ---- */

static inline struct rig_end *rig_end_of(struct sim_poll_group *group)
{
	return (struct rig_end *)(void *)group;
}

static inline void rig_wake(struct sim_poll_group *group, bool is_asleep)
{
	rig_end_of(group)->num_wakes += is_asleep;
}

static inline void rig_set_alarm(struct sim_poll_group *group, uint64_t due_ns)
{
	struct rig_end *end = rig_end_of(group);

	if (due_ns != SIM_CLOCK_NEVER_NS && (end->alarm_ns == 0 || due_ns < end->alarm_ns))
		end->alarm_ns = due_ns ? due_ns : 1;
}

static inline void rig_wake_peer(struct sim_pipe *pipe)
{
	rig_end_of(pipe->group)->num_peer_wakes++;
}

/* The carrier passes copies of the descriptors on. */
static inline int rig_carry(struct sim_pipe *pipe, const struct sim_handshake_msg *msg)
{
	struct rig_end *end = rig_end_of(pipe->group), *to = end->other;
	struct sim_handshake_msg *copy = &to->carried[to->num_carried];

	if (end->carry_error < 0)
		return end->carry_error;
	RIG_NEED(to->num_carried < RIG_MAX_CARRIED);
	*copy = *msg;
	for (uint32_t i = 0; i < msg->num_fds; i++)
		copy->fds[i] = fcntl(msg->fds[i], F_DUPFD_CLOEXEC, 0);
	to->num_carried++;
	return 0;
}

static inline void rig_announced(void *arg)
{
	((struct rig_end *)arg)->num_announced++;
}

static const struct sim_poll_group_ops rig_ops = {
	.wake = rig_wake,
	.set_alarm = rig_set_alarm,
	.wake_peer = rig_wake_peer,
	.carry = rig_carry,
	.announced = rig_announced,
	.alloc = malloc,
};

static const struct sim_poll_group_faults rig_faults = { SIM_OP_COMM_CHANNEL_SEND, SIM_OP_COMM_CHANNEL_RECV, true };

/* ---- opening and closing ---- */

static const char rig_topology[] =
	"cards: [{profile: bluefield-3, functions: [{side: host, type: pf, pci: 'b1:00.0'}]}]\n";

static inline void rig_open_clock(struct rig *rig, enum sim_clock_mode mode)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	char error[PCIE_ERROR_SIZE];

	rig->page = mmap(NULL, sizeof(*rig->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	RIG_NEED(rig->page != MAP_FAILED);
	RIG_NEED(pcie_topology_parse("test", rig_topology, strlen(rig_topology), &rig->topology, error) == 0);
	sim_clock_page_init(rig->page, mode);
	RIG_NEED(sim_clock_create(rig->page, rig->topology, &rig->clock) == 0);
	if (mode != SIM_CLOCK_VIRTUAL)
		return;
	RIG_NEED(sim_vclock_sched_create(rig->clock, 1, NULL, &rig->sched) == 0);
	RIG_NEED(sim_vclock_source_create(rig->sched, &cfg, &rig->source) == 0);
	sim_vclock_source_mark_busy(rig->source);
}

static inline void rig_open_faults(struct rig *rig)
{
	struct sim_injector_cfg cfg = { .topology = rig->topology, .self = { "host", "test", 1 } };

	RIG_NEED(sim_plan_create(1, &rig->plan) == 0);
	cfg.plan = rig->plan;
	RIG_NEED(sim_injector_create(&cfg, &rig->injector) == 0);
}

static inline void rig_open_end(struct rig *rig, struct rig_end *end, struct rig_end *other,
				const struct pcie_comch_timing *timing)
{
	const struct sim_poll_group_cfg cfg = { .ops = &rig_ops,
						.clock = rig->clock,
						.vclock = &rig->sched,
						.injector = rig->injector,
						.faults = &rig_faults,
						.max_msg_bytes = RIG_MSG_BYTES,
						.recv_queue_size = RIG_RECORDS,
						.has_one_pipe = end == &rig->b,
						.timing = timing };

	end->rig = rig;
	end->other = other;
	RIG_NEED(sim_wake_open(&end->wake) == 0);
	RIG_NEED(sim_poll_group_open(&end->group, &cfg) == 0);
	RIG_NEED(sim_pipe_open(&end->pipe, &end->group) == 0);
	if (rig->sched)
		end->engine = sim_vclock_sched_add_engine(rig->sched);
}

/* The address of @from reaches @to as the carrier brings it: with descriptors of its own. */
static inline void rig_carry_address(const struct rig_end *from, struct sim_handshake_msg *ret_msg)
{
	sim_pipe_get_address(&from->pipe, from->engine, 2, from->wake.send_fd, ret_msg);
	for (uint32_t i = 0; i < ret_msg->num_fds; i++)
		ret_msg->fds[i] = fcntl(ret_msg->fds[i], F_DUPFD_CLOEXEC, 0);
}

static inline int rig_connect(struct rig_end *end, struct sim_handshake_msg *msg)
{
	struct sim_pipe_address address;
	int rc = sim_pipe_parse_address(msg, &address);

	if (rc == 0)
		rc = sim_pipe_connect(&end->pipe, msg, &address, RIG_RECORDS, true);
	if (rc == 0)
		sim_pipe_set_state(&end->pipe, SIM_PIPE_OPEN, 0);
	sim_handshake_msg_close(msg);
	return rc;
}

/* Both ends are opening. */
static inline void rig_open_unconnected(struct rig *rig, enum sim_clock_mode mode,
					const struct pcie_comch_timing *timing)
{
	*rig = (struct rig){ 0 };
	rig_open_clock(rig, mode);
	rig_open_faults(rig);
	rig_open_end(rig, &rig->a, &rig->b, timing);
	rig_open_end(rig, &rig->b, &rig->a, timing);
}

static inline void rig_open(struct rig *rig, enum sim_clock_mode mode, const struct pcie_comch_timing *timing)
{
	struct sim_handshake_msg msg;

	rig_open_unconnected(rig, mode, timing);
	rig_carry_address(&rig->a, &msg);
	RIG_NEED(rig_connect(&rig->b, &msg) == 0);
	rig_carry_address(&rig->b, &msg);
	RIG_NEED(rig_connect(&rig->a, &msg) == 0);
}

/* The end closes its pipe, as the owner does that sees the end or wants it. */
static inline void rig_close_pipe(struct rig_end *end)
{
	if (end->pipe.state == SIM_PIPE_CLOSED)
		return;
	if (end->pipe.state == SIM_PIPE_OPEN)
		sim_pipe_finish(&end->pipe);
	sim_pipe_close(&end->pipe);
}

static inline void rig_close_end(struct rig_end *end)
{
	rig_close_pipe(end);
	sim_pipe_leave(&end->pipe);
	sim_pipe_fini(&end->pipe);
	sim_poll_group_close(&end->group);
	sim_wake_close(&end->wake);
	while (end->num_carried > 0)
		sim_handshake_msg_close(&end->carried[--end->num_carried]);
	if (end->engine)
		sim_vclock_sched_remove_engine(end->rig->sched, end->engine);
}

static inline void rig_close(struct rig *rig)
{
	rig_close_end(&rig->a);
	rig_close_end(&rig->b);
	sim_injector_destroy(rig->injector);
	sim_plan_destroy(rig->plan);
	if (rig->sched) {
		sim_vclock_source_destroy(rig->source);
		sim_vclock_sched_destroy(rig->sched);
	}
	sim_clock_destroy(rig->clock);
	pcie_topology_destroy(rig->topology);
	munmap(rig->page, sizeof(*rig->page));
}

/* ---- messages ---- */

static inline int rig_send(struct rig_end *end, struct sim_pipe_send *send, const char *text)
{
	*send = (struct sim_pipe_send){
		.pipe = &end->pipe, .msg = text, .len = (uint32_t)strlen(text), .hit = send->hit, .result = 1
	};
	return sim_pipe_submit(send);
}

static inline void rig_hear_alarm(struct rig_end *end)
{
	if (end->alarm_ns == 0 || sim_clock_now_ns(end->rig->clock) < end->alarm_ns)
		return;
	end->alarm_ns = 0;
	sim_poll_group_on_alarm(&end->group);
}

/* Poll the slots that rang, up to an event. Returns as sim_pipe_poll(). */
static inline int rig_poll(struct rig_end *end, struct sim_pipe_event *ret_event)
{
	uint32_t slot;

	rig_hear_alarm(end);
	for (int i = 0; i < SIM_DOORBELL_SLOTS && sim_doorbell_next(&end->group.doorbells, &slot); i++) {
		int rc;

		if (slot != end->pipe.slot)
			continue;
		rc = sim_pipe_poll(&end->pipe, ret_event);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static inline void rig_release(struct rig_end *end, struct sim_pipe_event *event)
{
	sim_pipe_release_event(&end->group, event);
}

/* The announcements that are under way to @end arrive. */
static inline int rig_arrive(struct rig_end *end)
{
	int rc = 0;

	for (unsigned int i = 0; i < end->num_carried; i++)
		rc = sim_pipe_add_arrival(&end->pipe, &end->carried[i], end->carried[i].len_bytes);
	end->num_carried = 0;
	sim_doorbell_requeue(&end->group.doorbells, end->pipe.slot);
	return rc;
}

static inline void rig_pass_time(struct rig *rig, uint64_t ns)
{
	uint64_t until_ns = sim_clock_now_ns(rig->clock) + ns;

	while (sim_clock_now_ns(rig->clock) < until_ns)
		sim_vclock_source_wait_until(rig->source, until_ns);
}

#endif
