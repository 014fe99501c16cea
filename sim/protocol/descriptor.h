/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/protocol/descriptor.h - an export as bytes that an application carries to the other side.
 *
 * The bytes name the session and the key, and hold the key's secret. A length, a version and a checksum guard them.
 * They do not say where the memory is: the card gives the location to an importer with a valid key.
 */
#ifndef SIM_DESCRIPTOR_H
#define SIM_DESCRIPTOR_H

#include <stddef.h>
#include <stdint.h>

#include "sim/card/card.h"

#define SIM_SESSION_ID_SIZE  16
#define SIM_DESCRIPTOR_BYTES 64

/* Write the descriptor of @key in session @session. */
void sim_descriptor_encode(const uint8_t session[SIM_SESSION_ID_SIZE], const struct sim_key *key,
			   uint8_t bytes[SIM_DESCRIPTOR_BYTES]);

/* Read a descriptor. Returns 0, -EINVAL (not an unaltered descriptor of this version) or -ESTALE (of another session).
 * *ret_key is written on success only. */
int sim_descriptor_decode(const uint8_t session[SIM_SESSION_ID_SIZE], const void *bytes, size_t len,
			  struct sim_key *ret_key);

#endif
