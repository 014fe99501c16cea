/* SPDX-License-Identifier: BSD-3-Clause */
/* The points of a sweep: all combinations of its values that the topology allows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sim/cli/base/cli.h"

#define MAX_REASONS 32

/* Workloads, each once, in the order of the options. */
struct chosen {
	struct {
		enum cli_bench_workload workload;
		bool may_lack;
	} list[CLI_BENCH_NUM_WORKLOADS];
	size_t count;
};

/* Why points are left out. */
struct reasons {
	struct {
		char text[CLI_BENCH_PROBLEM_SIZE];
		size_t num_points;
	} list[MAX_REASONS];
	size_t count;
};

/* ---- workloads ---- */

/* Why the topology does not allow the workload at all; NULL = it does. */
static const char *find_lack(enum cli_bench_workload workload, const struct cli_bench_limits *limits)
{
	enum pcie_accel accel = cli_bench_accel(workload);

	if (cli_bench_is_rdma(workload))
		return limits->rdma[cli_bench_rdma_place(workload)].lack;
	return accel == PCIE_NUM_ACCELS || limits->accel[accel].is_supported ? NULL :
									       "no function of the DPU has its engine";
}

static void choose(struct chosen *chosen, enum cli_bench_workload workload, bool may_lack)
{
	for (size_t i = 0; i < chosen->count; i++)
		if (chosen->list[i].workload == workload) {
			chosen->list[i].may_lack &= may_lack;
			return;
		}
	chosen->list[chosen->count].workload = workload;
	chosen->list[chosen->count++].may_lack = may_lack;
}

static bool is_engine(enum cli_bench_workload workload)
{
	return cli_bench_accel(workload) != PCIE_NUM_ACCELS;
}

static void choose_each(struct chosen *chosen, bool (*is_of)(enum cli_bench_workload workload))
{
	for (enum cli_bench_workload i = 0; i < CLI_BENCH_NUM_WORKLOADS; i++)
		if (is_of(i))
			choose(chosen, i, true);
}

static bool is_rdma(enum cli_bench_workload workload)
{
	return cli_bench_is_rdma(workload);
}

static void choose_all(struct chosen *chosen, const struct cli_bench_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct cli_bench_point point = { 0 };

		snprintf(point.workload, sizeof(point.workload), "%s", names->list[i]);
		if (strcmp(names->list[i], CLI_BENCH_ALL_ENGINES) == 0)
			choose_each(chosen, is_engine);
		else if (strcmp(names->list[i], CLI_BENCH_ALL_RDMA) == 0)
			choose_each(chosen, is_rdma);
		else
			choose(chosen, cli_bench_workload_of(&point), false);
	}
}

/* "bluefield-2" or several with commas. */
static void name_profiles_with(enum pcie_accel accel, char *text, size_t size)
{
	size_t count, len = 0;
	const struct pcie_profile *const *profiles = pcie_profile_all(&count);

	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (profiles[i]->dpu_caps.accel[accel].is_supported && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "", profiles[i]->name);
}

static void fail_for_lack(enum cli_bench_workload workload, const struct cli_bench_limits *limits, const char *lack)
{
	enum pcie_accel accel = cli_bench_accel(workload);
	char profiles[128];

	if (accel == PCIE_NUM_ACCELS) {
		cli_fail("%s can't be measured: %s (profile %s); give another --topology",
			 cli_bench_workload_names[workload], lack, limits->profile);
		return;
	}
	name_profiles_with(accel, profiles, sizeof(profiles));
	cli_fail(
		"no function of the DPU has the engine for %s (profile %s): give a --topology whose card has the profile %s, or "
		"\"%s: true\" with its limits among the caps of a function",
		cli_bench_workload_names[workload], limits->profile, profiles, pcie_accel_name(accel));
}

/* Remove workloads that the topology does not allow, with a line each. Returns 0, or -1 if one of them was asked for by name. */
static int remove_lacking(struct chosen *chosen, const struct cli_bench_limits *limits)
{
	size_t count = 0;

	for (size_t i = 0; i < chosen->count; i++) {
		enum cli_bench_workload workload = chosen->list[i].workload;
		const char *lack = find_lack(workload, limits);

		if (!lack) {
			chosen->list[count++] = chosen->list[i];
		} else if (chosen->list[i].may_lack) {
			fprintf(stderr, "bfsim: %s is left out: %s (profile %s)\n", cli_bench_workload_names[workload],
				lack, limits->profile);
		} else {
			fail_for_lack(workload, limits, lack);
			return -1;
		}
	}
	chosen->count = count;
	return 0;
}

/* Without a rate in the topology, the model gives the work of an engine no time. */
static void warn_of_no_rates(const struct chosen *chosen, const struct cli_bench_names *clocks,
			     const struct cli_bench_limits *limits)
{
	bool has_model_time = false;

	for (size_t i = 0; i < clocks->count; i++)
		has_model_time |= strcmp(clocks->list[i], "functional") != 0;
	for (size_t i = 0; i < chosen->count && has_model_time; i++) {
		enum pcie_accel accel = cli_bench_accel(chosen->list[i].workload);

		if (accel != PCIE_NUM_ACCELS && limits->accel[accel].rate_bps == 0)
			fprintf(stderr,
				"bfsim: warning: timed and virtual figures of %s are not a card's: its tasks cost submission and completion alone, as the topology has no rate of the engine (%s-rate among the caps of a function)\n",
				cli_bench_workload_names[chosen->list[i].workload], pcie_accel_name(accel));
	}
}

/* ---- points ---- */

static struct cli_bench_point point_at(const struct cli_bench_sweep *sweep, const struct chosen *chosen, size_t number)
{
	struct cli_bench_point point = { 0 };

	point.size = sweep->sizes.list[number % sweep->sizes.count];
	number /= sweep->sizes.count;
	point.depth = sweep->depths.list[number % sweep->depths.count];
	number /= sweep->depths.count;
	point.threads = sweep->threads.list[number % sweep->threads.count];
	number /= sweep->threads.count;
	snprintf(point.path, sizeof(point.path), "%s", sweep->paths.list[number % sweep->paths.count]);
	number /= sweep->paths.count;
	snprintf(point.clock, sizeof(point.clock), "%s", sweep->clocks.list[number % sweep->clocks.count]);
	number /= sweep->clocks.count;
	snprintf(point.workload, sizeof(point.workload), "%s", cli_bench_workload_names[chosen->list[number].workload]);
	point.may_lack = chosen->list[number].may_lack;
	return point;
}

static void set_device(struct cli_bench_point *point, const struct cli_bench_limits *limits)
{
	enum pcie_accel accel = cli_bench_accel(cli_bench_workload_of(point));

	if (accel != PCIE_NUM_ACCELS)
		memcpy(point->device, limits->device[accel], sizeof(point->device));
}

static void count_reason(struct reasons *reasons, const char *text)
{
	size_t i = 0;

	while (i < reasons->count && strcmp(reasons->list[i].text, text) != 0)
		i++;
	if (i == MAX_REASONS)
		return;
	snprintf(reasons->list[i].text, sizeof(reasons->list[i].text), "%s", text);
	reasons->list[i].num_points++;
	reasons->count += i == reasons->count;
}

static const char has_no_path_text[] = "comch, rdma-send and the engines have no data path, so they are measured once";

/* Whether the point differs from another one in nothing but the data path, and has none. */
static bool is_repeated(const struct cli_bench_sweep *sweep, const struct cli_bench_point *point)
{
	return !cli_bench_has_path(cli_bench_workload_of(point)) && strcmp(point->path, sweep->paths.list[0]) != 0;
}

static void fill_points(const struct cli_bench_sweep *sweep, const struct chosen *chosen,
			const struct cli_bench_limits *limits, size_t count, struct cli_bench *bench)
{
	char text[CLI_BENCH_PROBLEM_SIZE];
	struct reasons reasons = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct cli_bench_point point = point_at(sweep, chosen, i);

		set_device(&point, limits);
		if (cli_bench_is_impossible(&point, limits, text))
			count_reason(&reasons, text);
		else if (is_repeated(sweep, &point))
			count_reason(&reasons, has_no_path_text);
		else
			bench->points[bench->num_points++] = point;
	}
	for (size_t i = 0; i < reasons.count; i++)
		fprintf(stderr, "bfsim: %zu of %zu points are left out: %s\n", reasons.list[i].num_points, count,
			reasons.list[i].text);
}

int cli_bench_make_points(const struct cli_bench_sweep *sweep, const struct cli_bench_limits *limits,
			  struct cli_bench *bench)
{
	struct chosen chosen = { 0 };
	size_t count;

	choose_all(&chosen, &sweep->workloads);
	if (remove_lacking(&chosen, limits) < 0)
		return -1;
	warn_of_no_rates(&chosen, &sweep->clocks, limits);
	count = chosen.count * sweep->clocks.count * sweep->paths.count * sweep->threads.count * sweep->depths.count *
		sweep->sizes.count;
	bench->points = calloc(count ? count : 1, sizeof(*bench->points));
	if (!bench->points)
		return cli_error("out of memory");
	fill_points(sweep, &chosen, limits, count, bench);
	if (bench->num_points > 0)
		return 0;
	return cli_error("there is nothing to measure");
}
