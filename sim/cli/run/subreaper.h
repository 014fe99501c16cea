/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/subreaper.h - the processes below this one: children and adopted orphans.
 *
 * A subreaper becomes the parent of each process below it whose own parent ends, at any depth and in any session.
 * So killing all children until none is left kills all processes below.
 */
#ifndef SIM_CLI_RUN_SUBREAPER_H
#define SIM_CLI_RUN_SUBREAPER_H

#include <sys/types.h>

/* Adopt orphans below this process from now on. */
void cli_become_subreaper(void);

/* Send @signal (0: only count) to each child except those of the list @except and those in one of the process groups @signalled,
 * which have got it; a list ends with 0, or is NULL. Returns the number of children, including
 * those that have ended and were not waited for. */
unsigned int cli_signal_children(int signal, const pid_t *except, const pid_t *signalled);

/* Kill and reap all processes below this one, except those of the list @except and the processes below these. */
void cli_kill_descendants(const pid_t *except);

#endif
