/* SPDX-License-Identifier: BSD-3-Clause */
/* message.h - the messages of the two sides, and their encoding on the wire.
 *
 *   host                                                        DPU
 *    |--- HELLO: have I got the file, its size and mode --------->|
 *    |<-- HELLO --------------------------------------------------|   exactly one has it: it sends
 *    |--- WINDOW: export descriptor, address, shape ------------->|
 *
 *   sender                                                   receiver
 *    |--- FULL: piece i is in its slot -------------------------->|   several at once, as
 *    |<-- EMPTY: piece i is in the file, its slot is free --------|   many as there are slots
 *    |--- END: the digest of what I sent ------------------------>|
 *    |<-- DONE: it is what I got, and the file is in its place ---|
 *    |--- BYE --------------------------------------------------->|
 *
 * Either may send ABORT at any time, with a text for the other's user.
 *
 * On the wire a message is a header and a body, all numbers big-endian and
 * without gaps:
 *
 *   offset  bytes
 *        0      4  "DMAC"
 *        4      2  version of this protocol
 *        6      2  type
 *        8      4  length of all of it, the header too
 *       12         body
 *
 *   HELLO   1 has a file (0 or 1), 4 mode, 8 bytes in the file
 *   WINDOW  8 address, 4 bytes in a slot, 4 slots, 4 descriptor's length, the descriptor
 *   FULL    8 index, 4 bytes in the piece
 *   EMPTY   8 index, 4 bytes in the piece
 *   END     32 SHA-256
 *   DONE    32 SHA-256
 *   BYE     nothing
 *   ABORT   text, without a final zero byte
 *
 * Pure functions: nothing is sent or logged here.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "digest.h"

#define MESSAGE_VERSION              1
#define MESSAGE_MAX_BYTES            4080 /* what a card's Comch takes */
#define MESSAGE_HEADER_BYTES         12
#define MESSAGE_MAX_DESCRIPTOR_BYTES (MESSAGE_MAX_BYTES - MESSAGE_HEADER_BYTES - 20)
#define MESSAGE_MAX_TEXT             240

enum message_type {
	MESSAGE_HELLO = 1,
	MESSAGE_WINDOW,
	MESSAGE_FULL,
	MESSAGE_EMPTY,
	MESSAGE_END,
	MESSAGE_DONE,
	MESSAGE_BYE,
	MESSAGE_ABORT,
};

struct message_hello {
	bool has_file;
	uint32_t mode; /* permission bits; 0 without a file, and so the size */
	uint64_t size_bytes;
};

struct message_window {
	uint64_t addr; /* in the exporter's terms */
	uint32_t slot_bytes, num_slots;
	uint32_t descriptor_bytes;
	uint8_t descriptor[MESSAGE_MAX_DESCRIPTOR_BYTES];
};

struct message_piece {
	uint64_t index; /* in the file, from 0 */
	uint32_t len_bytes;
};

struct message {
	enum message_type type;
	union {
		struct message_hello hello;
		struct message_window window;
		struct message_piece piece;      /* FULL and EMPTY */
		uint8_t digest[DIGEST_BYTES];    /* END and DONE */
		char text[MESSAGE_MAX_TEXT + 1]; /* ABORT */
	};
};

/* Write @message, which is well-formed, as it goes over the wire. Returns its length. */
size_t message_pack(const struct message *message, uint8_t ret_bytes[MESSAGE_MAX_BYTES]);

/* Decode a message of an untrusted peer: returns NULL, or the error in it; then *ret_message has no meaning. In a
 * text, characters that are not printable ASCII become question marks. */
const char *message_unpack(const uint8_t *bytes, size_t len, struct message *ret_message);

/* "HELLO" and so on, for messages to users. */
const char *message_name(enum message_type type);

#endif
