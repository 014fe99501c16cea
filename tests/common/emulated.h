/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/common/emulated.h - what qemu's user mode lacks: tests that need it are skipped there, or start programs by it. */
#ifndef TESTS_COMMON_EMULATED_H
#define TESTS_COMMON_EMULATED_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* Whether an emulator runs this program, or a kernel without process_vm_readv(). qemu's user mode lacks that call; its vfork()
 * is a fork(), and /proc has the numbers of the machine's system calls. */
static inline bool is_emulated(void)
{
	char from = 1, to = 0;
	const struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 && errno == ENOSYS;
}

/* Become a program of this build, with at most 30 words: by the emulator that meson runs this one with, if there is one. Returns
 * on errors. */
static inline void exec_built(char *const argv[])
{
	char *emulator = getenv("MESON_EXE_WRAPPER"), *with_emulator[32] = { emulator };

	for (size_t i = 0; i < 30 && argv[i]; i++)
		with_emulator[i + 1] = argv[i];
	if (emulator)
		execv(emulator, with_emulator);
	else
		execv(argv[0], argv);
}

#endif
