/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/last_error.h - why the last thing that failed did so: one line of text for each thread.
 *
 *   return sim_set_error(-ENOENT, "there is no rule %u; ...", id);
 *
 * For rooms whose callers tell users: the command on standard error, bfsim.h
 * through bfsim_error(). The line says what was wrong, where, and what to do.
 */
#ifndef SIM_LAST_ERROR_H
#define SIM_LAST_ERROR_H

/* Keep the line, cut off after some thousand bytes, and return @rc. */
int sim_set_error(int rc, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The line that this thread kept last; "" = none. */
const char *sim_last_error(void);

#endif
