/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a program may do nothing about something that waits for it. */
#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define DEFAULT_MS 1000
#define MAX_MS     3600000

static uint64_t read_ms(void)
{
	const char *text = getenv("BFSIM_CHECK_STALL_TIMEOUT");
	unsigned long ms;
	char *end;

	if (!text || !text[0])
		return DEFAULT_MS;
	errno = 0;
	ms = strtoul(text, &end, 10);
	if (errno == 0 && *end == '\0' && text[0] != '-' && ms >= 1 && ms <= MAX_MS)
		return ms;
	sim_err("BFSIM_CHECK_STALL_TIMEOUT=%s: write milliseconds, 1 to %d; %d are used", text, MAX_MS, DEFAULT_MS);
	return DEFAULT_MS;
}

/* Read at the first need, so that a program can set it. */
uint64_t check_stall_timeout_ns(void)
{
	static _Atomic uint64_t timeout_ns;
	uint64_t ns = timeout_ns;

	if (!ns)
		timeout_ns = ns = read_ms() * SIM_NS_PER_MS;
	return ns;
}
