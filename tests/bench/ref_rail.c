/* SPDX-License-Identifier: BSD-3-Clause */
/* The libfabric baseline between machines: writes to the other machine's memory, by a connected endpoint as a gateway has one, or by one
 * without connections if the provider has no other.
 *
 *   bfsim_bench_rail listen PROVIDER ADDRESS PORT      has the memory
 *   bfsim_bench_rail connect PROVIDER ADDRESS PORT     writes to it
 *
 * Each line of standard input is answered by a line:
 *
 *   poll, sleep                       how to wait from now on
 *   time COUNT BYTES DEPTH            the median time of a write to its completion at the target in ns; with more than one under way, the
 *                                     mean time from one completion to the next
 */
#include <errno.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEY        0x6265
#define MAX_BYTES  (8u << 20)
#define MAX_COUNT  1000000
#define INPUT_TURN 4096 /* polls between two looks at standard input */

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_eq *eq;
static struct fid_av *av;
static fi_addr_t peer;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static uint8_t *memory;
static uint64_t peer_base; /* 0, or the address, as the provider wants it */
static bool is_listener, sleeps;
static uint64_t times[MAX_COUNT];

static void must(ssize_t rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bfsim_bench_rail: %s: %s\n", what, fi_strerror((int)-rc));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the endpoint ---- */

static int find_kind(enum fi_ep_type type, const char *provider, const char *address, const char *port)
{
	struct fi_info *hints = fi_allocinfo();
	int rc;

	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = type;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->fabric_attr->prov_name = strdup(provider);
	rc = fi_getinfo(FI_VERSION(1, 17), address, port, is_listener ? FI_SOURCE : 0, hints, &info);
	fi_freeinfo(hints);
	return rc;
}

static void find(const char *provider, const char *address, const char *port)
{
	if (find_kind(FI_EP_MSG, provider, address, port) < 0)
		must(find_kind(FI_EP_RDM, provider, address, port), "fi_getinfo");
}

static bool has_connections(void)
{
	return info->ep_attr->type == FI_EP_MSG;
}

static void open_endpoint(struct fi_info *of)
{
	struct fi_cq_attr attr = { .wait_obj = FI_WAIT_FD, .format = FI_CQ_FORMAT_CONTEXT, .size = 256 };

	must(fi_cq_open(domain, &attr, &cq, NULL), "fi_cq_open");
	must(fi_endpoint(domain, of, &ep, NULL), "fi_endpoint");
	must(fi_ep_bind(ep, has_connections() ? &eq->fid : &av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	must(fi_enable(ep), "fi_enable");
}

static uint32_t wait_for_event(struct fi_eq_cm_entry *entry)
{
	uint32_t event;

	must(fi_eq_sread(eq, &event, entry, sizeof(*entry), -1, 0), "fi_eq_sread");
	return event;
}

static void wait_until_connected(void)
{
	struct fi_eq_cm_entry entry;

	while (wait_for_event(&entry) != FI_CONNECTED)
		;
}

/* One connection. */
static void be_reached(void)
{
	struct fi_eq_cm_entry entry;
	struct fid_pep *pep;

	must(fi_passive_ep(fabric, info, &pep, NULL), "fi_passive_ep");
	must(fi_pep_bind(pep, &eq->fid, 0), "fi_pep_bind");
	must(fi_listen(pep), "fi_listen");
	puts("listens");
	fflush(stdout);
	while (wait_for_event(&entry) != FI_CONNREQ)
		;
	open_endpoint(entry.info);
	must(fi_accept(ep, NULL, 0), "fi_accept");
	wait_until_connected();
}

static void reach(void)
{
	open_endpoint(info);
	must(fi_connect(ep, info->dest_addr, NULL, 0), "fi_connect");
	wait_until_connected();
}

/* Without connections: the writing end needs the address of the end that has the memory. */
static void open_alone(void)
{
	struct fi_av_attr attr = { .type = FI_AV_UNSPEC };

	must(fi_av_open(domain, &attr, &av, NULL), "fi_av_open");
	open_endpoint(info);
	if (is_listener)
		puts("listens");
	else if (fi_av_insert(av, info->dest_addr, 1, &peer, 0, NULL) != 1)
		must(-FI_EIO, "fi_av_insert");
}

static void open_all(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
	must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
	must(fi_eq_open(fabric, &attr, &eq, NULL), "fi_eq_open");
	memory = aligned_alloc(4096, MAX_BYTES);
	memset(memory, 1, MAX_BYTES);
	must(fi_mr_reg(domain, memory, MAX_BYTES, FI_WRITE | FI_REMOTE_WRITE, 0, KEY, 0, &mr, NULL), "fi_mr_reg");
	if (!has_connections())
		open_alone();
	else if (is_listener)
		be_reached();
	else
		reach();
}

/* ---- waiting ---- */

/* Returns whether a write is complete. Sleeps before that, or until there is input. */
static bool look(bool wants_input)
{
	struct fi_cq_entry entry;
	struct fid *fid = &cq->fid;
	struct pollfd fds[2] = { { .events = POLLIN }, { .fd = wants_input ? 0 : -1, .events = POLLIN } };
	ssize_t got = fi_cq_read(cq, &entry, 1);

	if (got == 1)
		return true;
	if (got != -FI_EAGAIN)
		must(got < 0 ? got : -FI_EIO, "fi_cq_read");
	if (!sleeps || fi_trywait(fabric, &fid, 1) != 0)
		return false;
	must(fi_control(&cq->fid, FI_GETWAIT, &fds[0].fd), "FI_GETWAIT");
	poll(fds, 2, -1);
	return false;
}

static bool has_input(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	return poll(&input, 1, 0) > 0;
}

static void serve(void)
{
	for (uint32_t turn = 0; (!sleeps && turn % INPUT_TURN != 0) || !has_input(); turn++)
		look(true);
}

/* ---- commands ---- */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void write_one(uint32_t bytes, uint32_t at, struct fi_context *context)
{
	struct iovec here = { memory + at, bytes };
	struct fi_rma_iov there = { .addr = peer_base + at, .len = bytes, .key = KEY };
	void *desc = fi_mr_desc(mr);
	struct fi_msg_rma msg = { .msg_iov = &here,
				  .desc = &desc,
				  .iov_count = 1,
				  .addr = peer,
				  .rma_iov = &there,
				  .rma_iov_count = 1,
				  .context = context };
	ssize_t rc;

	do
		rc = fi_writemsg(ep, &msg, FI_DELIVERY_COMPLETE | FI_COMPLETION);
	while (rc == -FI_EAGAIN && (look(false), true));
	must(rc, "fi_writemsg");
}

static void time_writes(uint32_t count, uint32_t bytes, uint32_t depth)
{
	static struct fi_context contexts[64];
	uint32_t begun = 0, done = 0;
	uint64_t start = now_ns(), last = start;

	while (done < count) {
		for (; begun < count && begun - done < depth; begun++)
			write_one(bytes, begun % depth * bytes, &contexts[begun % depth]);
		if (!look(false))
			continue;
		times[done] = now_ns() - last;
		last += times[done++];
	}
	qsort(times, count, sizeof(times[0]), compare);
	printf("%llu\n", (unsigned long long)(depth > 1 ? (last - start) / count : times[count / 2]));
}

static void obey(char *line)
{
	uint32_t count, bytes, depth;

	if (strncmp(line, "poll", 4) == 0 || strncmp(line, "sleep", 5) == 0) {
		sleeps = line[0] == 's';
		puts("ok");
	} else if (sscanf(line, "time %u %u %u", &count, &bytes, &depth) == 3 && count <= MAX_COUNT && depth <= 64 &&
		   bytes <= MAX_BYTES / depth) {
		time_writes(count, bytes, depth);
	} else {
		puts("error");
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[128];

	if (argc != 5)
		return EXIT_FAILURE;
	is_listener = strcmp(argv[1], "listen") == 0;
	sleeps = true;
	find(argv[2], argv[3], argv[4]);
	open_all();
	puts("connected");
	fflush(stdout);
	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		if (is_listener)
			serve();
		if (!fgets(line, sizeof(line), stdin))
			return EXIT_SUCCESS;
		obey(line);
	}
}
