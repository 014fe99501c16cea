/* SPDX-License-Identifier: BSD-3-Clause */
/* A Comch server and its many clients, all of which sleep between events. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "comch.h"
#include "many.h"
#include "reference.h"

/* ---- the server ---- */

int bench_many_serve_comch(void *arg, int fd)
{
	struct bench_comch end;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
	bool ends = false;
	int rc = bench_comch_open(arg, true, &end);

	if (rc == 0)
		rc = bench_comch_start(&end);
	if (rc == 0 && epoll_ctl(end.epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		rc = -1;
	if (rc == 0)
		rc = bench_answer(fd, 0);
	while (rc == 0 && !ends)
		if (!doca_pe_progress(end.pe))
			ends = bench_comch_rest(&end, fd);
	if (end.failed > 0)
		rc = bench_fail("the server failed to answer %llu times", (unsigned long long)end.failed);
	return bench_comch_close(&end) < 0 ? -1 : rc;
}

/* ---- a process with clients ---- */

struct clients {
	struct bench_comch base; /* owns the device and the progress engine */
	struct bench_comch ends[BENCH_MANY_EACH];
	uint32_t count;
};

static int connect_next(struct clients *clients)
{
	struct bench_comch *end = &clients->ends[clients->count++];

	*end = clients->base;
	return bench_comch_start(end) < 0 || bench_comch_wait_connected(end) < 0 ? -ECONNREFUSED : 0;
}

static int exchange(struct bench_comch *end, uint32_t bytes, uint32_t count)
{
	doca_error_t result = DOCA_SUCCESS;

	while (count-- > 0 && result == DOCA_SUCCESS) {
		uint64_t sent = end->sent + 1, received = end->received + 1;
		struct doca_comch_task_send *task;

		result = doca_comch_client_task_send_alloc_init(end->client, end->connection, end->message, bytes,
								&task);
		if (result == DOCA_SUCCESS)
			result = doca_task_submit(doca_comch_task_send_as_task(task));
		if (result == DOCA_SUCCESS) {
			bench_comch_wait(end, &end->received, received);
			bench_comch_wait(end, &end->sent, sent);
			doca_task_free(doca_comch_task_send_as_task(task));
		}
	}
	return result == DOCA_SUCCESS ? 0 : -EIO;
}

static int execute(void *arg, const struct bench_ref_order *order)
{
	struct clients *clients = arg;
	int rc = 0;

	if (order->command == BENCH_REF_CONNECT)
		rc = connect_next(clients);
	for (uint32_t i = 0; order->command != BENCH_REF_CONNECT && i < clients->count && rc == 0; i++)
		rc = exchange(&clients->ends[i], order->bytes, order->count);
	while (doca_pe_progress(
		clients->base.pe)) /* virtual time does not wait for a process that has found nothing to do */
		;
	return rc;
}

int bench_many_run_comch_clients(void *arg, int fd)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	int rc = clients ? bench_comch_open(arg, false, &clients->base) : -1;

	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, execute, clients);
	for (uint32_t i = 0; clients && i < clients->count; i++)
		if (bench_comch_stop(&clients->ends[i]) < 0)
			rc = -1;
	if (clients && bench_comch_close(&clients->base) < 0)
		rc = -1;
	free(clients);
	return rc;
}
