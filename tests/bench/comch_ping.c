/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pongs over Comch's control path. */
#include <errno.h>
#include <string.h>

#include "comch.h"
#include "measure.h"

static int make_ping(struct bench_comch *end, uint32_t bytes)
{
	doca_error_t result;

	if (end->server)
		result = doca_comch_server_task_send_alloc_init(end->server, end->connection, end->message, bytes,
								&end->ping);
	else
		result = doca_comch_client_task_send_alloc_init(end->client, end->connection, end->message, bytes,
								&end->ping);
	return result == DOCA_SUCCESS ? 0 : -ENOMEM;
}

static int send_ping(struct bench_comch *end, uint64_t number)
{
	memcpy(end->message, &number, sizeof(number));
	return doca_task_submit(doca_comch_task_send_as_task(end->ping)) == DOCA_SUCCESS ? 0 : -EIO;
}

/* Message @number, the @count-th that was received: it may have come while the send before was awaited. */
static int await(struct bench_comch *end, uint64_t count, uint64_t number)
{
	bench_comch_wait(end, &end->received, count);
	return end->last == number && end->failed == 0 ? 0 : -EBADMSG;
}

/* Before this process sleeps outside of bfsim: virtual time does not wait for it. */
static void await_order(struct bench_comch *end)
{
	while (doca_pe_progress(end->pe))
		;
	doca_pe_request_notification(end->pe);
}

static int run(void *arg, const struct bench_ref_order *order)
{
	struct bench_comch *end = arg;
	uint64_t sent = end->sent, received = end->received;
	int rc = end->ping ? 0 : make_ping(end, order->bytes);

	doca_pe_clear_notification(end->pe, end->handle);

	for (uint64_t i = 0; i < order->count && rc == 0; i++) {
		if (order->begins)
			rc = send_ping(end, i);
		if (rc == 0)
			rc = await(end, received + i + 1, i);
		if (rc == 0 && !order->begins)
			rc = send_ping(end, i);
		if (rc == 0)
			bench_comch_wait(end, &end->sent, sent + i + 1);
	}
	await_order(end);
	return rc;
}

static int run_end(const struct bench_comch_cfg *cfg, bool is_server, int fd)
{
	struct bench_comch end;
	int rc = bench_comch_open(cfg, is_server, &end);

	if (rc == 0)
		rc = bench_comch_start(&end);
	if (rc == 0)
		rc = bench_comch_wait_connected(&end);
	if (rc == 0) {
		await_order(&end);
		rc = bench_answer(fd, 0);
	}
	if (rc == 0)
		bench_obey(fd, run, &end);
	return bench_comch_close(&end) < 0 ? -1 : rc;
}

static int run_client(void *arg, int fd)
{
	return run_end(arg, false, fd);
}

static int run_server(void *arg, int fd)
{
	return run_end(arg, true, fd);
}

int bench_comch_ping_pong(const struct bench_comch_cfg *cfg, struct bench_pair *ret_pair)
{
	return bench_pair_fork(run_client, run_server, (void *)(uintptr_t)cfg, ret_pair);
}
