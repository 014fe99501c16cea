/* SPDX-License-Identifier: BSD-3-Clause */
/* Asking the kernel about standard output. */
#include "output_gone.h"

#include <poll.h>
#include <unistd.h>

bool cli_output_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO }; /* errors and hang-ups are reported without being asked for */

	return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP));
}
