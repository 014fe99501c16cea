/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/process_check.h - how this process is checked, for bfsim ps: the checker's mode, and the live detectors of races. */
#ifndef SIM_PROCESS_CHECK_H
#define SIM_PROCESS_CHECK_H

#define SIM_PROCESS_CHECK_SIZE 48

/* "api", "races: plain", ...; longer text is cut. Before the process attaches to its session. */
void sim_set_process_check(const char *text);

/* "" = not checked. */
const char *sim_process_check(void);

#endif
