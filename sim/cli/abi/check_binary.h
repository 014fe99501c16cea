/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/check_binary.h - a program held against the libraries it could meet.
 *
 * Two questions are asked of each provider (releases.h):
 *
 *   starts   as it is: every symbol is there in the version that the program was
 *            linked for, and so is every library that it names
 *   links    when it is linked anew: every symbol is there, in whichever version
 *
 * Only symbols and libraries of DOCA's are looked at.
 */
#ifndef SIM_CLI_ABI_CHECK_BINARY_H
#define SIM_CLI_ABI_CHECK_BINARY_H

#include "elf_imports.h"
#include "sim/cli/base/install.h"
#include "releases.h"

struct cli_check_counts {
	size_t absent, other_version;
	size_t changed; /* there, with other parameters (cli_check_changed()) */
	size_t not_simulated;
	size_t libraries_absent;
};

struct cli_check {
	const char *path;
	struct cli_imports imports;       /* DOCA's alone */
	enum cli_generation generation;   /* of bfsim's libraries that it is held against ... */
	enum cli_provider bfsim_provider; /* ... which are these */
	struct cli_check_counts counts[CLI_NUM_PROVIDERS];
};

/* Read the program at @path (borrowed). Returns 0 or as cli_imports_read(); on
 * success *ret is the caller's (cli_check_free()). */
int cli_check_read(const char *path, struct cli_check *ret);
void cli_check_free(struct cli_check *check);

bool cli_check_starts(const struct cli_check *check, enum cli_provider provider);
bool cli_check_links(const struct cli_check *check, enum cli_provider provider);

/* Whether @provider has it with other parameters, or another result, than bfsim's headers of the program's generation. */
bool cli_check_changed(const struct cli_check *check, const struct cli_import *import, enum cli_provider provider);

/* Whether bfsim's function takes other parameters than the program was built with:
 * they are others in each release that it starts on. */
bool cli_check_has_abi_mismatch(const struct cli_check *check, const struct cli_import *import);
size_t cli_check_num_abi_mismatches(const struct cli_check *check);

/* Where the symbol comes from: a library's name without ".so", "" if nobody has it. */
const char *cli_check_library(const struct cli_import *import);

/* The processor that the program is for, if it isn't this one; else NULL. */
const char *cli_check_other_machine(const struct cli_check *check);

/* Print about one program; @against is a release or -1. Tables have the symbols
 * that bfsim (or that release) lacks or does not simulate, with @all every one.
 * Returns 0, or -1 without memory. */
int cli_check_print(const struct cli_check *check, int against, bool all);

struct json_object;

/* All that is known of a program. */
struct json_object *cli_check_json(const struct cli_check *check);

#endif
