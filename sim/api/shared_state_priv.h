/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/api/shared_state_priv.h - reading the board of the session that this process is in. */
#ifndef SIM_API_BOARD_PRIV_H
#define SIM_API_BOARD_PRIV_H

#include "sim/state/shared_state.h"

/* Have @look look at it. Returns 0, or -errno with the reason in sim_why(). */
typedef void api_board_look(void *arg, const struct sim_board *board);
int api_look_at_board(api_board_look *look, void *arg);

/* Open the directory of a session. A descriptor, or -errno with the reason in sim_why(). */
int api_open_dir(const char *dir);

#endif
