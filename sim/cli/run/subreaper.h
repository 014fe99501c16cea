/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/subreaper.h - the processes below this one: children, and orphans that fell to it.
 *
 * A process that adopts orphans becomes the parent of every process below it
 * whose own parent ends, however far below and in whatever session. So whoever
 * kills its children until it has none has killed all.
 */
#ifndef SIM_CLI_RUN_SUBREAPER_H
#define SIM_CLI_RUN_SUBREAPER_H

#include <sys/types.h>

/* From now on orphans below this process fall to it. */
void cli_become_subreaper(void);

/* Send @signal (0: none, only count) to each child but @except (0: to all).
 * Returns how many there are; one that has ended counts until it is waited for. */
unsigned int cli_signal_children(int signal, pid_t except);

/* Kill every process below this one but @except and what is below that, and wait for them. */
void cli_kill_descendants(pid_t except);

#endif
