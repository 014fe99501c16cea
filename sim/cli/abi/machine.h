/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/machine.h - the architecture that a program is for.
 *
 * The file is untrusted; it is neither loaded nor run.
 */
#ifndef SIM_CLI_ABI_MACHINE_H
#define SIM_CLI_ABI_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define CLI_OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define CLI_OWN_MACHINE EM_AARCH64
#else
#define CLI_OWN_MACHINE EM_NONE
#endif

struct cli_machine {
	uint16_t machine;      /* as in elf.h: EM_X86_64, ... */
	char interpreter[128]; /* the loader that the program names; empty = none */
};

/* Read the head of the program at @path. Returns false if it is not a 64-bit ELF file, or cannot be read. */
bool cli_machine_of_file(const char *path, struct cli_machine *ret_machine);

/* Its name as in lib/NAME-linux-gnu, and Debian's name; NULL for others than x86-64 and aarch64. */
const char *cli_machine_arch(uint16_t machine);
const char *cli_machine_debian_arch(uint16_t machine);

#endif
