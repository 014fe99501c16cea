/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/options.h - the command line of dpacc: options with one dash or two, values behind '=' or in the next word. */
#ifndef SIM_CLI_DPACC_OPTIONS_H
#define SIM_CLI_DPACC_OPTIONS_H

#include <stdbool.h>

#include "words.h"

struct dpacc_options {
	const char *tool; /* the path by which dpacc was called */
	struct words sources;
	const char *output;
	const char *app_name;
	const char *attributes_path;
	const char *keep_dir;
	const char *depend_target;
	struct words hostcc;         /* the compiler, of host and device code */
	struct words host_options;   /* of host stubs */
	struct words device_options; /* of device code: includes, definitions, optimisation */
	struct words device_libs;
	bool is_verbose, is_dry, has_depends, has_optimisation, has_debug;
	bool has_dpa_library; /* -ldpa, of releases up to 2.8: build scripts name neither the library nor the headers besides */
};

/* Exits for --help and --version, and after a message with status 2 for what is wrong. */
void dpacc_options_parse(int argc, char **argv, struct dpacc_options *options);

#endif
