/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim token: print a new token for a session over several machines. */
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"

#define TOKEN_BYTES 32

/* A token in a file that others can read is none: the gateway refuses it. */
static void protect_output(void)
{
	struct stat st;

	if (fstat(fileno(stdout), &st) == 0 && S_ISREG(st.st_mode))
		fchmod(fileno(stdout), S_IRUSR | S_IWUSR);
}

int cli_token(int argc, char **argv)
{
	static const struct cli_args args = {
		.doc = "Print a new token, for a session over several machines.\v"
		       "Write it into a file and copy that file to each machine: bfsim token >token. Who has the token is a member "
		       "of the session.",
	};
	uint8_t bytes[TOKEN_BYTES];
	int none;

	cli_args_parse(&args, argc, argv, 0, &none);
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return cli_fail("no random bytes");
	protect_output();
	for (size_t i = 0; i < sizeof(bytes); i++)
		printf("%02x", bytes[i]);
	printf("\n");
	return fflush(stdout) == 0 ? CLI_OK : cli_fail("cannot write the token");
}
