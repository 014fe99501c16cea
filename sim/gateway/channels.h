/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/channels.h - channels between programs of two machines, by which they connect by addresses.
 *
 *   client's program --daemon--> [channel, a server's end] ==CONNECT==> [channel, a client's end] --daemon--> server's program
 *                     <--------                            <==MESSAGE==                           <--------
 *
 * To the daemon of the client's machine the gateway is the server, to that of the server's machine the client. The messages between
 * the programs pass through; they carry no descriptors.
 */
#ifndef SIM_GATEWAY_CHANNELS_H
#define SIM_GATEWAY_CHANNELS_H

#include "gateway.h"
#include "sim/protocol/wire.h"

/* A message of the daemon about a channel. Returns whether it was one. */
bool channels_take_msg(struct gateway *gateway, const struct sim_msg *msg);

/* A reply of the daemon: a request that it refuses ends its channel. */
void channels_take_reply(struct gateway *gateway, const struct sim_msg *msg);

/* A frame of another machine. */
void channels_on_frame(struct gateway *gateway, const struct gateway_frame *frame);

void channels_machine_lost(struct gateway *gateway, uint32_t machine);

#endif
