/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/two_sides.h - a host process that exports memory, for a test that is the DPU process.
 *
 * The test program runs itself again as the host (two_sides_main()), with the
 * steps of the vendor's samples: map, export, send the descriptor, wait. The two
 * processes are connected by pipes and use the public headers alone. With EXPORTER=dpu
 * the process called host is on the DPU, and the test is on the host. CLOCK is the
 * session's clock mode, TOPOLOGY the file of its card (none: the built-in one).
 */
#ifndef TESTS_MULTI_TWO_SIDES_H
#define TESTS_MULTI_TWO_SIDES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DESCRIPTOR_MAX 256

enum host_wait {
	HOST_SLEEPS = 's',   /* blocked in read(2) */
	HOST_COMPUTES = 'c', /* busy; looks at its pipe now and then */
};

struct host_cfg {
	size_t bytes;
	bool writable; /* PCI read/write, else read only */
	bool shared;   /* memory in a memfd, else anonymous */
	enum host_wait wait;
	unsigned int exit_after_us; /* not 0: return from main() then, with the memory exported */
};

/* A running host process. Its memory begins as pattern(seed of the byte's offset). */
struct host {
	pid_t pid;
	int to, from; /* pipes */
	uint64_t addr;
	size_t bytes;
	uint8_t descriptor[DESCRIPTOR_MAX];
	size_t descriptor_bytes;
};

/* Whether the roles are exchanged. */
bool dpu_exports(void);

/* Initial byte at @offset of a host's memory. */
uint8_t host_pattern(size_t offset);

/* The same for @bytes from the begin of the memory, many times as fast. */
void host_pattern_fill(uint8_t *memory, size_t bytes);

/* Start a host process and take its descriptor. Fails the test when it can't. */
void host_start(struct host *host, const struct host_cfg *cfg);

/* The host answers: a checksum of its memory (sum of byte * (offset + 1)). */
uint64_t host_checksum(struct host *host);

/* The host stops its memory map, and answers when doca_mmap_stop() returned. */
void host_stop_map(struct host *host);

/* The host unmaps the second half of its memory, or truncates the object that holds it. */
void host_drop_half(struct host *host);

/* End it in order, or by SIGKILL. */
void host_end(struct host *host);
void host_kill(struct host *host);

/* In main(): act as the host if the arguments say so (does not return then). */
void two_sides_main(int argc, char **argv);

/* Start and end the session: BFSIMD names the daemon; sets BFSIM_SESSION. */
int session_start(void **state);
int session_end(void **state);

#endif
