/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that describes a fatal kernel. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "dpa_priv.h"

void dpa_write_crash_file(void *arg, const struct sim_dpa_failure *failure)
{
	const struct doca_dpa *dpa = arg;
	const struct sim_dpa_crash *crash = failure->crash;
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d.crash", dpa->log_path ? dpa->log_path : "/tmp/doca_dpa_fatal",
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
	fclose(file);
	sim_info("%s says more of the fatal kernel", path);
}
