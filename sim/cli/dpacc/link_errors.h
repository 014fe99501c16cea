/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/link_errors.h - a linker's messages in words of the DPA. */
#ifndef SIM_CLI_DPACC_LINK_ERRORS_H
#define SIM_CLI_DPACC_LINK_ERRORS_H

/* Print what the linker said. A function that is not on the DPA gets a sentence that says what to use instead. */
void link_errors_print(const char *messages);

#endif
