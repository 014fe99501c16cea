/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/check_binary.h - a program checked against libraries of DOCA and bfsim.
 *
 * Two results for each provider (releases.h):
 *
 *   starts   unchanged: the provider has each symbol in the version that the program was linked with, and each
 *            library that the program names
 *   links    when relinked: the provider has each symbol in some version
 *
 * Each is true, false, or, for releases that are known in part, true as far as is known.
 *
 * Only symbols and libraries of DOCA are checked.
 */
#ifndef SIM_CLI_ABI_CHECK_BINARY_H
#define SIM_CLI_ABI_CHECK_BINARY_H

#include "elf_imports.h"
#include "sim/cli/base/install.h"
#include "releases.h"

struct cli_check_counts {
	size_t absent, other_version;
	size_t unknown, known; /* the release is known in part */
	size_t changed;        /* present with other parameters (cli_check_changed()) */
	size_t not_simulated;
	size_t libraries_absent;
};

struct cli_check {
	const char *path;
	struct cli_imports imports;       /* of DOCA only */
	enum cli_generation generation;   /* of the program ... */
	enum cli_provider bfsim_provider; /* ... and bfsim's libraries of that generation */
	struct cli_check_counts counts[CLI_NUM_PROVIDERS];
};

/* Check the program at @path (borrowed). Returns as cli_imports_read(). On success the caller releases *ret with
 * cli_check_free(). */
int cli_check_read(const char *path, struct cli_check *ret);
void cli_check_free(struct cli_check *check);

enum cli_check_result {
	CLI_CHECK_FALSE,
	CLI_CHECK_PERHAPS, /* nothing is missing, but only some of the symbols are known to be there */
	CLI_CHECK_TRUE,
};

enum cli_check_result cli_check_starts(const struct cli_check *check, enum cli_provider provider);
enum cli_check_result cli_check_links(const struct cli_check *check, enum cli_provider provider);

/* Returns whether the function has other parameters or another result at @provider than in bfsim's headers of the
 * program's generation. */
bool cli_check_changed(const struct cli_check *check, const struct cli_import *import, enum cli_provider provider);

/* Returns whether bfsim's function has other parameters than the program was built with: they differ from each
 * release that the program starts on. */
bool cli_check_has_abi_mismatch(const struct cli_check *check, const struct cli_import *import);
size_t cli_check_num_abi_mismatches(const struct cli_check *check);

/* The library of the symbol, without ".so"; "" if no provider has it. */
const char *cli_check_library(const struct cli_import *import);

/* The processor of the program if it differs from this machine's; else NULL. */
const char *cli_check_other_machine(const struct cli_check *check);

/* Print the check of one program. @against is a release or -1. The table lists the symbols that bfsim (or that
 * release) lacks or does not simulate; with @all, all symbols. Returns 0, or -1 without memory. */
int cli_check_print(const struct cli_check *check, int against, bool all);

struct json_object;

/* The check as JSON. The caller releases it. */
struct json_object *cli_check_json(const struct cli_check *check);

#endif
