/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pongs of RDMA messages. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"
#include "rdma.h"

struct ends {
	const struct bench_rdma_cfg *cfg;
	int socks[2];
};

static uint32_t block_of(const struct bench_rdma *end, uint64_t number)
{
	return (uint32_t)(number % end->cfg->num_blocks);
}

/* Message @number; its block is posted again before the message is answered. */
static int take(struct bench_rdma *end, uint64_t number)
{
	uint32_t block = block_of(end, number);
	uint64_t found;

	bench_rdma_wait(end, &end->received, number + 1);
	memcpy(&found, end->memory + (size_t)block * end->cfg->block_bytes, sizeof(found));
	return found == number ? bench_rdma_receive(end, block) : -EBADMSG;
}

static int give(struct bench_rdma *end, uint64_t number)
{
	uint32_t block = block_of(end, number);

	memcpy(end->memory + (size_t)block * end->cfg->block_bytes, &number, sizeof(number));
	if (bench_rdma_send(end, block) < 0)
		return -EIO;
	bench_rdma_wait(end, &end->sent, end->sent + 1);
	return 0;
}

static void await_order(struct bench_rdma *end)
{
	while (doca_pe_progress(end->pe))
		;
	doca_pe_request_notification(end->pe);
}

/* The next message may be received while this end waits for the end of its send, so the count of exchanges, not that of
 * received messages, is the number. */
static int run(void *arg, const struct bench_ref_order *order)
{
	struct bench_rdma *end = arg;
	int rc = 0;

	doca_pe_clear_notification(end->pe, end->handle);
	for (uint32_t i = 0; i < order->count && rc == 0; i++) {
		uint64_t number = end->exchanged++;

		if (order->begins)
			rc = give(end, number);
		if (rc == 0)
			rc = take(end, number);
		if (rc == 0 && !order->begins)
			rc = give(end, number);
	}
	await_order(end);
	return rc < 0 || end->failed > 0 ? -EIO : 0;
}

static int post_all(struct bench_rdma *end)
{
	int rc = 0;

	for (uint32_t i = 0; i < end->cfg->num_blocks && rc == 0; i++)
		rc = bench_rdma_receive(end, i);
	return rc;
}

static int run_end(const struct ends *ends, bool is_first, int fd)
{
	struct bench_rdma end;
	int rc = bench_rdma_open(ends->cfg, is_first ? "host" : "dpu", &end);

	if (rc == 0)
		rc = bench_rdma_connect(&end, ends->socks[is_first]);
	if (rc == 0)
		rc = bench_rdma_make_messages(&end);
	if (rc == 0)
		rc = post_all(&end);
	if (rc == 0) {
		await_order(&end);
		rc = bench_answer(fd, 0);
	}
	if (rc == 0)
		bench_obey(fd, run, &end);
	return bench_rdma_close(&end) < 0 ? -1 : rc;
}

static int run_first(void *arg, int fd)
{
	return run_end(arg, true, fd);
}

static int run_second(void *arg, int fd)
{
	return run_end(arg, false, fd);
}

int bench_rdma_ping_pong(const struct bench_rdma_cfg *cfg, struct bench_pair *ret_pair)
{
	struct ends ends = { .cfg = cfg };
	int rc;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.socks) < 0)
		return bench_fail("no sockets");
	rc = bench_pair_fork(run_first, run_second, &ends, ret_pair);
	close(ends.socks[0]);
	close(ends.socks[1]);
	return rc;
}
