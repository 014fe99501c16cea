/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rdm_message.h - what the rail puts before a message that a provider carries without a connection (FI_EP_RDM).
 *
 * Such a provider tells neither its sender nor its order for certain, and may block or drop what finds no buffer. So each message has
 *
 *   head (48 bytes, least significant byte first)                            then
 *   nonce (16)  sequence  granted  after  flags  0                           the message; none if its sequence is 0
 *
 * The nonce is the receiver's: it has told the sender in its offer, which goes by TLS, so a message with it is of this peer. The receiver
 * grants sequence numbers, one for each buffer that it has; a sender has at most RDM_WINDOW messages under way. A message that is ahead
 * of others waits for them in its buffer. Heads and offers come from another machine: the readers check them.
 */
#ifndef SIM_GATEWAY_RDM_MESSAGE_H
#define SIM_GATEWAY_RDM_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RDM_NONCE_BYTES 16
#define RDM_HEAD_BYTES  48
#define RDM_WINDOW      16

struct rdm_head {
	uint64_t sequence; /* from 1; 0 = the head alone */
	uint64_t granted;  /* the highest sequence that the receiver of this may send */
	uint64_t after;    /* messages by the connection that come before the first one here */
	bool has_heard;    /* the sender has had something of the receiver here */
};

void rdm_head_write(const struct rdm_head *head, const uint8_t nonce[RDM_NONCE_BYTES], uint8_t to[RDM_HEAD_BYTES]);

/* Returns whether it is a message with that nonce. */
bool rdm_head_read(const uint8_t *bytes, size_t len, const uint8_t nonce[RDM_NONCE_BYTES], struct rdm_head *ret_head);

/* ---- sequences ---- */

struct rdm_window {
	uint64_t num_sent;         /* the last sequence that was sent */
	uint64_t granted;          /* by the peer */
	uint64_t num_taken;        /* of the peer's, in order */
	uint64_t told;             /* what was granted to the peer last */
	void *waiting[RDM_WINDOW]; /* by sequence: of the peer, not taken yet */
};

void rdm_window_init(struct rdm_window *window);
bool rdm_window_may_send(const struct rdm_window *window);

/* The peer's word. */
void rdm_window_grant(struct rdm_window *window, uint64_t granted);

/* Keep a message until it is its turn. Returns whether it was kept: it is neither a repeat nor beyond what was granted. */
bool rdm_window_keep(struct rdm_window *window, uint64_t sequence, void *message);

/* The message whose turn it is; NULL = it has not come. */
void *rdm_window_next(const struct rdm_window *window);
void rdm_window_take(struct rdm_window *window);

/* What the peer may send now; and whether it has to be told at once. */
uint64_t rdm_window_grants(const struct rdm_window *window);
bool rdm_window_owes(const struct rdm_window *window);

/* ---- offers ---- */

#define RDM_PROVIDER_SIZE 64
#define RDM_ADDRESS_BYTES 128
#define RDM_OFFER_BYTES   (RDM_NONCE_BYTES + 1 + RDM_PROVIDER_SIZE + RDM_ADDRESS_BYTES)

/* Where one end of a connection takes messages without a connection. */
struct rdm_offer {
	uint8_t nonce[RDM_NONCE_BYTES];
	char provider[RDM_PROVIDER_SIZE];
	uint8_t address[RDM_ADDRESS_BYTES]; /* as the provider has it */
	size_t address_len;
};

/* Returns the number of bytes. */
size_t rdm_offer_write(const struct rdm_offer *offer, uint8_t to[RDM_OFFER_BYTES]);

/* Returns 0 or -EPROTO. */
int rdm_offer_read(const uint8_t *bytes, size_t len, struct rdm_offer *ret_offer);

#endif
