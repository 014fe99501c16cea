/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/compat.h - what an endpoint has for an API of another release that is implemented on Comch.
 *
 * Comm Channel: its user asks for each message, so progress leaves messages, ends of connections and new clients where they
 * are (endpoint/comm_channel_hooks.h).
 *
 * doca_cc: the types of its callbacks' arguments differ from Comch's. Comch calls an adapter, which finds the program's
 * callback here.
 */
#ifndef SHIM_COMCH_COMPAT_H
#define SHIM_COMCH_COMPAT_H

#include <doca_error.h>
#include <stdbool.h>

struct comch_compat {
	/* Comm Channel: */
	bool is_comm_channel;
	bool recv_paused;             /* progress receives nothing ... */
	bool has_pending_recv;        /* ... and has left something to receive */
	doca_error_t injected_status; /* result of a call that a fault fails; SUCCESS = none */
	int status_fd;                /* eventfd that is written when clients come or go; -1 = none */
	/* doca_cc: */
	void (*received)(void), (*connected)(void), (*disconnected)(void);
};

#endif
