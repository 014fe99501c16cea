/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/releases.h - the symbols of DOCA's libraries by release, and of bfsim's libraries.
 *
 * A provider is one set of libraries that a program could be linked or started with. The build generates the table
 * (gen_releases.py) from:
 *
 *   shim/abi/releases.txt         the releases of DOCA
 *   shim/abi/facts*.json          the exports of bfsim's libraries, which a test compares with the libraries
 *   shim/abi/facts-dpa-dev.json   the functions of device code, and the headers in shim/dpa_dev/include
 *   not_simulated.txt             the functions that only report that they are not simulated, which the build lists
 *                                 from the sources (shim/abi/gen_not_simulated.py)
 */
#ifndef SIM_CLI_ABI_RELEASES_H
#define SIM_CLI_ABI_RELEASES_H

#include <stdbool.h>
#include <stddef.h>

enum cli_provider {
	CLI_RELEASE_1_5, /* known: the symbols that 2.2 lacks */
	CLI_RELEASE_2_2,
	CLI_RELEASE_2_5,
	CLI_RELEASE_2_6,
	CLI_RELEASE_2_7, /* known: Comch, and what 2.6 and 2.10 have in common */
	CLI_RELEASE_2_10,
	CLI_RELEASE_3_0,
	CLI_RELEASE_3_1,    /* assumed: what 3.0 has; known: functions beyond it that public programs call */
	CLI_RELEASE_3_3,    /* the same, and what 3.1 has */
	CLI_BFSIM_WORKQ,    /* the work-queue generation, 1.5 to 2.2 */
	CLI_BFSIM_TASK,     /* the task generation, from 2.5 on */
	CLI_BFSIM_TASK_2_5, /* 2.5 and 2.6, where they are another interface */
	CLI_NUM_PROVIDERS,
};

#define CLI_FIRST_RELEASE CLI_RELEASE_1_5
#define CLI_LAST_RELEASE  CLI_RELEASE_3_3
#define CLI_NUM_RELEASES  (CLI_LAST_RELEASE - CLI_FIRST_RELEASE + 1)

struct cli_symbol {
	const char *name;
	const char *library;               /* libdoca_dma */
	char nodes[CLI_NUM_PROVIDERS + 1]; /* by provider: D(OCA_2), E(XPERIMENTAL), B (no version), S (device code's,
					    * in a static library), - (absent), ? */
	unsigned changed;                  /* bit per provider: parameters differ from the newest release */
	unsigned not_simulated;            /* bit per provider */
};

/* Sorted by name. */
extern const struct cli_symbol cli_symbols[];
extern const size_t cli_num_symbols;

/* "1.5", ..., "bfsim". */
const char *cli_provider_name(enum cli_provider provider);

/* Whether the release's table assumes functions that it may have dropped. */
bool cli_release_is_assumed(enum cli_provider provider);

/* The release with that name ("2.5", or "2.5.3": its patches have its symbols), or -1. */
int cli_release_of_name(const char *name);

/* The newest release that is older than the one with that name ("3.5", "3.5.0"), or -1: there is none, or it is no version. */
int cli_release_before(const char *name);

/* Returns whether the name has the prefix of DOCA. */
bool cli_is_doca_symbol(const char *name);
bool cli_is_doca_library(const char *soname);

/* The entry of a symbol; NULL: no provider has it. */
const struct cli_symbol *cli_symbol_find(const char *name);

enum cli_symbol_status {
	CLI_ABSENT,
	CLI_UNKNOWN,       /* the symbols of the release are known in part only */
	CLI_OTHER_VERSION, /* present after relinking only */
	CLI_PRESENT,
};

/* Whether @provider has @name in @version (NULL: any version), for programs. Functions of device code are absent. */
enum cli_symbol_status cli_symbol_status(const char *name, const char *version, enum cli_provider provider);

/* Returns whether @provider has the library with that SONAME, or may have it. */
bool cli_provider_has_library(const char *soname, enum cli_provider provider);

/* Returns whether parameters or result of @name at @provider differ from the newest release. */
bool cli_has_changed(const char *name, enum cli_provider provider);

/* Returns whether @name at @provider (of bfsim) only reports that it is not simulated. */
bool cli_is_not_simulated(const char *name, enum cli_provider provider);

#endif
