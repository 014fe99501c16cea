/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric baseline (reference.h): messages between two processes (pair.h).
 *
 *   bfsim_bench_messages FD PROVIDER pingpong   each message is answered with one of the same size
 *   bfsim_bench_messages FD PROVIDER stream     one sends, the other receives, both with order.depth under way
 *
 * Written for speed: one endpoint, one thread, one completion queue that is polled;
 * receives are posted before they are needed; short pings are injected, which
 * takes no completion; completions are read in batches.
 */
#include <errno.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "pair.h"

#define MAX_DEPTH 256
#define MAX_BYTES 4096
#define BATCH     16

struct end {
	int fd;
	bool is_stream;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	fi_addr_t peer;
	uint32_t posted, received, sent, completed, answered;
	struct fi_context contexts[2 * MAX_DEPTH]; /* of receives, then of sends */
	uint8_t (*in)[MAX_BYTES], (*out)[MAX_BYTES];
};

static struct fi_info *find(const char *provider)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = FI_MSG;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(provider);
	fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static int open_end(const char *provider, struct end *end)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };
	int rc;

	end->info = find(provider);
	if (!end->info)
		return -ENOSYS;
	rc = fi_fabric(end->info->fabric_attr, &end->fabric, NULL);
	if (rc == 0)
		rc = fi_domain(end->fabric, end->info, &end->domain, NULL);
	if (rc == 0)
		rc = fi_av_open(end->domain, &av_attr, &end->av, NULL);
	if (rc == 0)
		rc = fi_cq_open(end->domain, &cq_attr, &end->cq, NULL);
	if (rc == 0)
		rc = fi_endpoint(end->domain, end->info, &end->ep, NULL);
	if (rc == 0)
		rc = fi_ep_bind(end->ep, &end->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(end->ep);
	end->in = calloc(MAX_DEPTH, sizeof(*end->in));
	end->out = calloc(MAX_DEPTH, sizeof(*end->out));
	return rc == 0 && (!end->in || !end->out) ? -ENOMEM : rc;
}

static void close_end(struct end *end)
{
	fi_close(&end->ep->fid);
	fi_close(&end->cq->fid);
	fi_close(&end->av->fid);
	fi_close(&end->domain->fid);
	fi_close(&end->fabric->fid);
	fi_freeinfo(end->info);
	free(end->in);
	free(end->out);
}

/* ---- messages ---- */

static int progress(struct end *end)
{
	struct fi_cq_msg_entry entries[BATCH];
	ssize_t got = fi_cq_read(end->cq, entries, BATCH);

	for (ssize_t i = 0; i < got; i++) {
		if (entries[i].flags & FI_RECV)
			end->received++;
		else
			end->completed++;
	}
	return got < 0 && got != -FI_EAGAIN ? (int)got : 0;
}

/* Keep up to @depth receives posted. */
static int post_receives(struct end *end, uint32_t depth)
{
	ssize_t rc = 0;

	while (rc == 0 && end->posted - end->received < depth) {
		uint32_t i = end->posted % MAX_DEPTH;

		rc = fi_recv(end->ep, end->in[i], MAX_BYTES, NULL, FI_ADDR_UNSPEC, &end->contexts[i]);
		if (rc == 0)
			end->posted++;
	}
	return rc == -FI_EAGAIN ? 0 : (int)rc;
}

static int ping(struct end *end, uint32_t bytes, uint64_t number)
{
	ssize_t rc;

	memcpy(end->out[0], &number, sizeof(number));
	do {
		if (bytes <= end->info->tx_attr->inject_size)
			rc = fi_inject(end->ep, end->out[0], bytes, end->peer);
		else
			rc = fi_send(end->ep, end->out[0], bytes, NULL, end->peer, &end->contexts[MAX_DEPTH]);
		if (rc == -FI_EAGAIN && progress(end) < 0)
			return -EIO;
	} while (rc == -FI_EAGAIN);
	return (int)rc;
}

/* The next received message: it must have number @number. */
static int await(struct end *end, uint64_t number)
{
	uint64_t got;

	while (end->received == end->answered)
		if (progress(end) < 0)
			return -EIO;
	memcpy(&got, end->in[end->answered++ % MAX_DEPTH], sizeof(got));
	return got == number ? post_receives(end, MAX_DEPTH / 4) : -EBADMSG;
}

static int ping_pong(struct end *end, const struct bench_ref_order *order)
{
	int rc = 0;

	for (uint64_t i = 0; i < order->count && rc == 0; i++) {
		if (order->begins)
			rc = ping(end, order->bytes, i);
		if (rc == 0)
			rc = await(end, i);
		if (rc == 0 && !order->begins)
			rc = ping(end, order->bytes, i);
	}
	return rc;
}

static int send_all(struct end *end, const struct bench_ref_order *order)
{
	uint32_t last = end->sent + order->count;
	int rc = 0;

	while (end->completed != last && rc == 0) {
		while (end->sent != last && end->sent - end->completed < order->depth) {
			uint32_t i = end->sent % MAX_DEPTH;
			ssize_t sent = fi_send(end->ep, end->out[i], order->bytes, NULL, end->peer,
					       &end->contexts[MAX_DEPTH + i]);

			if (sent == -FI_EAGAIN)
				break;
			if (sent < 0)
				return (int)sent;
			end->sent++;
		}
		rc = progress(end);
	}
	return rc;
}

static int receive_all(struct end *end, const struct bench_ref_order *order)
{
	uint32_t last = end->answered + order->count;
	int rc = 0;

	while ((int32_t)(end->received - last) < 0 && rc == 0) {
		rc = progress(end);
		if (rc == 0)
			rc = post_receives(end, order->depth);
	}
	end->answered = last;
	return rc;
}

/* ---- orders ---- */

static int connect_end(struct end *end)
{
	struct bench_ref_place place;

	if (bench_receive(end->fd, &place, sizeof(place)) < 0)
		return -EPIPE;
	if (fi_av_insert(end->av, place.addr, 1, &end->peer, 0, NULL) != 1)
		return -EHOSTUNREACH;
	return post_receives(end, MAX_DEPTH / 4);
}

static int execute(void *arg, const struct bench_ref_order *order)
{
	struct end *end = arg;

	if (order->command == BENCH_REF_CONNECT)
		return connect_end(end);
	if (!end->is_stream)
		return ping_pong(end, order);
	return order->begins ? send_all(end, order) : receive_all(end, order);
}

static int run(struct end *end, const char *provider)
{
	struct bench_ref_place place = { .addr_len = sizeof(place.addr) };
	int rc = open_end(provider, end);

	if (rc == 0)
		rc = fi_getname(&end->ep->fid, place.addr, &place.addr_len);
	if (bench_answer(end->fd, rc) < 0 || rc < 0)
		return rc == -ENOSYS ? 0 : rc;
	if (bench_send(end->fd, &place, sizeof(place)) < 0)
		return -1;
	bench_obey(end->fd, execute, end);
	close_end(end);
	return 0;
}

int main(int argc, char **argv)
{
	static struct end end;

	if (argc != 4)
		return bench_fail("usage: %s FD PROVIDER pingpong|stream", argv[0]), 2;
	end.fd = atoi(argv[1]);
	end.is_stream = strcmp(argv[3], "stream") == 0;
	return run(&end, argv[2]) < 0;
}
