/* SPDX-License-Identifier: BSD-3-Clause */
/* Bodies of the frames about direct links. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "frame.h"

int gateway_host_read(const uint8_t *from, size_t len, char ret_host[GATEWAY_HOST_SIZE])
{
	char host[GATEWAY_HOST_SIZE] = "";
	struct in6_addr number;

	if (len >= sizeof(host) || (len > 0 && memchr(from, '\0', len)))
		return -EPROTO;
	if (len > 0)
		memcpy(host, from, len);
	if (len > 0 && inet_pton(AF_INET, host, &number) != 1 && inet_pton(AF_INET6, host, &number) != 1)
		return -EPROTO;
	memcpy(ret_host, host, sizeof(host));
	return 0;
}

bool gateway_kind_is_about_direct(enum gateway_kind kind)
{
	return kind >= GATEWAY_READY && kind <= GATEWAY_BREAK;
}

size_t gateway_offer_write(const struct gateway_offer *offer, uint8_t to[GATEWAY_OFFER_MAX_BYTES])
{
	size_t len = strlen(offer->host);

	memcpy(to, offer->nonce, GATEWAY_NONCE_BYTES);
	memcpy(to + GATEWAY_NONCE_BYTES, offer->host, len);
	return GATEWAY_NONCE_BYTES + len;
}

int gateway_offer_read(const struct gateway_frame *frame, struct gateway_offer *ret_offer)
{
	struct gateway_offer offer;
	int rc = gateway_host_read(frame->body + GATEWAY_NONCE_BYTES, frame->len_bytes - GATEWAY_NONCE_BYTES,
				   offer.host);

	if (rc < 0)
		return rc;
	if (frame->id == 0 || frame->b > UINT16_MAX || (frame->b > 0) != (offer.host[0] != '\0'))
		return -EPROTO;
	memcpy(offer.nonce, frame->body, GATEWAY_NONCE_BYTES);
	*ret_offer = offer;
	return 0;
}

void gateway_words_read(const struct gateway_frame *frame, char ret_words[GATEWAY_WORDS_SIZE])
{
	size_t len = 0;

	for (; len < frame->len_bytes && len < GATEWAY_WORDS_SIZE - 1; len++)
		ret_words[len] = frame->body[len] >= ' ' && frame->body[len] < 0x7f ? (char)frame->body[len] : '?';
	ret_words[len] = '\0';
}
