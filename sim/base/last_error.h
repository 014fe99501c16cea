/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/last_error.h - the reason of the last failure: one line of text for each thread.
 *
 *   return sim_set_error(-ENOENT, "there is no rule %u; ...", id);
 *
 * For functions whose callers report to users: the command on standard error, and
 * bfsim.h through bfsim_error(). The line says what was wrong, where, and what to do.
 */
#ifndef SIM_LAST_ERROR_H
#define SIM_LAST_ERROR_H

/* Set the message, of up to 2047 bytes, and return @rc. */
int sim_set_error(int rc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last message of this thread; "" = none. */
const char *sim_last_error(void);

#endif
