/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process comes into a session: for programs that do not run the session's daemon themselves, too. */
#include "card.h"

#include <stdlib.h>

void bench_card_enter(const struct bench_card *card, const char *side, const char *path)
{
	setenv("BFSIM_SESSION", card->dir, 1);
	setenv("BFSIM_SIDE", side, 1);
	if (path)
		setenv("BFSIM_PATH", path, 1);
	else
		unsetenv("BFSIM_PATH");
}
