/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/coverage.h - each function of the vendor's libraries, and what bfsim does with it.
 *
 *   releases.h (facts and sources)        gen_coverage.py (tests, doc/compatibility.md)
 *                            \            /
 *                             state of a function --> text, JSON, page (sim/cli/view/coverage_page.h)
 */
#ifndef SIM_CLI_ABI_COVERAGE_H
#define SIM_CLI_ABI_COVERAGE_H

#include "releases.h"

struct cli_coverage_note {
	const char *name;
	unsigned int num_tests;
	const char *tests;      /* files below tests/ that name it, with blanks between them */
	const char *difference; /* a sentence, or NULL */
};

/* Sorted by name. */
extern const struct cli_coverage_note cli_coverage_notes[];
extern const size_t cli_num_coverage_notes;

enum cli_coverage_state {
	CLI_COVERAGE_WORKS = 0,
	CLI_COVERAGE_UNTESTED,      /* works as CLI_COVERAGE_WORKS, but no test names it */
	CLI_COVERAGE_PARTLY,        /* works, with a difference */
	CLI_COVERAGE_NOT_SUPPORTED, /* checks its arguments and refuses; in device code, ends the kernel */
	CLI_COVERAGE_MISSING,
	CLI_NUM_COVERAGE_STATES,
};

const char *cli_coverage_state_name(enum cli_coverage_state state);

enum cli_coverage_state cli_coverage_state(const struct cli_symbol *symbol);

/* Its note, or an empty one. */
const struct cli_coverage_note *cli_coverage_note(const struct cli_symbol *symbol);

/* The releases that have it: "2.5 2.6 3.0", or "not known". */
#define CLI_COVERAGE_RELEASES_SIZE 64
void cli_coverage_releases(const struct cli_symbol *symbol, char text[CLI_COVERAGE_RELEASES_SIZE]);

/* The libraries in alphabetical order. Returns their number. */
#define CLI_COVERAGE_MAX_LIBRARIES 32
size_t cli_coverage_libraries(const char *names[CLI_COVERAGE_MAX_LIBRARIES]);

/* The functions of a library (NULL: of all libraries) by state. Returns their sum. */
size_t cli_coverage_count(const char *library, size_t counts[CLI_NUM_COVERAGE_STATES]);

#endif
