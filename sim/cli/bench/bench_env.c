/* SPDX-License-Identifier: BSD-3-Clause */
/* Where and when a result was measured. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "pcie_model/arith.h"
#include "sim/base/printable.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"

/* The processor's name as the kernel gives it; on Arm it gives none. */
static void read_processor(char *text, size_t size)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[256];

	snprintf(text, size, "unknown processor");
	while (in && fgets(line, sizeof(line), in)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", strlen("model name")) != 0 || !colon)
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(text, size, "%s", colon + 2);
		break;
	}
	if (in)
		fclose(in);
}

static void set_machine(struct cli_bench_env *env)
{
	struct utsname system = { 0 };
	char processor[80];

	read_processor(processor, sizeof(processor));
	uname(&system);
	snprintf(env->machine, sizeof(env->machine), "%s %s, %ld processors, Linux %.40s", system.machine, processor,
		 sysconf(_SC_NPROCESSORS_ONLN), system.release);
	sim_make_printable_array(env->machine, sizeof(env->machine));
}

static void set_date(struct cli_bench_env *env)
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || strftime(env->date, sizeof(env->date), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		env->date[0] = '\0';
}

static void set_card(struct cli_bench_env *env, const struct pcie_card *card)
{
	snprintf(env->card, sizeof(env->card), "%s; link Gen%u x%u, mode %s", card->profile->description,
		 card->link.generation, card->link.lanes, pcie_mode_name(card->mode));
}

static void add_engines(struct cli_bench_limits *limits, const struct pcie_function *function)
{
	for (int accel = 0; accel < PCIE_NUM_ACCELS; accel++)
		if (!limits->accel[accel].is_supported && function->caps.accel[accel].is_supported) {
			limits->accel[accel] = function->caps.accel[accel];
			memcpy(limits->device[accel], function->ibdev, sizeof(function->ibdev));
		}
}

/* The first and the last function of a side; NULL = none. */
struct ends {
	const struct pcie_function *first, *last;
};

static struct ends find_ends(const struct pcie_topology *topology, const char *side)
{
	struct ends ends = { 0 };

	for (size_t i = 0; i < topology->num_functions; i++) {
		const struct pcie_function *function = &topology->functions[i];

		if (strcmp(function->side, side) != 0)
			continue;
		ends.first = ends.first ? ends.first : function;
		ends.last = function;
	}
	return ends;
}

static void set_rdma(struct cli_bench_limits *limits, enum cli_bench_place place, const struct pcie_function *from,
		     const struct pcie_function *to)
{
	if (!from || !to)
		limits->rdma[place].lack = "the topology has no function on one of the sides";
	else if (from == to)
		limits->rdma[place].lack = "the host has one function";
	else if (!from->caps.rdma || !to->caps.rdma)
		limits->rdma[place].lack = "a function has no RDMA";
	else if (!from->has_ipv4 || !to->has_ipv4)
		limits->rdma[place].lack = "a function has no IPv4 address";
	if (limits->rdma[place].lack)
		return;
	limits->rdma[place].max_bytes = min_u64(from->caps.rdma_max_msg_bytes, to->caps.rdma_max_msg_bytes);
	limits->rdma[place].max_depth = from->caps.rdma_max_send_queue;
}

static void set_all_rdma(struct cli_bench_limits *limits, const struct pcie_topology *topology)
{
	struct ends host = find_ends(topology, "host"), dpu = find_ends(topology, "dpu");

	set_rdma(limits, CLI_BENCH_FROM_HOST, host.first, dpu.first);
	set_rdma(limits, CLI_BENCH_FROM_DPU, dpu.first, host.first);
	set_rdma(limits, CLI_BENCH_BETWEEN_PORTS, host.first, host.last);
}

static void set_limits(struct cli_bench_limits *limits, const struct pcie_topology *topology)
{
	*limits = (struct cli_bench_limits){ .profile = topology->cards[0].profile->name };
	if (topology->num_functions)
		limits->max_msg_bytes = topology->functions[0].caps.comch_max_msg_bytes;
	set_all_rdma(limits, topology);
	for (size_t i = 0; i < topology->num_functions; i++)
		if (pcie_side_is_dpu(topology->functions[i].side))
			add_engines(limits, &topology->functions[i]);
}

int cli_bench_env_get(const struct cli_bench_cfg *cfg, struct cli_bench_env *ret_env,
		      struct cli_bench_limits *ret_limits)
{
	struct pcie_topology *topology = cfg->topology ? cli_topology_of_file(cfg->topology) : cli_topology_built_in();

	if (!topology)
		return -1;
	*ret_env = (struct cli_bench_env){ .version = BFSIM_VERSION };
	set_machine(ret_env);
	set_date(ret_env);
	set_card(ret_env, &topology->cards[0]);
	snprintf(ret_env->topology, sizeof(ret_env->topology), "%s", cfg->topology ? cfg->topology : "built-in");
	set_limits(ret_limits, topology);
	pcie_topology_destroy(topology);
	return 0;
}
