/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/generate.h - the C that dpacc writes: device units and host stubs. Names of ours begin with __bfsim_dpa_. */
#ifndef SIM_CLI_DPACC_GENERATE_H
#define SIM_CLI_DPACC_GENERATE_H

#include "scan.h"
#include "words.h"

/* The device unit of @source: its text, then functions that pack arguments and call kernels. */
void generate_unit(struct text *unit, const char *source, const struct text *source_text,
		   const struct scan_kernels *kernels);

struct app_parts {
	const char *name;
	const char *guarded_path, *plain_path; /* images */
	const char *attributes;                /* lines, or "" */
};

/* The object that programs link: the images, a stub for each kernel, and the pointer APP. */
void generate_stubs(struct text *stubs, const struct app_parts *app, const struct scan_kernels *kernels);

#endif
