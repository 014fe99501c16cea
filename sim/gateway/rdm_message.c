/* SPDX-License-Identifier: BSD-3-Clause */
/* Heads, sequences and offers of messages without a connection. */
#include "rdm_message.h"

#include <errno.h>
#include <string.h>

#include "frame.h"
#include "pcie_model/arith.h"

#define FLAG_HAS_HEARD 1

enum place {
	AT_SEQUENCE = RDM_NONCE_BYTES,
	AT_GRANTED = AT_SEQUENCE + 8,
	AT_AFTER = AT_GRANTED + 8,
	AT_FLAGS = AT_AFTER + 8,
};

void rdm_head_write(const struct rdm_head *head, const uint8_t nonce[RDM_NONCE_BYTES], uint8_t to[RDM_HEAD_BYTES])
{
	memset(to, 0, RDM_HEAD_BYTES);
	memcpy(to, nonce, RDM_NONCE_BYTES);
	gateway_put(to + AT_SEQUENCE, head->sequence, 8);
	gateway_put(to + AT_GRANTED, head->granted, 8);
	gateway_put(to + AT_AFTER, head->after, 8);
	to[AT_FLAGS] = head->has_heard ? FLAG_HAS_HEARD : 0;
}

/* In a time that does not tell how much of it is right. */
static bool is_nonce(const uint8_t *bytes, const uint8_t nonce[RDM_NONCE_BYTES])
{
	uint8_t different = 0;

	for (size_t i = 0; i < RDM_NONCE_BYTES; i++)
		different |= bytes[i] ^ nonce[i];
	return different == 0;
}

bool rdm_head_read(const uint8_t *bytes, size_t len, const uint8_t nonce[RDM_NONCE_BYTES], struct rdm_head *ret_head)
{
	if (len < RDM_HEAD_BYTES || !is_nonce(bytes, nonce))
		return false;
	*ret_head = (struct rdm_head){ .sequence = gateway_get(bytes + AT_SEQUENCE, 8),
				       .granted = gateway_get(bytes + AT_GRANTED, 8),
				       .after = gateway_get(bytes + AT_AFTER, 8),
				       .has_heard = bytes[AT_FLAGS] & FLAG_HAS_HEARD };
	return true;
}

/* ---- sequences ---- */

void rdm_window_init(struct rdm_window *window)
{
	*window = (struct rdm_window){ .granted = RDM_WINDOW, .told = RDM_WINDOW };
}

bool rdm_window_may_send(const struct rdm_window *window)
{
	return window->num_sent < window->granted;
}

void rdm_window_grant(struct rdm_window *window, uint64_t granted)
{
	window->granted = max_u64(window->granted, granted);
}

bool rdm_window_keep(struct rdm_window *window, uint64_t sequence, void *message)
{
	void **place = &window->waiting[sequence % RDM_WINDOW];

	if (sequence <= window->num_taken || sequence > window->num_taken + RDM_WINDOW || *place)
		return false;
	*place = message;
	return true;
}

void *rdm_window_next(const struct rdm_window *window)
{
	return window->waiting[(window->num_taken + 1) % RDM_WINDOW];
}

void rdm_window_take(struct rdm_window *window)
{
	window->num_taken++;
	window->waiting[window->num_taken % RDM_WINDOW] = NULL;
}

uint64_t rdm_window_grants(const struct rdm_window *window)
{
	return window->num_taken + RDM_WINDOW;
}

bool rdm_window_owes(const struct rdm_window *window)
{
	return rdm_window_grants(window) - window->told >= RDM_WINDOW / 2;
}

/* ---- offers ---- */

size_t rdm_offer_write(const struct rdm_offer *offer, uint8_t to[RDM_OFFER_BYTES])
{
	const size_t name_len = strlen(offer->provider);

	memcpy(to, offer->nonce, RDM_NONCE_BYTES);
	to += RDM_NONCE_BYTES;
	*to++ = (uint8_t)name_len;
	memcpy(to, offer->provider, name_len);
	memcpy(to + name_len, offer->address, offer->address_len);
	return RDM_NONCE_BYTES + 1 + name_len + offer->address_len;
}

int rdm_offer_read(const uint8_t *bytes, size_t len, struct rdm_offer *ret_offer)
{
	struct rdm_offer offer = { 0 };
	size_t name_len;

	if (len < RDM_NONCE_BYTES + 1)
		return -EPROTO;
	name_len = bytes[RDM_NONCE_BYTES];
	if (name_len == 0 || name_len >= RDM_PROVIDER_SIZE || len < RDM_NONCE_BYTES + 1 + name_len)
		return -EPROTO;
	offer.address_len = len - RDM_NONCE_BYTES - 1 - name_len;
	if (offer.address_len == 0 || offer.address_len > RDM_ADDRESS_BYTES)
		return -EPROTO;
	memcpy(offer.nonce, bytes, RDM_NONCE_BYTES);
	memcpy(offer.provider, bytes + RDM_NONCE_BYTES + 1, name_len);
	memcpy(offer.address, bytes + RDM_NONCE_BYTES + 1 + name_len, offer.address_len);
	if (strlen(offer.provider) != name_len)
		return -EPROTO;
	*ret_offer = offer;
	return 0;
}
