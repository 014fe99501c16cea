/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/net.h - RDMA requests over a network: when a request arrives at the responder, and when it is done.
 *
 *   requester            port     link, switch, link     port            responder
 *  [submit] -> [request, fetch] -> [hop] -> [hop] ... -------> [deliver] --> arrived: in memory, or in a receive
 *                                                       |
 *      done <- [complete] <------- latency of the path back, of an acknowledgement
 *
 * A read or an atomic operation sends a small packet there, and its data come back. The issuer spends time on each request,
 * which limits the rate of one thread. Data of more than a few bytes are fetched from memory before they leave.
 *
 * A path is a list of hops, each a station: one direction of a link, with its rate. A message occupies each station for
 * the time of its bytes and of a header for each packet, from the moment at which its first byte arrives there
 * (cut-through). So messages of several senders to one port queue in front of it. Acknowledgements, and requests for
 * reads, occupy no station.
 *
 * A station serves messages in the order of the calls, but a message that arrives in the gap before the last one goes
 * into that gap. So an answer that is computed early, for a later moment, delays nothing before it.
 *
 * Of a link with loss, one packet in so many is lost: a counter in the station's state decides, no chance. A lost packet
 * delays its message by a round trip, after which its sender knows; the last packet of a message by the time-out.
 *
 * The states below are plain 64-bit numbers, as those of engine.h: all zero is idle, any bit pattern is valid, sums saturate.
 * There is one pcie_net_flow for each connection, one pcie_queue_state for each issuer, and one pcie_net_state for the
 * network, which processes share: the caller of pcie_net_run() holds a lock.
 */
#ifndef PCIE_NET_H
#define PCIE_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

#define PCIE_NET_MAX_HOPS     16
#define PCIE_NET_MAX_LINKS    4096
#define PCIE_NET_MAX_PORTS    4096
#define PCIE_NET_MAX_SWITCHES 256
#define PCIE_NET_MAX_MTU      4096
#define PCIE_NET_MAX_STATIONS (2 * PCIE_NET_MAX_LINKS + PCIE_NET_MAX_PORTS)
#define PCIE_NET_HEADER_BYTES 82 /* of a packet of RoCE v2: preamble, gap, Ethernet, IPv4, UDP, BTH, ICRC, FCS */

/* Constants of a card. Times may be 0. */
struct pcie_rdma_timing {
	uint64_t submit_ps;         /* the issuer's time for a request */
	uint64_t request_ps;        /* from the submission to the first byte at the port */
	uint64_t fetch_ps;          /* added if the data are fetched from memory */
	uint32_t max_inline_bytes;  /* of data that the request itself holds, so that none are fetched */
	uint64_t port_ps;           /* of a port, for a packet on its way out or in */
	uint64_t deliver_ps;        /* from the last byte at the port to data that a program can read */
	uint64_t receive_ps;        /* added for the completion of a receive */
	uint64_t respond_ps;        /* from a request for data at the port to their first byte */
	uint64_t complete_ps;       /* from the last packet at the port to the completion at the program */
	uint64_t read_fs_per_byte;  /* least time per byte of what a read brings, femtoseconds; 0 = that of the links */
	uint64_t loop_fs_per_byte;  /* per byte between functions of one port, which stays in the card */
	uint64_t rate_bps;          /* of a port, bits per second, as measured */
	uint64_t window_bytes;      /* of one connection, sent and not acknowledged; 0 = no limit */
	uint64_t retransmission_ps; /* time-out after which the last packet of a message is sent again */
};

struct pcie_net_hop {
	uint32_t station;     /* index, below PCIE_NET_MAX_STATIONS */
	uint32_t loss_ppb;    /* packets lost, in a billion */
	uint64_t fs_per_byte; /* of its rate */
	uint64_t latency_ps;  /* to the next hop */
};

struct pcie_net_path {
	uint32_t num_hops;
	uint32_t mtu_bytes; /* of data in one packet, > 0 */
	struct pcie_net_hop hops[PCIE_NET_MAX_HOPS];
};

/* A connection, as its requester sees it. The timings are borrowed. */
struct pcie_net_connection {
	const struct pcie_rdma_timing *requester, *responder;
	struct pcie_net_path there, back;
};

enum pcie_net_op {
	PCIE_NET_SEND = 0, /* into a receive */
	PCIE_NET_WRITE,
	PCIE_NET_READ,
	PCIE_NET_ATOMIC, /* 8 bytes come back */
};

struct pcie_net_request {
	enum pcie_net_op op;
	bool has_receive; /* a write that takes a receive as well */
	uint64_t bytes;
};

struct pcie_net_times {
	uint64_t arrived_ps; /* at the responder: of data, in its memory; of a send, in its receive */
	uint64_t done_ps;    /* the completion is visible to the requester */
};

struct pcie_net_flow {
	uint64_t paced_ps;            /* the window is full until then */
	uint64_t arrived_ps, done_ps; /* of the last request: requests of a connection keep their order */
};

/* A station is busy until @busy_ps, but for one gap. */
struct pcie_net_station {
	uint64_t busy_ps, gap_from_ps, gap_to_ps;
	uint64_t lost; /* billionth parts of the next packet to be lost */
};

struct pcie_net_state {
	struct pcie_net_station stations[PCIE_NET_MAX_STATIONS];
};

/* Append a hop to @path, which has room: of a link of @rate_bps > 0. */
void pcie_net_path_add(struct pcie_net_path *path, uint32_t station, uint64_t rate_bps, uint64_t latency_ps,
		       uint32_t loss_ppb);

/* The path between ports of two cards on one switch, with the defaults: @out and @in are the stations of the ports' links. */
void pcie_net_default_path(const struct pcie_rdma_timing *from, const struct pcie_rdma_timing *to, uint32_t out,
			   uint64_t out_rate_bps, uint32_t in, uint64_t in_rate_bps, struct pcie_net_path *path);

/* The path between functions of one port, which stays in the card. */
void pcie_net_loop_path(const struct pcie_rdma_timing *card, uint32_t station, struct pcie_net_path *path);

/* The latency of a path without load, for a byte. */
uint64_t pcie_net_latency_ps(const struct pcie_net_path *path);

/* Submit a request at @now_ps, after the issuer's earlier ones. Returns the time at which the card has it. */
uint64_t pcie_net_submit(const struct pcie_rdma_timing *timing, uint64_t now_ps, struct pcie_queue_state *issuer);

/* Run @request, which the card has at @start_ps: fills in @ret_times and advances @flow and @state. */
void pcie_net_run(const struct pcie_net_connection *connection, const struct pcie_net_request *request,
		  uint64_t start_ps, struct pcie_net_flow *flow, struct pcie_net_state *state,
		  struct pcie_net_times *ret_times);

/* Data of which another model knows the rest of the path pass these links, the first from @arrival_ps on: returns the time at which
 * the last byte has left the last link's station. */
uint64_t pcie_net_pass(const struct pcie_net_path *links, uint64_t bytes, uint64_t arrival_ps,
		       struct pcie_net_state *state);

/* The same time from the arrival on, for links that nothing else uses. */
uint64_t pcie_net_idle_pass_ps(const struct pcie_net_path *links, uint64_t bytes);

/* Defaults of a topology's links and switches. A card's port_ps, fitted, is what remains of the measured time. */
#define PCIE_NET_LINK_LATENCY_PS   UINT64_C(20000)
#define PCIE_NET_SWITCH_LATENCY_PS UINT64_C(300000)

#endif
