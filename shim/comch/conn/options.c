/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of Comch. They are read when a context is created, so that one program can try both. */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/log.h"

#define DEFAULT_WAIT_MS 5000 /* our choice: the vendor's is not public */

bool comch_wakes(void)
{
	const char *value = getenv("BFSIM_COMCH_EVENTS");

	if (!value || !value[0] || strcmp(value, "on") == 0)
		return true;
	if (strcmp(value, "off") == 0)
		return false;
	sim_warn("BFSIM_COMCH_EVENTS=%s: neither on nor off; the notification handle wakes for Comch", value);
	return true;
}

uint32_t comch_wait_ms(void)
{
	const char *value = getenv("BFSIM_COMCH_WAIT");
	unsigned long wait_ms;
	char *end;

	if (!value || !value[0])
		return DEFAULT_WAIT_MS;
	errno = 0;
	wait_ms = strtoul(value, &end, 10);
	if (errno == 0 && value[0] >= '0' && value[0] <= '9' && *end == '\0' && wait_ms <= INT32_MAX)
		return (uint32_t)wait_ms;
	sim_warn("BFSIM_COMCH_WAIT=%s: not a number of milliseconds; a client waits %d ms for its server", value,
		 DEFAULT_WAIT_MS);
	return DEFAULT_WAIT_MS;
}
