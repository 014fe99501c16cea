/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand clients of one Comch server, all of which sleep between events. */
#include <stdio.h>

#include "comch.h"
#include "fig.h"
#include "many.h"

#define NUM_LARGE  40 /* messages of the largest size: more than a receive queue holds */
#define NUM_ROUNDS 10 /* of a message and its answer on each connection of a process */

struct figure {
	struct bench_card card;
	struct bench_comch_cfg cfg;
	struct bench_many many;
};

static int start_all(struct figure *figure, enum sim_clock_mode clock)
{
	figure->card = (struct bench_card){ .clock = clock };
	if (bench_many_limit_descriptors() < 0 || bench_card_up_as(&figure->card) < 0)
		return -1;
	figure->cfg = (struct bench_comch_cfg){ .card = &figure->card, .name = "many", .blocks = true, .echoes = true };
	if (bench_many_start(&figure->many.server, bench_many_serve_comch, &figure->cfg) < 0)
		return -1;
	figure->cfg.echoes = false;
	return bench_many_start_clients(&figure->many, bench_many_run_comch_clients, &figure->cfg);
}

static int end_all(struct figure *figure)
{
	int rc = bench_many_end(&figure->many);

	return bench_card_down(&figure->card) < 0 ? -1 : rc;
}

static int connect_from(struct bench_many *many, unsigned int number)
{
	int rc = 0;

	for (; number < BENCH_MANY_CONNECTIONS && rc == 0; number++)
		rc = bench_many_connect_next(many, number);
	return rc;
}

static int measure(const struct bench_report *report, struct bench_many *many)
{
	bench_many_note_memory(many, BENCH_MANY_BEFORE);
	if (connect_from(many, 0) < 0)
		return -1;
	bench_many_note_memory(many, BENCH_MANY_FRESH);
	if (bench_many_exchange(many, BENCH_COMCH_MAX_MSG, NUM_LARGE) < 0)
		return -1;
	bench_many_note_memory(many, BENCH_MANY_TRAFFIC);
	if (bench_many_report_memory(report, many, "Comch", BENCH_OURS_BELOW) < 0)
		return -1;
	return bench_many_report_growth(report, many, "Comch");
}

/* A message and its answer, while there is one connection and while there are all; 100 take part in turn. */
static int report_messages(const struct bench_report *report, struct figure *figure)
{
	struct bench_row row = { .unit = "us", .baseline_name = "1 connection", .note = "a message and its answer" };
	struct bench_many *many = &figure->many;

	if (bench_many_connect_next(many, 0) < 0 ||
	    bench_many_time_messages(many, 1, NUM_ROUNDS * BENCH_MANY_EACH, &row.baseline) < 0 ||
	    connect_from(many, 1) < 0 || bench_many_time_messages(many, BENCH_MANY_EACH, NUM_ROUNDS, &row.ours) < 0)
		return -1;
	row.ratio = row.ours / row.baseline;
	snprintf(row.name, sizeof(row.name), "1000 Comch connections, %s", sim_clock_mode_name(figure->card.clock));
	return bench_report_row(report, &row);
}

static int report_clock(const struct bench_report *report, struct figure *figure, enum sim_clock_mode clock)
{
	int rc = start_all(figure, clock);

	if (rc == 0)
		rc = report_messages(report, figure);
	return end_all(figure) < 0 ? -1 : rc;
}

int bench_fig_comch_many(const struct bench_report *report)
{
	static struct figure figure;
	int rc = start_all(&figure, SIM_CLOCK_FUNCTIONAL);

	if (rc == 0)
		rc = measure(report, &figure.many);
	rc = end_all(&figure) < 0 ? -1 : rc;
	for (int clock = 0; clock < SIM_CLOCK_NUM_MODES && rc == 0; clock++)
		if (clock != SIM_CLOCK_TIMED) /* there a message takes its time */
			rc = report_clock(report, &figure, (enum sim_clock_mode)clock);
	return rc;
}
