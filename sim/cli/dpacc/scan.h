/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/scan.h - find kernels in a preprocessed source.
 *
 * A kernel is a definition behind a mark, __dpa_global__ or __dpa_rpc__. The scanner looks for the name, the
 * parentheses behind it and the commas between parameters; types stay the compiler's business. The marks also stand on types,
 * which end at a brace, a semicolon or an equals sign before any parenthesis, and on declarations without a body.
 */
#ifndef SIM_CLI_DPACC_SCAN_H
#define SIM_CLI_DPACC_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct scan_param {
	char *text; /* as the program wrote it, white space apart */
	char *name;
};

struct scan_kernel {
	char *name;
	bool is_rpc;
	char *file; /* of the mark */
	unsigned int line;
	struct scan_param *params;
	size_t num_params;
};

struct scan_kernels {
	struct scan_kernel *list;
	size_t count;
};

/* Add the kernels of @text, the compiler's output with line markers. Returns false if a declaration can't be read: *ret_error is
 * "FILE:LINE: error: ...", the caller's to free. */
bool scan_kernels(const char *text, struct scan_kernels *kernels, char **ret_error);

#endif
