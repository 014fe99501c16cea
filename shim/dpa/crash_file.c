/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that describes a fatal kernel. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "dpa_priv.h"

/* Those of a kernel that a signal has ended; a hook of the compiler knows none. */
static void write_registers(FILE *file, const struct sim_dpa_crash *crash)
{
	if (crash->stack)
		fprintf(file, "stack: %#lx\n", (unsigned long)crash->stack);
	for (uint32_t i = 0; i < crash->num_registers; i++)
		fprintf(file, "%s%s: %#llx", i == 0 ? "registers: " : ", ", sim_dpa_register_name(i),
			(unsigned long long)crash->registers[i]);
	if (crash->num_registers)
		fputc('\n', file);
}

void dpa_write_crash_file(void *arg, const struct sim_dpa_failure *failure)
{
	const struct doca_dpa *dpa = arg;
	const struct sim_dpa_crash *crash = failure->crash;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d.crash", dpa->log.path ? dpa->log.path : "/tmp/doca_dpa_fatal",
		 (int)getpid());
	file = fopen(path, "we");
	if (!file) {
		sim_warn("%s can't be written", path);
		return;
	}
	fprintf(file,
		"application: %s\nkernel: %s\nexecution unit: %u\nreason: %s\npc: %#lx\nfunction: %s\nplace: %s:%u\n",
		sim_dpa_image_name(sim_dpa_process_image(dpa->process)), failure->kernel, failure->eu, crash->reason,
		(unsigned long)crash->pc, crash->place.function, crash->place.file, crash->place.line);
	write_registers(file, crash);
	fclose(file);
	sim_info("%s says more of the fatal kernel", path);
}
