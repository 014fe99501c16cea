/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/ofi_exporter.h - a process that exports memory, for tests of sim/fabric/ofi.
 *
 * The process has one target and serves it like the library's helper thread: it
 * sleeps in poll() on the target's descriptor and on a socket for the commands
 * below. It does not spin after an access, so that any access may find it asleep.
 */
#ifndef TESTS_MULTI_OFI_EXPORTER_H
#define TESTS_MULTI_OFI_EXPORTER_H

#include <sys/types.h>

#include "sim/fabric/ofi/ofi.h"

struct exporter {
	pid_t pid;
	int fd;
	char shm_prefix[SIM_OFI_SHM_PREFIX_SIZE];
};

/* Fork one for @provider. Returns what sim_ofi_target_create() returned there. */
int exporter_start(struct exporter *exporter, const char *provider);

/* Let it destroy its target and exit; fail the test when it does not exit well. */
void exporter_stop(struct exporter *exporter);

/* SIGKILL it and wait until it is dead. */
void exporter_kill(struct exporter *exporter);

/* Make it expose @len bytes, each with the value @fill; returns the memory's number. */
int exporter_expose(struct exporter *exporter, size_t len, bool writable, uint8_t fill, struct sim_ofi_desc *ret_desc);

/* Make it hide that memory and unmap it. */
void exporter_hide(struct exporter *exporter, int number);

/* Read the current byte at @offset of that memory. */
uint8_t exporter_peek(struct exporter *exporter, int number, size_t offset);

/* How many descriptors it has open. */
int exporter_num_fds(struct exporter *exporter);

/* How many descriptors this process has open. */
int count_own_fds(void);

/* How many files in /dev/shm have names that begin with @prefix. */
int count_shm_files(const char *prefix);

#endif
