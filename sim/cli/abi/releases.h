/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/releases.h - which library has which symbol: the vendor's by release, and bfsim's.
 *
 * A provider is one set of libraries that a program could be linked or started
 * with. The table (gen_releases.py writes it while bfsim is built) comes from
 * data alone:
 *
 *   shim/abi/releases.txt         the vendor's releases
 *   tests/abi/facts*.json         what bfsim's libraries export; a test holds them to it
 *   shim/abi/not_simulated.txt    what only says that it is not simulated; a test
 *                                 holds that to the sources
 */
#ifndef SIM_CLI_ABI_RELEASES_H
#define SIM_CLI_ABI_RELEASES_H

#include <stdbool.h>
#include <stddef.h>

enum cli_provider {
	CLI_RELEASE_1_5, /* only what 2.2 lacks is known of it: nothing is checked against it */
	CLI_RELEASE_2_2,
	CLI_RELEASE_2_5,
	CLI_RELEASE_2_10,
	CLI_RELEASE_3_0,
	CLI_BFSIM_WORKQ, /* the work-queue generation, 1.5 to 2.2 */
	CLI_BFSIM_TASK,  /* the current one, from 2.5 on */
	CLI_NUM_PROVIDERS,
};

#define CLI_FIRST_RELEASE CLI_RELEASE_2_2
#define CLI_LAST_RELEASE  CLI_RELEASE_3_0

struct cli_symbol {
	const char *name;
	const char *library;               /* libdoca_dma */
	char nodes[CLI_NUM_PROVIDERS + 1]; /* by provider: D(OCA_2), E(XPERIMENTAL), B (no version), - (not there) */
	unsigned changed;       /* by provider, a bit: others are its parameters than of the newest release */
	unsigned not_simulated; /* by provider, a bit */
};

/* In the order of their names. */
extern const struct cli_symbol cli_symbols[];
extern const size_t cli_num_symbols;

/* "2.2", ..., "bfsim". */
const char *cli_provider_name(enum cli_provider provider);

/* The release of that name, or -1. */
int cli_release_of_name(const char *name);

/* Whether the name is of the kind that this table is about. */
bool cli_is_doca_symbol(const char *name);
bool cli_is_doca_library(const char *soname);

/* NULL: no provider has it. */
const struct cli_symbol *cli_symbol_find(const char *name);

enum cli_symbol_status {
	CLI_ABSENT,
	CLI_OTHER_VERSION, /* linking anew finds it, a program that was linked before does not */
	CLI_PRESENT,
};

/* Whether @provider has @name, in @version (NULL: whichever). */
enum cli_symbol_status cli_symbol_status(const char *name, const char *version, enum cli_provider provider);

/* Whether @provider has the library of SONAME @soname. */
bool cli_provider_has_library(const char *soname, enum cli_provider provider);

/* Whether @name has other parameters, or another result, at @provider than in the newest release. */
bool cli_has_changed(const char *name, enum cli_provider provider);

/* Whether all that it does at @provider, one of bfsim's, is to say that it is not simulated. */
bool cli_is_not_simulated(const char *name, enum cli_provider provider);

#endif
