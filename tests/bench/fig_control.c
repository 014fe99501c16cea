/* SPDX-License-Identifier: BSD-3-Clause */
/* Figure: control operations that programs repeat, against the system calls that they can't do without. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker.h"
#include "comch.h"
#include "dma.h"
#include "fig.h"
#include "many.h"
#include "memory.h"
#include "sim/shm/segment.h"

#define ROUNDS     101
#define MAP_BYTES  65536u
#define RING_BYTES 65536u /* about what a Comch end has */
#define NUM_TASKS  32
#define LIMIT      2 /* what takes more than twice its system calls has to be mended */

struct control {
	const struct bench_report *report;
	struct bench_card card;
	struct bench_broker broker;
	struct bench_process ours, bare; /* the other sides, ours and the baseline's */
	struct doca_dev *dev;
	struct bench_comch_cfg comch;
	struct bench_comch client;
	struct bench_dma dma;
	struct doca_buf_inventory *inventory;
	struct doca_dma *idle;
	uint8_t *memory;
};

static int measure(struct control *control, const struct bench_row *row,
		   int (*ours)(void *arg, uint32_t count, uint64_t *ret_ns),
		   int (*baseline)(void *arg, uint32_t count, uint64_t *ret_ns))
{
	const struct bench_cfg cfg = {
		.ours = { ours, control }, .baseline = { baseline, control }, .warm_up = 16, .rounds = ROUNDS
	};
	struct bench_result result;

	if (bench_measure(&cfg, &result) < 0)
		return -1;
	return bench_report_result(control->report, row, &result, BENCH_LATENCY, 1);
}

/* ---- a map: created, exported, imported by another process, and both destroyed ---- */

/* The exporter: a byte begins a cycle, the next one says that the importer is done, and the answer ends it. */
static int export_maps(void *arg, int fd)
{
	struct control *control = arg;
	uint8_t *memory = bench_memory_new(MAP_BYTES);
	struct bench_export told = { .pid = getpid() };
	struct doca_dev *dev = NULL;
	char byte;
	int rc;

	bench_card_enter(&control->card, "host", NULL);
	rc = memory ? bench_dev_open(BENCH_HOST_PCI, &dev) : -1;
	while (rc == 0 && bench_receive(fd, &byte, 1) == 0) {
		struct doca_mmap *mmap;
		const void *desc;

		if (bench_map(dev, memory, MAP_BYTES, true, &mmap) < 0 ||
		    doca_mmap_export_pci(mmap, dev, &desc, &told.desc_len) != DOCA_SUCCESS ||
		    told.desc_len > sizeof(told.desc))
			return bench_fail("a map can't be exported");
		memcpy(told.desc, desc, told.desc_len);
		if (bench_send(fd, &told, sizeof(told)) < 0 || bench_receive(fd, &byte, 1) < 0 ||
		    doca_mmap_destroy(mmap) != DOCA_SUCCESS || bench_send(fd, &byte, 1) < 0)
			rc = -1;
	}
	if (dev)
		doca_dev_close(dev);
	return rc;
}

static int import_map(struct control *control)
{
	struct bench_export told;
	struct doca_mmap *mmap;
	char byte = 0;

	if (bench_send(control->ours.fd, &byte, 1) < 0 || bench_receive(control->ours.fd, &told, sizeof(told)) < 0)
		return bench_fail("the exporter is gone");
	if (doca_mmap_create_from_export(NULL, told.desc, told.desc_len, control->dev, &mmap) != DOCA_SUCCESS ||
	    doca_mmap_destroy(mmap) != DOCA_SUCCESS)
		return bench_fail("a map can't be imported");
	return bench_send(control->ours.fd, &byte, 1) < 0 ? -1 : bench_receive(control->ours.fd, &byte, 1);
}

static int run_maps(void *arg, uint32_t count, uint64_t *ret_ns)
{
	uint64_t start = bench_now_ns();
	int rc = 0;

	while (count-- > 0 && rc == 0)
		rc = import_map(arg);
	*ret_ns = bench_now_ns() - start;
	return rc;
}

/* The baseline: the owner of the names of memory hears of the export and of its end, and is asked for the import. */
static int export_bare(void *arg, int fd)
{
	const struct control *control = arg;
	struct bench_export told = { .pid = getpid() };
	char byte;

	while (bench_receive(fd, &byte, 1) == 0)
		if (bench_packet_ask(control->broker.host) < 0 || bench_send(fd, &told, sizeof(told)) < 0 ||
		    bench_receive(fd, &byte, 1) < 0 || bench_packet_ask(control->broker.host) < 0 ||
		    bench_send(fd, &byte, 1) < 0)
			return -1;
	return 0;
}

/* The exporter's memory, opened and closed. */
static int reach_memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return 0; /* forbidden: ours then finds another path */
}

static int import_bare(const struct control *control)
{
	int fd = control->bare.fd;
	struct bench_export told;
	char byte = 0;

	if (bench_send(fd, &byte, 1) < 0 || bench_receive(fd, &told, sizeof(told)) < 0 ||
	    bench_packet_ask(control->broker.dpu) < 0 || reach_memory(told.pid) < 0 ||
	    bench_packet_send(control->broker.dpu, BENCH_PACKET_TELL, -1) < 0)
		return bench_fail("the baseline's exporter is gone");
	return bench_send(fd, &byte, 1) < 0 ? -1 : bench_receive(fd, &byte, 1);
}

static int run_bare_maps(void *arg, uint32_t count, uint64_t *ret_ns)
{
	uint64_t start = bench_now_ns();
	int rc = 0;

	while (count-- > 0 && rc == 0)
		rc = import_bare(arg);
	*ret_ns = bench_now_ns() - start;
	return rc;
}

static int run_importer(void *arg)
{
	static const struct bench_row row = { .name = "map: export, import, destroy both",
					      .baseline_name = "packets, /proc/PID/mem",
					      .goal = BENCH_RATIO_AT_MOST,
					      .limit = LIMIT };
	struct control *control = arg;
	int rc = bench_dev_open(BENCH_DPU_PCI, &control->dev);

	if (rc == 0)
		rc = measure(control, &row, run_maps, run_bare_maps);
	if (control->dev)
		doca_dev_close(control->dev);
	return rc;
}

static int measure_maps(struct control *control)
{
	int rc = bench_process_fork(export_maps, control, &control->ours);

	if (rc == 0)
		rc = bench_process_fork(export_bare, control, &control->bare);
	if (rc == 0)
		rc = bench_card_run(&control->card, "dpu", NULL, run_importer, control);
	rc |= bench_process_end(&control->ours);
	return rc | bench_process_end(&control->bare);
}

/* ---- Comch: connected and disconnected ---- */

static int run_connects(void *arg, uint32_t count, uint64_t *ret_ns)
{
	struct control *control = arg;
	uint64_t start = bench_now_ns();

	while (count-- > 0) {
		struct bench_comch end = control->client;

		if (bench_comch_start(&end) < 0 || bench_comch_wait_connected(&end) < 0 || bench_comch_stop(&end) < 0)
			return -1;
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

/* What each end of a bare connection has: memory in which it receives, and that of the other end. */
struct bare_end {
	struct sim_segment in, out;
	int in_fd;
};

static int bare_open_in(struct bare_end *end)
{
	*end = (struct bare_end){ .in_fd = -1 };
	return sim_segment_create(RING_BYTES, &end->in, &end->in_fd);
}

static int bare_map_out(struct bare_end *end, int fd)
{
	int rc = sim_segment_map(fd, RING_BYTES, &end->out);

	close(fd);
	return rc;
}

static void bare_close(struct bare_end *end)
{
	sim_segment_unmap(&end->in);
	sim_segment_unmap(&end->out);
	close(end->in_fd);
}

/* A packet with memory connects, the next one disconnects. */
static int serve_bare(void *arg, int fd)
{
	const struct control *control = arg;
	int sock = control->broker.dpu, passed;

	(void)fd;
	while (bench_packet_receive(sock, &passed) == 0 && passed >= 0) {
		struct bare_end end;

		if (bare_open_in(&end) < 0 || bare_map_out(&end, passed) < 0 ||
		    bench_packet_send(sock, BENCH_PACKET_PASS, end.in_fd) < 0 ||
		    bench_packet_receive(sock, &passed) < 0)
			return -1;
		bare_close(&end);
	}
	return 0;
}

static int run_bare_connects(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct control *control = arg;
	uint64_t start = bench_now_ns();
	int sock = control->broker.host, passed;

	while (count-- > 0) {
		struct bare_end end;

		if (bare_open_in(&end) < 0 || bench_packet_send(sock, BENCH_PACKET_PASS, end.in_fd) < 0 ||
		    bench_packet_receive(sock, &passed) < 0 || bare_map_out(&end, passed) < 0 ||
		    bench_packet_send(sock, BENCH_PACKET_PASS, -1) < 0)
			return bench_fail("the baseline's server is gone");
		bare_close(&end);
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static int run_client(void *arg)
{
	static const struct bench_row row = { .name = "Comch: connect, disconnect",
					      .baseline_name = "packets, memory of each end",
					      .goal = BENCH_RATIO_AT_MOST,
					      .limit = LIMIT };
	struct control *control = arg;
	int rc = bench_comch_open(&control->comch, false, &control->client);

	if (rc == 0)
		rc = measure(control, &row, run_connects, run_bare_connects);
	return bench_comch_close(&control->client) < 0 ? -1 : rc;
}

static int measure_connects(struct control *control)
{
	int rc;

	control->comch = (struct bench_comch_cfg){ .card = &control->card, .name = "control", .blocks = true };
	rc = bench_many_start(&control->ours, bench_many_serve_comch, &control->comch);
	if (rc == 0)
		rc = bench_process_fork(serve_bare, control, &control->bare);
	if (rc == 0)
		rc = bench_card_run(&control->card, "host", NULL, run_client, control);
	rc |= bench_process_end(&control->ours);
	if (control->bare.pid > 0) /* it sleeps at the broker: a packet without memory ends it */
		bench_packet_send(control->broker.host, BENCH_PACKET_PASS, -1);
	return rc | bench_process_end(&control->bare);
}

/* ---- buffers, which need no system call, beside an empty one; contexts ---- */

static int run_empty_calls(void *arg, uint32_t count, uint64_t *ret_ns)
{
	uint64_t start = bench_now_ns();

	(void)arg;
	while (count-- > 0)
		syscall(SYS_getppid);
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static int run_bufs(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct control *control = arg;
	uint64_t start = bench_now_ns();

	while (count-- > 0) {
		struct doca_buf *buf;

		if (doca_buf_inventory_buf_get_by_addr(control->inventory, control->dma.target, control->memory,
						       BENCH_SMALL_BYTES, &buf) != DOCA_SUCCESS ||
		    doca_buf_dec_refcount(buf, NULL) != DOCA_SUCCESS)
			return bench_fail("a buffer can't be taken and given back");
	}
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static int run_contexts(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct control *control = arg;
	struct doca_ctx *ctx = doca_dma_as_ctx(control->idle);
	uint64_t start = bench_now_ns();

	while (count-- > 0)
		if (doca_ctx_start(ctx) != DOCA_SUCCESS || doca_ctx_stop(ctx) != DOCA_SUCCESS)
			return bench_fail("a context can't be started and stopped");
	*ret_ns = bench_now_ns() - start;
	return 0;
}

/* A context looks whether the two handlers of signals by which it guards accesses are in place. */
static int run_context_calls(void *arg, uint32_t count, uint64_t *ret_ns)
{
	uint64_t start = bench_now_ns();
	struct sigaction handler;

	(void)arg;
	while (count-- > 0)
		if (sigaction(SIGSEGV, NULL, &handler) < 0 || sigaction(SIGBUS, NULL, &handler) < 0)
			return bench_fail("sigaction: %s", strerror(errno));
	*ret_ns = bench_now_ns() - start;
	return 0;
}

static void on_end(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

static int make_idle_context(struct control *control)
{
	if (doca_dma_create(control->dma.dev, &control->idle) != DOCA_SUCCESS ||
	    doca_dma_task_memcpy_set_conf(control->idle, on_end, on_end, NUM_TASKS) != DOCA_SUCCESS ||
	    doca_pe_connect_ctx(control->dma.pe, doca_dma_as_ctx(control->idle)) != DOCA_SUCCESS)
		return bench_fail("no DMA context");
	return 0;
}

static int run_alone(void *arg)
{
	static const struct bench_row rows[] = { { .name = "buffer: get, return",
						   .baseline_name = "an empty system call",
						   .goal = BENCH_RATIO_AT_MOST,
						   .limit = 1 },
						 { .name = "DMA context: start, stop",
						   .baseline_name = "2 sigaction",
						   .goal = BENCH_RATIO_AT_MOST,
						   .limit = LIMIT } };
	struct control *control = arg;
	struct bench_dma_cfg cfg = {
		.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES, .num_blocks = 1, .depth = 1
	};
	int rc;

	control->memory = bench_memory_new(MAP_BYTES);
	cfg.source = cfg.target = control->memory;
	rc = control->memory ? bench_dma_open(&cfg, &control->dma) : -1;
	if (rc == 0 && (doca_buf_inventory_create(NUM_TASKS, &control->inventory) != DOCA_SUCCESS ||
			doca_buf_inventory_start(control->inventory) != DOCA_SUCCESS))
		rc = bench_fail("no inventory");
	if (rc == 0)
		rc = measure(control, &rows[0], run_bufs, run_empty_calls);
	if (rc == 0)
		rc = make_idle_context(control);
	if (rc == 0)
		rc = measure(control, &rows[1], run_contexts, run_context_calls);
	if (control->idle)
		doca_dma_destroy(control->idle);
	if (control->inventory)
		doca_buf_inventory_destroy(control->inventory);
	bench_dma_close(&control->dma);
	return rc;
}

int bench_fig_control(const struct bench_report *report)
{
	static struct control control;
	int rc;

	control.report = report;
	if (bench_broker_start(&control.broker) < 0 || bench_card_up(&control.card) < 0)
		return -1;
	rc = measure_maps(&control);
	if (rc == 0)
		rc = measure_connects(&control);
	if (rc == 0)
		rc = bench_card_run(&control.card, "dpu", NULL, run_alone, &control);
	rc |= bench_broker_end(&control.broker);
	return bench_card_down(&control.card) < 0 ? -1 : rc;
}
