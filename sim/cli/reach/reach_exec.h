/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/reach/reach_exec.h - a program on another machine, with the streams, the signals and the status of this process. */
#ifndef SIM_CLI_REACH_REACH_EXEC_H
#define SIM_CLI_REACH_REACH_EXEC_H

/* Run bfsim exec with these words, up to NULL, on @machine of the session in @dir. Returns the program's exit status, 128 + the signal
 * that ended it, or CLI_OWN_FAILURE with a message. */
int cli_reach_exec(const char *dir, const char *machine, const char *const *words);

#endif
