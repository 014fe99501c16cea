/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/conn/callbacks.h - the callbacks of a program that uses doca_cc.
 *
 * Their argument types differ from Comch's. Comch calls an adapter of doca_cc, and keeps the program's callback with
 * the server or client for that adapter.
 */
#ifndef SHIM_COMCH_CALLBACKS_H
#define SHIM_COMCH_CALLBACKS_H

struct comch_callbacks {
	void (*received)(void), (*connected)(void), (*disconnected)(void);
};

#endif
