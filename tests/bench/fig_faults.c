/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a thousand fault rules that hit nothing here: the same 64-byte tasks on a card with them and on one
 * without. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "copier.h"
#include "fig.h"
#include "memory.h"
#include "sim/faults/rule/rule.h"
#include "sim/control/control.h"

#define NUM_RULES 1000
#define HIGH_ADDR UINT64_C(0xffff000000000000) /* an address without any program's memory */

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
		snprintf(text, size, "dma.memcpy size=%u..%u fail=IO_FAILED", BENCH_SMALL_BYTES + 1 + i,
			 BENCH_SMALL_BYTES + 100 + i);
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

/* ---- the figure ---- */

/* A card with its rules, and a process on it. */
struct place {
	struct bench_card card;
	struct bench_copier copier;
};

/* Returns 0 or -1; end it in both cases. */
static int start(struct place *place, make_rule *make)
{
	*place = (struct place){ .copier = { .card = &place->card, .process = { .fd = -1 } } };
	if (bench_card_up(&place->card) < 0 || (make && add_rules(&place->card, make) < 0))
		return -1;
	return bench_copier_start(&place->copier);
}

static int end(struct place *place)
{
	int rc = place->copier.process.pid ? bench_process_end(&place->copier.process) : -1;

	if (!place->card.daemon.pid || bench_card_down(&place->card) < 0)
		return -1;
	return rc;
}

static int compare(const struct bench_report *report, make_rule *make, struct place *none, const struct bench_row *row)
{
	struct place ours;
	int rc = start(&ours, make);

	if (rc == 0)
		rc = bench_copier_compare(report, &ours.copier, &none->copier, row);
	return end(&ours) < 0 ? -1 : rc;
}

int bench_fig_faults(const struct bench_report *report)
{
	static const struct {
		const char *name;
		make_rule *make;
	} variants[] = {
		{ "64 B, 1000 rules: other operation", other_operation },
		{ "64 B, 1000 rules: other sizes", other_size },
		{ "64 B, 1000 rules: other addresses", other_address },
		{ "64 B, 1000 rules: other devices", other_device },
		{ "64 B, 1000 rules: other programs", other_program },
	};
	struct place none;
	int rc = start(&none, NULL);

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]) && rc == 0; i++) {
		struct bench_row row = { .baseline_name = "no rules", .goal = BENCH_RATIO_AT_LEAST, .limit = 0.97 };

		snprintf(row.name, sizeof(row.name), "%s", variants[i].name);
		rc = compare(report, variants[i].make, &none, &row);
	}
	return end(&none) < 0 ? -1 : rc;
}
