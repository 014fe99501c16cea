/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/memory_loan.h - pages that are accessible for a while, so that an access to memory that is gone can go on.
 *
 *   a hole                 pages of zeros
 *   a protected page       the page itself, without its protection
 *   a page without object  (truncated) a page of zeros; the program's is moved aside
 *
 * A loan is made in the handler of the fault and returned behind the access: holes are holes again, protections are back.
 * In between, other threads see the pages, too. What the program changes meanwhile stays: pages of zeros are known by an
 * offset that no file has, and pages without protection can be written and not read, by /proc/self/maps (processors let
 * such pages be read all the same, and programs have none; under an emulator that does not, they can be read).
 */
#ifndef SIM_MEMORY_LOAN_H
#define SIM_MEMORY_LOAN_H

#include <stdbool.h>
#include <stdint.h>

struct sim_loans; /* NULL = none */

/* The fault: an address in the range that the work accesses. */
struct sim_loan_at {
	uintptr_t addr, begin, end;
};

/* From the page of the fault on, to the end of the range if the hole is as large. Returns whether the access may be tried
 * again. */
bool sim_loan_hole(struct sim_loans **loans, const struct sim_loan_at *at);

/* Of the mapping with the fault, up to the end of the range. *ret_is_same is false if the program's page could not be made
 * accessible, and another one is in its place. */
bool sim_loan_protected(struct sim_loans **loans, const struct sim_loan_at *at, bool *ret_is_same);

/* A page that has no object behind it. */
bool sim_loan_truncated(struct sim_loans **loans, const struct sim_loan_at *at);

/* Return all loans, and free them. Not in a signal handler. */
void sim_loans_return(struct sim_loans **loans);

#endif
