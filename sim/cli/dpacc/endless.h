/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/endless.h - empty endless loops in what gcc compiled. */
#ifndef SIM_CLI_DPACC_ENDLESS_H
#define SIM_CLI_DPACC_ENDLESS_H

#include "words.h"

/* gcc has no hook in a basic block without a statement, so nothing could end a kernel in "for (;;);". In the assembly of a
 * compilation such a loop is a jump to itself:
 *
 *   .L2:                          .L2:
 *           .loc 1 2 21
 *           jmp     .L2    -->            call    bfsim_dpa_endless     (aarch64: b, bl)
 *
 * The function waits as the loop did, and is a hook. */
void endless_add_hooks(const struct text *assembly, struct text *ret_hooked);

#endif
