/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/reach.h - a command of one machine that acts on another one of the session.
 *
 *   bfsim <--packets--> gateway of this machine <==GATEWAY_PACKET==> gateway of the other <--packets--> bfsim, a helper there
 *
 * sim_reach_open() asks this machine's daemon to give one end of a socket to its gateway. The other machine's gateway starts a helper,
 * which says READY, gets one BEGIN with its words, and then is like a program whose input, output, signals and exit status travel as
 * packets. Both gateways pass packets on as they are. A helper whose connection ends kills what it has started, and ends.
 *
 * At most SIM_REACH_INPUT_WINDOW bytes of input are under way to a program: the helper says ROOM when the program has read some. So the
 * helper always reads its packets, and a signal never waits behind input.
 *
 * Packets come from another machine: sim_reach_recv() checks kind and length, and callers what the bytes mean.
 */
#ifndef SIM_CONTROL_REACH_H
#define SIM_CONTROL_REACH_H

#include <stddef.h>
#include <stdint.h>

enum sim_reach_service {
	SIM_REACH_CONTROL = 1, /* what any process of the session may do */
	SIM_REACH_EXEC,        /* programs; the other machine must permit them */
	SIM_REACH_NUM_SERVICES,
};

enum sim_reach_kind {
	SIM_REACH_READY = 1,    /* the helper runs */
	SIM_REACH_BEGIN,        /* its words, each with its zero byte */
	SIM_REACH_INPUT,        /* bytes */
	SIM_REACH_INPUT_END,    /* there is no more */
	SIM_REACH_SIGNAL,       /* a number */
	SIM_REACH_OUTPUT,       /* bytes */
	SIM_REACH_ERROR_OUTPUT, /* bytes */
	SIM_REACH_EXIT,         /* a number: the status */
	SIM_REACH_LOST,         /* a number, of this machine's gateway: -errno, why there is no connection */
	SIM_REACH_ROOM,         /* a number: bytes of input that the program has read, or never will */
	SIM_REACH_NUM_KINDS,
};

/* bfsim SIM_REACH_COMMAND control|exec DIRECTORY MACHINE: a helper, whose socket is descriptor 3. */
#define SIM_REACH_COMMAND "reached"

#define SIM_REACH_MAX_BYTES    32768 /* of a packet without its kind */
#define SIM_REACH_INPUT_WINDOW (4 * SIM_REACH_MAX_BYTES)
#define SIM_REACH_TIMEOUT_MS   10000 /* for the first packet, and for each answer */

struct sim_reach_packet {
	enum sim_reach_kind kind;
	int32_t number; /* of kinds that have one */
	size_t len;
	uint8_t bytes[SIM_REACH_MAX_BYTES + 1]; /* with a zero byte behind them */
};

/* Ask for a helper on @machine. Returns 0 and a socket that the caller closes, or -errno: -ENODEV (the session has one machine),
 * -EHOSTUNREACH (its gateway does not run), -EPERM (EXEC by another user than the session's), or as sim_control_exchange(). */
int sim_reach_open(int dir_fd, const char *machine, enum sim_reach_service service, int *ret_sock);

/* Send a packet. Returns 0 or -errno; -EPIPE: the connection has ended. */
int sim_reach_send(int sock, enum sim_reach_kind kind, const void *bytes, size_t len);
int sim_reach_send_number(int sock, enum sim_reach_kind kind, int32_t number);

/* Wait for a packet, at most @timeout_ms (-1 = without a limit). Returns 0, -ETIMEDOUT, -EPIPE or -EPROTO. */
int sim_reach_recv(int sock, struct sim_reach_packet *ret_packet, int timeout_ms);

/* Check a packet as it came, and read its number. Returns 0 or -EPROTO. */
int sim_reach_check(const uint8_t *raw, size_t len, struct sim_reach_packet *ret_packet);

/* The words of BEGIN: *ret_words points into the packet, with NULL behind them, and is the caller's. Returns their number, or -errno. */
int sim_reach_words(struct sim_reach_packet *packet, char ***ret_words);

#endif
