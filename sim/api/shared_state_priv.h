/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/api/shared_state_priv.h - access to the shared state of the current session. */
#ifndef SIM_API_SHARED_STATE_PRIV_H
#define SIM_API_SHARED_STATE_PRIV_H

#include "sim/state/shared_state.h"

/* Call @reader with the shared state. Returns 0, or -errno with the reason in sim_last_error(). */
typedef void api_state_reader(void *arg, const struct sim_shared_state *state);
int api_read_shared_state(api_state_reader *reader, void *arg);

/* The same of a session to which this process is not attached. */
int api_read_session_state(const char *dir, api_state_reader *reader, void *arg);

/* Open the directory of a session. Returns a descriptor, or -errno with the reason in sim_last_error(). */
int api_open_session_dir(const char *dir);

#endif
