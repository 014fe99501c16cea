/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thousand fault rules cost that strike nothing here: the same 64-byte tasks on a card with them and on one without. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "dma.h"
#include "fig.h"
#include "memory.h"
#include "reference.h"
#include "sim/faults/rule.h"
#include "sim/session/control.h"

#define LEN ((size_t)BENCH_SMALL_BYTES * BENCH_NUM_SMALL)
#define BATCH 32
#define SEED 7
#define NUM_RULES 1000
#define HIGH_ADDR UINT64_C(0xffff000000000000) /* where no program's memory is */

/* A process that copies when it is told to, on a card of its own. */
struct copier {
	struct bench_card card;
	struct bench_process process;
};

/* ---- rules: number @i of a thousand that differ in one condition, which never holds ---- */

static void other_operation(char *text, size_t size, unsigned int i)
{
	snprintf(text, size, "comch.send size=%u fail=IO_FAILED", 1 + i);
}

/* Around 64 bytes, both sides. */
static void other_size(char *text, size_t size, unsigned int i)
{
	if (i % 2)
		snprintf(text, size, "dma.memcpy size=%u..%u fail=IO_FAILED", 1 + i % 60, 63 - i % 3);
	else
		snprintf(text, size, "dma.memcpy size=%u..%u fail=IO_FAILED", BENCH_SMALL_BYTES + 1 + i, BENCH_SMALL_BYTES + 100 + i);
}

static void other_address(char *text, size_t size, unsigned int i)
{
	uint64_t addr = (i % 2 ? HIGH_ADDR : 0) + UINT64_C(4096) * i;

	snprintf(text, size, "dma.memcpy addr=0x%" PRIx64 "..0x%" PRIx64 " fail=IO_FAILED", addr, addr + 100);
}

static void other_device(char *text, size_t size, unsigned int i)
{
	snprintf(text, size, "dma.memcpy device=%02x:00.0 fail=IO_FAILED", 4 + i % 100);
}

static void other_program(char *text, size_t size, unsigned int i)
{
	snprintf(text, size, "dma.memcpy program=other_%u fail=IO_FAILED", i);
}

typedef void make_rule(char *text, size_t size, unsigned int i);

static int add_rule(int dir_fd, const char *text)
{
	char delays_file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;
	int rc = sim_rule_parse(text, &rule, delays_file, &error);

	if (rc < 0)
		return bench_fail("%s: %s", text, error.text);
	rc = sim_control_add_fault(dir_fd, &rule, NULL, &id);
	return rc < 0 ? bench_fail("cannot add a fault: %s", strerror(-rc)) : 0;
}

static int add_rules(const struct bench_card *card, make_rule *make)
{
	int dir_fd = open(card->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	char text[SIM_RULE_TEXT_SIZE];

	if (dir_fd < 0)
		return bench_fail("cannot open %s", card->dir);
	for (unsigned int i = 0; i < NUM_RULES && rc == 0; i++) {
		make(text, sizeof(text), i);
		rc = add_rule(dir_fd, text);
	}
	close(dir_fd);
	return rc;
}

/* ---- processes ---- */

/* Batches as they are ordered, and how long they took. */
static int serve(struct bench_dma *dma, int fd)
{
	struct bench_ref_answer answer = {0};
	struct bench_ref_order order;

	if (bench_send(fd, &answer, sizeof(answer)) < 0)
		return -1;
	while (bench_receive(fd, &order, sizeof(order)) == 0) {
		uint64_t start = bench_now_ns();

		answer.status = bench_dma_copy_batches(dma, order.count);
		answer.ns = bench_now_ns() - start;
		if (answer.status < 0 || bench_send(fd, &answer, sizeof(answer)) < 0)
			return -1;
	}
	return bench_memory_check(dma->cfg.target, LEN, SEED);
}

static int run_copier(void *arg, int fd)
{
	const struct copier *copier = arg;
	struct bench_dma_cfg cfg = {.pci = BENCH_DPU_PCI, .block_bytes = BENCH_SMALL_BYTES,
				    .num_blocks = BENCH_NUM_SMALL, .depth = BATCH};
	struct bench_dma dma;
	int rc;

	bench_card_enter(&copier->card, "dpu", NULL);
	cfg.source = bench_memory_new(LEN);
	cfg.target = bench_memory_new(LEN);
	if (!cfg.source || !cfg.target)
		return -1;
	bench_memory_fill(cfg.source, LEN, SEED);
	rc = bench_dma_open(&cfg, &dma);
	if (rc == 0)
		rc = serve(&dma, fd);
	bench_dma_close(&dma);
	return rc;
}

/* Here: ways count batches. */
static int order_batches(void *arg, uint32_t count, uint64_t *ret_ns)
{
	const struct copier *copier = arg;
	const struct bench_ref_order order = {.count = count};
	struct bench_ref_answer answer;

	if (bench_send(copier->process.fd, &order, sizeof(order)) < 0 ||
	    bench_receive(copier->process.fd, &answer, sizeof(answer)) < 0 || answer.status < 0)
		return bench_fail("a process with rules for others does not copy");
	*ret_ns = answer.ns;
	return 0;
}

/* The card, with its rules, and the process on it. Returns 0 or -1; end it in both cases. */
static int start(struct copier *copier, make_rule *make)
{
	struct bench_ref_answer ready;

	*copier = (struct copier){.process = {.fd = -1}};
	if (bench_card_up(&copier->card) < 0 || (make && add_rules(&copier->card, make) < 0) ||
	    bench_process_fork(run_copier, copier, &copier->process) < 0)
		return -1;
	return bench_receive(copier->process.fd, &ready, sizeof(ready)) < 0 ?
		       bench_fail("a process with rules for others does not start") : 0;
}

static int end(struct copier *copier)
{
	int rc = copier->process.pid ? bench_process_end(&copier->process) : -1;

	if (!copier->card.daemon.pid || bench_card_down(&copier->card) < 0)
		return -1;
	return rc;
}

/* ---- the figure ---- */

static int compare(const struct bench_report *report, make_rule *make, struct copier *none, const struct bench_row *row)
{
	struct copier ours;
	const struct bench_cfg cfg = {.ours = {order_batches, &ours}, .baseline = {order_batches, none}, .warm_up = 1000,
				      .rounds = 151};
	struct bench_result result;
	int rc = start(&ours, make);

	if (rc == 0)
		rc = bench_measure(&cfg, &result);
	if (end(&ours) < 0 || rc < 0)
		return -1;
	result.ours_ns /= BATCH;
	result.baseline_ns /= BATCH;
	return bench_report_result(report, row, &result, BENCH_RATE, BENCH_SMALL_BYTES);
}

int bench_fig_faults(const struct bench_report *report)
{
	static const struct {
		const char *name;
		make_rule *make;
	} variants[] = {
		{"64 B, 1000 rules: other operation", other_operation},
		{"64 B, 1000 rules: other sizes", other_size},
		{"64 B, 1000 rules: other addresses", other_address},
		{"64 B, 1000 rules: other devices", other_device},
		{"64 B, 1000 rules: other programs", other_program},
	};
	struct copier none;
	int rc = start(&none, NULL);

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]) && rc == 0; i++) {
		struct bench_row row = {.baseline_name = "no rules", .goal = BENCH_RATIO_AT_LEAST, .limit = 0.97};

		snprintf(row.name, sizeof(row.name), "%s", variants[i].name);
		rc = compare(report, variants[i].make, &none, &row);
	}
	return end(&none) < 0 ? -1 : rc;
}
