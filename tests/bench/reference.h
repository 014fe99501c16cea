/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/reference.h - the programs of the baselines, and the protocol of their commands.
 *
 * A reference is a program of its own, so that neither its libraries nor its
 * threads disturb the measured code. Its first argument is a socket's descriptor.
 * It sends one answer when it is ready, then executes orders one by one and
 * answers each, until the socket closes. Between orders it sleeps.
 */
#ifndef TESTS_BENCH_REFERENCE_H
#define TESTS_BENCH_REFERENCE_H

#include <stdint.h>

#define BENCH_REF_ADDR_SIZE 256

enum bench_ref_command {
	BENCH_REF_MEASURE, /* do count operations */
	BENCH_REF_SERVE,   /* a target: look after peers without a pause */
	BENCH_REF_REST,    /* stop that */
	BENCH_REF_CONNECT, /* an initiator, or both of a pair: to what follows, a struct bench_ref_place */
	BENCH_REF_CHECK,   /* one of a pair: check the received bytes */
	BENCH_REF_READ,    /* the second of a pair alone: count operations on the first's memory, which sleeps */
};

struct bench_ref_order {
	uint32_t command;
	uint32_t count;
	uint32_t bytes;  /* of one operation */
	uint32_t depth;  /* operations under way at most; a DMA device: of a batch */
	uint32_t begins; /* one of a pair: sends first */
	uint32_t apart;  /* one of a pair: stay on a CPU that the other does not use */
};

struct bench_ref_answer {
	int32_t status;      /* 0 or -errno; -ENOSYS in the first answer: the reference is not available */
	uint64_t ns;         /* duration of a BENCH_REF_MEASURE */
	uint64_t started_ns; /* of a pair: when it began; their clocks are one */
};

/* Where a target's memory is; a target sends it behind its first answer, one of a
 * pair likewise, for its address alone. */
struct bench_ref_place {
	uint64_t key, base, len;
	uint64_t addr_len;
	uint8_t addr[BENCH_REF_ADDR_SIZE];
};

#endif
