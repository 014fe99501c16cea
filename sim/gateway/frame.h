/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/frame.h - the messages between gateways.
 *
 *   head (40 bytes, least significant byte first)                                    then
 *   kind  0  from  to  0  length  status  id  a  b                                   length bytes
 *
 * A frame names its sender and its receiver by their numbers of machines; home passes frames on between the others. The table says
 * what each kind means. All numbers come from another machine: gateway_frame_parse() checks kind, length and status, the readers of
 * bodies check these, and code that uses an id checks that the sender owns it.
 *
 *   joining a session          HELLO (in the clear)  JOIN --> WELCOME or REFUSED   MACHINES   OFFER   HEARTBEAT   GOODBYE
 *   importing a key            IMPORT --> IMPORTED   RELEASE   <-- REVOKED                 id = the import's handle at its exporter
 *   the memory of an import    READ, WRITE, OPERATE --> DONE, STREAM                       a = handle, b = address
 *   connections by addresses   CONNECT   MESSAGE   CLOSE                                   id = the client's number of the channel
 *   commands that act here     REACH (a = the service) --> PACKET (both ways)   GRANT (b = bytes)   END     id = the command's number; a = 1: of the command
 *   an inbox (mirror.h)        TAKE   RECORDS   <-- ANSWERS                                       id = handle
 *   a direct link (direct.h)   LISTENS   WISH --> OFFER, READY or NO_DIRECT   SWITCH --> SWITCHED   BREAK   id = the offer's number
 */
#ifndef SIM_GATEWAY_FRAME_H
#define SIM_GATEWAY_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/card/card.h"

/* Raise it when a frame or its meaning changes. */
#define GATEWAY_FRAME_VERSION 4

#define GATEWAY_HEAD_BYTES 40

/* From this bit on, a request's id is the number of its stream; 0 = none. Requests of a stream are executed in order, and none behind
 * one that has failed. */
#define GATEWAY_STREAM_SHIFT 32

#define GATEWAY_HAS_LEFT 0x8000u

#define GATEWAY_MAX_DATA  65536 /* of the memory of one request; of records */
#define GATEWAY_MAX_BODY  (GATEWAY_MAX_DATA + 64)
#define GATEWAY_MAX_FRAME (GATEWAY_HEAD_BYTES + GATEWAY_MAX_BODY)

enum gateway_kind {
	GATEWAY_HEARTBEAT =
		1,    /* id: a number that the answer repeats as a, with its CLOCK_MONOTONIC as b; 0 = an answer */
	GATEWAY_JOIN, /* the machine's name; id = 1: to know the session alone; a = 1: the network is trusted */
	GATEWAY_WELCOME, /* id = clock mode; a = home's number, b = its CLOCK_MONOTONIC; the session's id and the topology */
	GATEWAY_REFUSED, /* why; a = 1: it may be otherwise later */
	GATEWAY_MACHINES, /* two bytes for each machine that has joined: its number; with GATEWAY_HAS_LEFT, it has left again */
	GATEWAY_GOODBYE, /* home ends the session, or the sender leaves it */
	GATEWAY_LISTENS, /* to home: a = the port at which others may connect, 0 = none; the address, or nothing: as home sees it */
	GATEWAY_WISH, /* to home: a direct link to the machine a; id = the last offer for it, 0 = none */
	GATEWAY_DIRECT_OFFER, /* of home: a direct link to the machine a; b = the port to connect to, 0 = it connects; struct gateway_offer */
	GATEWAY_IMPORT,   /* id = request; a = the function that imports; the key */
	GATEWAY_IMPORTED, /* id = request, status; a = handle; struct gateway_imported */
	GATEWAY_RELEASE,  /* id = handle */
	GATEWAY_REVOKED,  /* id = handle */
	GATEWAY_READ,     /* id = request; a = handle, b = address; the length in four bytes */
	GATEWAY_WRITE,    /* the same; the data */
	GATEWAY_OPERATE,  /* the same; struct sim_far_operands */
	GATEWAY_DONE,     /* id = request, status; the data of READ, or the value before an operation */
	GATEWAY_RECORDS,  /* id = handle; a = kicks, b = the message that is given up; records of the ring */
	GATEWAY_ANSWERS,  /* id = handle; struct gateway_answers */
	GATEWAY_TAKE,     /* id = handle of an inbox: its requester sends messages; its key, or nothing */
	GATEWAY_CONNECT,  /* id = channel; a = the port's SIM_FAR_SERVICE(); a handshake message */
	GATEWAY_MESSAGE,  /* id = channel; a = 1: of the client; b = 1: the server accepts; a handshake message */
	GATEWAY_CLOSE,    /* id = channel, status; a = 1: of the client */
	GATEWAY_STREAM,   /* id = stream: there is an answer to each of its requests, one of which has failed */
	GATEWAY_REACH,    /* id = the command's connection; a = enum sim_reach_service */
	GATEWAY_PACKET,   /* id, a = 1: of the command; a packet of sim/control/reach.h */
	GATEWAY_GRANT,    /* the same; b = bytes that the sender has passed on */
	GATEWAY_OUTAGE,   /* the link between both machines is down for b ns, or with a = 1 breaks at once (a fault) */
	GATEWAY_END,      /* the same; status: why there is no connection, or none any more */
	GATEWAY_READY,    /* the sender has the offer: connect */
	GATEWAY_NO_DIRECT, /* no direct link to the sender, or (of home) to the machine a; b = 1: it may be tried the other way; why */
	GATEWAY_SWITCH,    /* what follows goes over the direct link, after the answer */
	GATEWAY_SWITCHED,  /* the answer, which goes over the direct link */
	GATEWAY_BREAK,     /* the direct link has broken, and what went before is void; a = 1: the answer */
	GATEWAY_RDM_OFFER, /* where the sender takes messages without a connection (rdm_message.h) */
	GATEWAY_SLOW_LINK, /* a rule of the sender makes the link slow (a fault): id = rule; a = bytes in a second, b = ns; both 0: no more; for so many ns */
	GATEWAY_NUM_KINDS,
};

struct gateway_frame {
	enum gateway_kind kind;
	uint16_t from, to;
	int32_t status; /* 0 or -errno */
	uint64_t id, a, b;
	const uint8_t *body;
	uint32_t len_bytes; /* of the body */
	bool is_stable;     /* the body stays as it is until the receiver has it, or the connection is closed */
};

/* Write a frame to @to, which has GATEWAY_HEAD_BYTES + its length. Returns that number. */
size_t gateway_frame_write(const struct gateway_frame *frame, uint8_t *to);

/* The head alone. */
void gateway_frame_write_head(const struct gateway_frame *frame, uint8_t to[GATEWAY_HEAD_BYTES]);

/* Read the frame at the begin of @len bytes; its body stays there. Returns its length, 0 (it is not complete) or -EPROTO. */
int gateway_frame_parse(const uint8_t *bytes, size_t len, struct gateway_frame *ret_frame);

/* Whether it is one of those about direct links that machines send each other. */
bool gateway_kind_is_about_direct(enum gateway_kind kind);

/* Whether frames of that kind carry secrets, so that they are encrypted on a trusted network, too. */
bool gateway_kind_is_secret(enum gateway_kind kind);

/* ---- bodies ---- */

/* The first message on a connection, before there is a secret. Both sides refuse another version or build. */
#define GATEWAY_HELLO_BYTES 64
void gateway_hello_write(uint8_t to[GATEWAY_HELLO_BYTES]);

/* Returns 0, -EPROTO (not a hello) or -EPROTONOSUPPORT; then @ret_version is the other's version as text. */
int gateway_hello_check(const uint8_t *bytes, size_t len, char ret_version[GATEWAY_HELLO_BYTES]);

#define GATEWAY_KEY_BYTES (8 + SIM_SECRET_SIZE)
void gateway_key_write(const struct sim_key *key, uint8_t to[GATEWAY_KEY_BYTES]);
void gateway_key_read(const uint8_t from[GATEWAY_KEY_BYTES], struct sim_key *ret_key);

/* What the exporter's gateway says of an import. */
struct gateway_imported {
	struct sim_region region; /* without the exporter's own addresses */
	int32_t pid;
	char program[SIM_PROGRAM_SIZE];
	/* Of an inbox. */
	bool needs_no_peer;
	uint32_t access;
	uint64_t stream_id;
};

#define GATEWAY_IMPORTED_BYTES (8 + 8 + 4 + 4 + 4 + SIM_PROGRAM_SIZE + 4 + 4 + 8)
void gateway_imported_write(const struct gateway_imported *imported, uint8_t to[GATEWAY_IMPORTED_BYTES]);
int gateway_imported_read(const struct gateway_frame *frame, struct gateway_imported *ret_imported); /* 0, -EPROTO */

/* What an inbox says to its requester (sim/rdma/inbox.h). */
struct gateway_answers {
	uint64_t num_read; /* records that the owner has taken */
	uint64_t executed, not_ready, looks, claim;
	uint32_t state, failure, has_left;
	uint32_t reserved; /* 0: two of them are compared as bytes */
};

#define GATEWAY_ANSWERS_BYTES (5 * 8 + 3 * 4)
void gateway_answers_write(const struct gateway_answers *answers, uint8_t to[GATEWAY_ANSWERS_BYTES]);
int gateway_answers_read(const struct gateway_frame *frame, struct gateway_answers *ret_answers);

/* A direct link, as home offers it. */
#define GATEWAY_NONCE_BYTES 32
#define GATEWAY_HOST_SIZE   64
struct gateway_offer {
	uint8_t nonce[GATEWAY_NONCE_BYTES]; /* that both machines of the pair have, and no other one */
	char host[GATEWAY_HOST_SIZE];       /* an address in numbers; "" = the other machine connects */
};

#define GATEWAY_OFFER_MAX_BYTES (GATEWAY_NONCE_BYTES + GATEWAY_HOST_SIZE - 1)
size_t gateway_offer_write(const struct gateway_offer *offer, uint8_t to[GATEWAY_OFFER_MAX_BYTES]);
int gateway_offer_read(const struct gateway_frame *frame, struct gateway_offer *ret_offer); /* 0, -EPROTO */

/* The address of LISTENS, "" = none. Returns 0 or -EPROTO: it is no address in numbers. */
int gateway_host_read(const uint8_t *from, size_t len, char ret_host[GATEWAY_HOST_SIZE]);

/* Words of another machine, with '?' for what can't be printed. */
#define GATEWAY_WORDS_SIZE 160
void gateway_words_read(const struct gateway_frame *frame, char ret_words[GATEWAY_WORDS_SIZE]);

#define GATEWAY_OPERANDS_BYTES (4 + 8 + 8)
struct sim_far_operands;
void gateway_operands_write(const struct sim_far_operands *operands, uint8_t to[GATEWAY_OPERANDS_BYTES]);
int gateway_operands_read(const struct gateway_frame *frame, struct sim_far_operands *ret_operands);

/* A record of an inbox's ring: kind and length in four bytes each, then the bytes. */
#define GATEWAY_RECORD_HEAD_BYTES 8
size_t gateway_record_write(uint32_t kind, const void *bytes, size_t len, uint8_t *to);

/* Take the next record from *at of the body on. Returns whether there is one; *ret_is_wrong: the body is not a list of records. */
bool gateway_record_next(const struct gateway_frame *frame, size_t *at, uint32_t *ret_kind, const uint8_t **ret_bytes,
			 size_t *ret_len, bool *ret_is_wrong);

/* Numbers of frames, and of single bodies. */
void gateway_put(uint8_t *to, uint64_t value, size_t len);
uint64_t gateway_get(const uint8_t *from, size_t len);

#endif
