/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric baseline (reference.h): remote reads of one process's memory by another.
 *
 *   bfsim_bench_fabric FD target PROVIDER BYTES   has the memory; a thread makes progress without a pause
 *   bfsim_bench_fabric FD initiator PROVIDER      reads it, polling
 *
 * PROVIDER is libfabric's own name; "tcp" stands for its best RDM endpoint over
 * sockets, under any name. With shm, CMA is off on both ends: where CMA works,
 * shm is not used.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "memory.h"
#include "process.h"
#include "reference.h"

#define KEY       0x6265
#define MAX_DEPTH 16

struct fabric {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static struct fi_info *find_provider(const char *name, bool target)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = FI_RMA | (target ? FI_REMOTE_READ : FI_READ);
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(name);
	fi_getinfo(FI_VERSION(1, 17), strcmp(name, "shm") == 0 ? NULL : "127.0.0.1", NULL,
		   strcmp(name, "shm") == 0 ? 0 : FI_SOURCE, hints, &info);
	fi_freeinfo(hints);
	return info;
}

static struct fi_info *find(const char *name, bool target)
{
	struct fi_info *info = strcmp(name, "tcp") == 0 ? find_provider("net", target) : NULL;

	return info ? info : find_provider(name, target);
}

static int open_fabric(const char *provider, bool target, struct fabric *fabric)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_NONE };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };
	int rc;

	fabric->info = find(provider, target);
	if (!fabric->info)
		return -ENOSYS;
	rc = fi_fabric(fabric->info->fabric_attr, &fabric->fabric, NULL);
	if (rc == 0)
		rc = fi_domain(fabric->fabric, fabric->info, &fabric->domain, NULL);
	if (rc == 0)
		rc = fi_av_open(fabric->domain, &av_attr, &fabric->av, NULL);
	if (rc == 0)
		rc = fi_cq_open(fabric->domain, &cq_attr, &fabric->cq, NULL);
	if (rc == 0)
		rc = fi_endpoint(fabric->domain, fabric->info, &fabric->ep, NULL);
	if (rc == 0)
		rc = fi_ep_bind(fabric->ep, &fabric->av->fid, 0);
	if (rc == 0)
		rc = fi_ep_bind(fabric->ep, &fabric->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc == 0)
		rc = fi_enable(fabric->ep);
	return rc;
}

static void close_fabric(struct fabric *fabric)
{
	fi_close(&fabric->ep->fid);
	fi_close(&fabric->cq->fid);
	fi_close(&fabric->av->fid);
	fi_close(&fabric->domain->fid);
	fi_close(&fabric->fabric->fid);
	fi_freeinfo(fabric->info);
}

static int answer(int fd, int status, uint64_t ns)
{
	return bench_send(fd, &(struct bench_ref_answer){ .status = status, .ns = ns },
			  sizeof(struct bench_ref_answer));
}

/* ---- the target ---- */

struct server {
	struct fabric *fabric;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	atomic_bool serve;
	bool serving, stop;
};

static void *serve(void *arg)
{
	struct server *server = arg;

	pthread_mutex_lock(&server->lock);
	while (!server->stop) {
		if (!server->serve) {
			pthread_cond_wait(&server->changed, &server->lock);
			continue;
		}
		server->serving = true;
		pthread_mutex_unlock(&server->lock);
		while (atomic_load_explicit(&server->serve, memory_order_relaxed)) {
			struct fi_cq_entry entry;

			fi_cq_read(server->fabric->cq, &entry, 1);
		}
		pthread_mutex_lock(&server->lock);
		server->serving = false;
		pthread_cond_broadcast(&server->changed);
	}
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

static void set_serving(struct server *server, bool wanted)
{
	pthread_mutex_lock(&server->lock);
	server->serve = wanted;
	pthread_cond_broadcast(&server->changed);
	while (!wanted && server->serving)
		pthread_cond_wait(&server->changed, &server->lock);
	pthread_mutex_unlock(&server->lock);
}

static int obey_as_target(struct fabric *fabric, int fd)
{
	struct server server = { .fabric = fabric,
				 .lock = PTHREAD_MUTEX_INITIALIZER,
				 .changed = PTHREAD_COND_INITIALIZER };
	struct bench_ref_order order;
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, &server) != 0)
		return -1;
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		set_serving(&server, order.command == BENCH_REF_SERVE);
		if (answer(fd, 0, 0) < 0)
			break;
	}
	server.stop = true;
	set_serving(&server, false);
	pthread_join(thread, NULL);
	return 0;
}

static int run_target(int fd, const char *provider, size_t len)
{
	struct bench_ref_place place = { .key = KEY, .len = len, .addr_len = sizeof(place.addr) };
	struct fabric fabric = { 0 };
	struct fid_mr *mr = NULL;
	void *memory = bench_memory_new(len);
	int rc = memory ? open_fabric(provider, true, &fabric) : -ENOMEM;

	if (rc == 0)
		rc = fi_mr_reg(fabric.domain, memory, len, FI_REMOTE_READ, 0, KEY, 0, &mr, NULL);
	if (rc == 0)
		rc = fi_getname(&fabric.ep->fid, place.addr, &place.addr_len);
	if (answer(fd, rc, 0) < 0 || rc < 0)
		return rc == -ENOSYS ? 0 : rc;
	bench_memory_fill(memory, len, KEY);
	if (bench_send(fd, &place, sizeof(place)) < 0 || obey_as_target(&fabric, fd) < 0)
		return -1;
	fi_close(&mr->fid);
	close_fabric(&fabric);
	return 0;
}

/* ---- the initiator ---- */

struct reader {
	struct fabric *fabric;
	struct bench_ref_place place;
	fi_addr_t peer;
	uint8_t *memory;
	uint64_t offset;
	struct fi_context contexts[MAX_DEPTH];
};

static int post(struct reader *reader, uint32_t i, uint32_t bytes)
{
	ssize_t rc;

	do {
		rc = fi_read(reader->fabric->ep, reader->memory + reader->offset, bytes, NULL, reader->peer,
			     reader->place.base + reader->offset, reader->place.key, &reader->contexts[i]);
		if (rc == -FI_EAGAIN)
			fi_cq_read(reader->fabric->cq, NULL, 0);
	} while (rc == -FI_EAGAIN);
	reader->offset = reader->offset + 2 * bytes <= reader->place.len ? reader->offset + bytes : 0;
	return rc < 0 ? (int)rc : 0;
}

static int read_all(struct reader *reader, const struct bench_ref_order *order)
{
	uint32_t sent = 0, done = 0;
	int rc = 0;

	while (done < order->count && rc == 0) {
		struct fi_cq_entry entry;
		ssize_t got;

		while (sent < order->count && sent - done < order->depth && rc == 0)
			rc = post(reader, sent++ % MAX_DEPTH, order->bytes);
		got = fi_cq_read(reader->fabric->cq, &entry, 1);
		if (got > 0)
			done++;
		else if (got != -FI_EAGAIN)
			return -EIO;
	}
	return rc;
}

static int connect_reader(struct reader *reader, int fd)
{
	const struct bench_ref_order one = { .count = 1, .bytes = 8, .depth = 1 };

	if (bench_receive(fd, &reader->place, sizeof(reader->place)) < 0)
		return -EPIPE;
	reader->memory = bench_memory_new(reader->place.len);
	if (!reader->memory)
		return -ENOMEM;
	if (fi_av_insert(reader->fabric->av, reader->place.addr, 1, &reader->peer, 0, NULL) != 1)
		return -EHOSTUNREACH;
	return read_all(reader, &one);
}

static int run_initiator(int fd, const char *provider)
{
	struct fabric fabric = { 0 };
	struct reader reader = { .fabric = &fabric };
	struct bench_ref_order order;
	int rc = open_fabric(provider, false, &fabric);

	if (answer(fd, rc, 0) < 0 || rc < 0)
		return rc == -ENOSYS ? 0 : rc;
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		uint64_t start = bench_now_ns();

		rc = order.command == BENCH_REF_CONNECT ? connect_reader(&reader, fd) : read_all(&reader, &order);
		if (answer(fd, rc, bench_now_ns() - start) < 0)
			break;
	}
	close_fabric(&fabric);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return bench_fail("usage: %s FD target PROVIDER BYTES | FD initiator PROVIDER", argv[0]), 2;
	setenv("FI_SHM_DISABLE_CMA", "1", 1);
	if (strcmp(argv[2], "target") == 0 && argc > 4)
		return run_target(atoi(argv[1]), argv[3], strtoul(argv[4], NULL, 10)) < 0;
	return run_initiator(atoi(argv[1]), argv[3]) < 0;
}
