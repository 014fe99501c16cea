/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/abi/emulator.h - programs of another architecture, which qemu's user mode runs.
 *
 *   ./app --size 4096    ./app is for aarch64    -->    /usr/bin/qemu-aarch64-static ./app --size 4096
 *
 * The emulator goes in front of each program of a command: the first word of a simple command, behind assignments and
 * words such as "timeout 9" and "env". A program that a script or another program starts gets no emulator; there the
 * kernel needs one (binfmt_misc). Of the emulator or the loader that is missing, one line says so.
 */
#ifndef SIM_CLI_ABI_EMULATOR_H
#define SIM_CLI_ABI_EMULATOR_H

/* A command for sh(1). Returns the text that runs it, which the caller frees; NULL without memory. */
char *cli_emulate_shell(const char *text);

/* The words of a command, up to NULL. Returns the words that run it, an array that the caller frees; NULL without memory. */
char **cli_emulate_command(char *const *command);

#endif
