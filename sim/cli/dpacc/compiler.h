/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/compiler.h - what dpacc knows of the host's compiler, and where bfsim's own files for device code are. */
#ifndef SIM_CLI_DPACC_COMPILER_H
#define SIM_CLI_DPACC_COMPILER_H

#include <stdbool.h>

#include "words.h"

struct compiler {
	bool is_clang;
	const char *triplet; /* x86_64-linux-gnu, aarch64-linux-gnu */
	char *include_dir;   /* dpaintrin.h, bfsim_dpa_unit.h */
	char *port_dir;      /* sim/dpa/image/port.h below it */
	char *runtime;       /* libbfsim_dpa.a */
};

/* Ask the compiler for its predefined macros. Exits with a message if it does not run, or is for a processor that
 * bfsim has no libraries for. */
void compiler_inspect(const struct words *hostcc, struct compiler *compiler);

#endif
