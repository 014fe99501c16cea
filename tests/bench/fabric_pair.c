/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes that exchange messages over libfabric alone. */
#include "fabric_pair.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "measure.h"

#define PROGRAM "bfsim_bench_fabric"

/* 0, or the program's -errno, or -EPIPE. */
static int hear(const struct bench_process *process, uint64_t *ret_ns)
{
	struct bench_ref_answer answer;

	if (bench_receive(process->fd, &answer, sizeof(answer)) < 0)
		return -EPIPE;
	if (ret_ns)
		*ret_ns = answer.ns;
	return answer.status;
}

static int tell(const struct bench_process *process, const struct bench_ref_order *order, uint64_t *ret_ns)
{
	if (bench_send(process->fd, order, sizeof(*order)) < 0)
		return -EPIPE;
	return hear(process, ret_ns);
}

static int tell_target(struct bench_fabric_pair *pair, enum bench_ref_command command)
{
	return tell(&pair->target, &(struct bench_ref_order){ .command = command }, NULL);
}

static int connect_pair(struct bench_fabric_pair *pair)
{
	const struct bench_ref_order connect = { .command = BENCH_REF_CONNECT };
	struct bench_ref_place place;
	int rc;

	if (bench_receive(pair->target.fd, &place, sizeof(place)) < 0)
		return -EPIPE;
	rc = tell_target(pair, BENCH_REF_SERVE);
	if (rc == 0 && (bench_send(pair->initiator.fd, &connect, sizeof(connect)) < 0 ||
			bench_send(pair->initiator.fd, &place, sizeof(place)) < 0))
		rc = -EPIPE;
	if (rc == 0)
		rc = hear(&pair->initiator, NULL);
	return rc == 0 ? tell_target(pair, BENCH_REF_REST) : rc;
}

int bench_fabric_pair_start(const char *provider, size_t len, struct bench_fabric_pair *ret_pair)
{
	char bytes[24];
	const char *target[] = { "target", provider, bytes, NULL }, *initiator[] = { "initiator", provider, NULL };
	int rc;

	*ret_pair = (struct bench_fabric_pair){ .depth = 1 };
	snprintf(bytes, sizeof(bytes), "%zu", len);
	if (bench_process_exec(PROGRAM, target, &ret_pair->target) < 0 ||
	    bench_process_exec(PROGRAM, initiator, &ret_pair->initiator) < 0)
		return -1;
	rc = hear(&ret_pair->initiator, NULL);
	if (rc == 0)
		rc = hear(&ret_pair->target, NULL);
	if (rc == 0)
		rc = connect_pair(ret_pair);
	if (rc == -ENOSYS)
		return 1;
	return rc == 0 ? 0 : bench_fail("bare libfabric over %s: %s", provider, strerror(-rc));
}

int bench_fabric_pair_read(void *pair, uint32_t count, uint64_t *ret_ns)
{
	struct bench_fabric_pair *self = pair;
	const struct bench_ref_order order = {
		.command = BENCH_REF_MEASURE, .count = count, .bytes = self->bytes, .depth = self->depth
	};
	int rc = tell_target(self, BENCH_REF_SERVE);

	if (rc == 0)
		rc = tell(&self->initiator, &order, ret_ns);
	if (rc == 0)
		rc = tell_target(self, BENCH_REF_REST);
	return rc == 0 ? 0 : bench_fail("a read with bare libfabric: %s", strerror(-rc));
}

int bench_fabric_pair_end(struct bench_fabric_pair *pair)
{
	int rc = bench_process_end(&pair->initiator);

	return bench_process_end(&pair->target) < 0 ? -1 : rc;
}
