/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel between two processes: ping-pong. */
#include "comm_channel.h"

#include <doca_comm_channel.h>
#include <errno.h>
#include <string.h>

#include "measure.h"

struct end {
	struct bench_comch comch; /* its device and representor */
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
	uint8_t message[BENCH_COMCH_MAX_MSG];
};

static int send_ping(struct end *end, uint32_t bytes, uint64_t number)
{
	doca_error_t result;

	memcpy(end->message, &number, sizeof(number));
	do
		result = doca_comm_channel_ep_sendto(end->ep, end->message, bytes, DOCA_CC_MSG_FLAG_NONE, end->peer);
	while (result == DOCA_ERROR_AGAIN);
	return result == DOCA_SUCCESS ? 0 : -EIO;
}

static int await(struct end *end, uint64_t number)
{
	doca_error_t result;
	uint64_t last;
	size_t len;

	do {
		len = sizeof(end->message);
		result = doca_comm_channel_ep_recvfrom(end->ep, end->message, &len, DOCA_CC_MSG_FLAG_NONE, &end->peer);
	} while (result == DOCA_ERROR_AGAIN);
	if (result != DOCA_SUCCESS || len < sizeof(last))
		return -EIO;
	memcpy(&last, end->message, sizeof(last));
	return last == number ? 0 : -EBADMSG;
}

/* When the first order arrives, the service exists: it has reported that it is ready. */
static int run(void *arg, const struct bench_ref_order *order)
{
	struct end *end = arg;
	int rc = 0;

	if (order->begins && !end->peer &&
	    doca_comm_channel_ep_connect(end->ep, end->comch.cfg->name, &end->peer) != DOCA_SUCCESS)
		return -ENOTCONN;
	for (uint64_t i = 0; i < order->count && rc == 0; i++) {
		if (order->begins)
			rc = send_ping(end, order->bytes, i);
		if (rc == 0)
			rc = await(end, i);
		if (rc == 0 && !order->begins)
			rc = send_ping(end, order->bytes, i);
	}
	return rc;
}

static doca_error_t open_endpoint(struct end *end)
{
	doca_error_t result = doca_comm_channel_ep_create(&end->ep);

	if (result == DOCA_SUCCESS)
		result = doca_comm_channel_ep_set_device(end->ep, end->comch.dev);
	if (result != DOCA_SUCCESS || !end->comch.rep)
		return result;
	result = doca_comm_channel_ep_set_device_rep(end->ep, end->comch.rep);
	return result == DOCA_SUCCESS ? doca_comm_channel_ep_listen(end->ep, end->comch.cfg->name) : result;
}

static int run_end(const struct bench_comch_cfg *cfg, bool is_service, int fd)
{
	static struct end end;
	int rc = bench_comch_open(cfg, is_service, &end.comch);

	if (rc == 0 && open_endpoint(&end) != DOCA_SUCCESS)
		rc = bench_fail("no Comm Channel endpoint");
	if (rc == 0)
		rc = bench_answer(fd, 0);
	if (rc == 0)
		bench_obey(fd, run, &end);
	if (end.ep)
		doca_comm_channel_ep_destroy(end.ep);
	return bench_comch_close(&end.comch) < 0 ? -1 : rc;
}

static int run_client(void *arg, int fd)
{
	return run_end(arg, false, fd);
}

static int run_service(void *arg, int fd)
{
	return run_end(arg, true, fd);
}

int bench_comm_channel_ping_pong(const struct bench_comch_cfg *cfg, struct bench_pair *ret_pair)
{
	return bench_pair_fork(run_client, run_service, (void *)(uintptr_t)cfg, ret_pair);
}
