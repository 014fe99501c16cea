/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/unlisted.h - libraries of the vendor whose functions bfsim neither lists nor simulates. */
#ifndef SIM_CLI_ABI_UNLISTED_H
#define SIM_CLI_ABI_UNLISTED_H

struct cli_unlisted {
	const char *word; /* functions of the library are named doca_WORD_...; NULL after the last one */
	const char *library;
};

/* Made from shim/abi/modules.txt, the longest words first (gen_unlisted.py). */
extern const struct cli_unlisted cli_unlisted[];

/* The library that a name belongs to: its own name ("flow", "libdoca_flow.so.2"), or that of a function or pattern
 * ("doca_flow_init", "doca_flow_*"). Returns "libdoca_flow"; NULL: no such library is known. */
const char *cli_unlisted_library(const char *name);

#endif
