/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes that exchange messages on command and report the time. */
#include "pair.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "measure.h"

static int hear(const struct bench_process *process, struct bench_ref_answer *ret_answer)
{
	return bench_receive(process->fd, ret_answer, sizeof(*ret_answer)) < 0 ? -EPIPE : ret_answer->status;
}

/* Both have reported that they are ready. */
static int wait_ready(struct bench_pair *pair)
{
	struct bench_ref_answer answer;
	int rc = hear(&pair->second, &answer);

	if (rc == 0)
		rc = hear(&pair->first, &answer);
	if (rc == -ENOSYS)
		return 1;
	return rc == 0 ? 0 : bench_fail("two processes that talk to each other: %s", strerror(-rc));
}

int bench_pair_fork(int (*first)(void *arg, int fd), int (*second)(void *arg, int fd), void *arg,
		    struct bench_pair *ret_pair)
{
	*ret_pair = (struct bench_pair){ .depth = 1 };
	if (bench_process_fork(second, arg, &ret_pair->second) < 0 ||
	    bench_process_fork(first, arg, &ret_pair->first) < 0)
		return -1;
	return wait_ready(ret_pair);
}

static int send_address(const struct bench_process *process, const struct bench_ref_place *other)
{
	const struct bench_ref_order connect = { .command = BENCH_REF_CONNECT };
	struct bench_ref_answer answer;

	if (bench_send(process->fd, &connect, sizeof(connect)) < 0 ||
	    bench_send(process->fd, other, sizeof(*other)) < 0)
		return -1;
	return hear(process, &answer) < 0 ? bench_fail("a reference can't connect: %s", strerror(-answer.status)) : 0;
}

int bench_pair_exec(const char *program, const char *const *args, struct bench_pair *ret_pair)
{
	struct bench_ref_place first, second;
	int rc;

	*ret_pair = (struct bench_pair){ .depth = 1 };
	if (bench_process_exec(program, args, &ret_pair->second) < 0 ||
	    bench_process_exec(program, args, &ret_pair->first) < 0)
		return -1;
	rc = wait_ready(ret_pair);
	if (rc != 0)
		return rc;
	if (bench_receive(ret_pair->second.fd, &second, sizeof(second)) < 0 ||
	    bench_receive(ret_pair->first.fd, &first, sizeof(first)) < 0 ||
	    send_address(&ret_pair->second, &first) < 0 || send_address(&ret_pair->first, &second) < 0)
		return -1;
	return 0;
}

int bench_pair_order(struct bench_pair *pair, enum bench_ref_command command, uint32_t count, uint64_t *ret_ns)
{
	struct bench_ref_order order = {
		.command = command, .count = count, .bytes = pair->bytes, .depth = pair->depth, .apart = pair->apart
	};
	struct bench_ref_answer first, second;
	uint64_t end;
	int rc, other_rc;

	if (bench_send(pair->second.fd, &order, sizeof(order)) < 0)
		return -EPIPE;
	order.begins = 1;
	if (bench_send(pair->first.fd, &order, sizeof(order)) < 0)
		return -EPIPE;
	rc = hear(&pair->first, &first);
	other_rc = hear(&pair->second, &second);
	if (rc < 0 || other_rc < 0)
		return rc < 0 ? rc : other_rc;
	if (command == BENCH_REF_READ) {
		*ret_ns = second.ns;
		return 0;
	}
	end = first.started_ns + first.ns;
	if (second.started_ns + second.ns > end)
		end = second.started_ns + second.ns;
	*ret_ns = end - first.started_ns;
	return 0;
}

int bench_pair_run(void *pair, uint32_t count, uint64_t *ret_ns)
{
	int rc = bench_pair_order(pair, BENCH_REF_MEASURE, count, ret_ns);

	return rc == 0 ? 0 : bench_fail("two processes that talk to each other: %s", strerror(-rc));
}

int bench_pair_end(struct bench_pair *pair)
{
	int rc = bench_process_end(&pair->first);

	return bench_process_end(&pair->second) < 0 ? -1 : rc;
}

int bench_answer(int fd, int status)
{
	return bench_send(fd, &(struct bench_ref_answer){ .status = status }, sizeof(struct bench_ref_answer));
}

/* Stay on the first or the last of the CPUs that we may use. */
static void stay(bool on_first)
{
	cpu_set_t all, one;
	int found = -1;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE && (found < 0 || !on_first); cpu++)
		if (CPU_ISSET(cpu, &all))
			found = cpu;
	CPU_ZERO(&one);
	CPU_SET(found, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void bench_obey(int fd, int (*run)(void *arg, const struct bench_ref_order *order), void *arg)
{
	struct bench_ref_order order;
	bool stays = false;

	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		struct bench_ref_answer answer = { 0 };

		if (order.apart && !stays)
			stay(order.begins);
		stays |= order.apart;
		answer.started_ns = bench_now_ns();
		answer.status = run(arg, &order);
		answer.ns = bench_now_ns() - answer.started_ns;
		if (bench_send(fd, &answer, sizeof(answer)) < 0)
			return;
	}
}
