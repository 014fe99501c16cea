/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/model_time.h - due times of messages between machines, in timed mode.
 *
 *   requester's session time --own gateway--> home's clock ==RECORDS==> --gateway there--> responder's session time
 *
 * Machines have no common clock (clock_offset.h). A joined machine counts with its difference to home, and home with none, so that two joined
 * machines need not know each other. A message is due at the model's time, with an error of both differences at most, or when it has
 * really come, if that is later.
 */
#ifndef SIM_GATEWAY_MODEL_TIME_H
#define SIM_GATEWAY_MODEL_TIME_H

#include <stddef.h>
#include <stdint.h>

struct gateway;

/* A record of an inbox, as it is sent to another machine, and as it has come from one: write its due time anew. A time for which the
 * difference is not known yet becomes 0, at once. */
void model_time_send(const struct gateway *gateway, uint32_t kind, uint8_t *record, size_t len);
void model_time_receive(struct gateway *gateway, uint32_t kind, uint8_t *record, size_t len);

#endif
