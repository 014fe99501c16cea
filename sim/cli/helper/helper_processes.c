/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of this machine, for a command of another one. */
#include "helper.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"

int cli_helper_processes(struct cli_helper *helper)
{
	json_object *status = cli_session_status(helper->dir), *list = cli_json_list(status, "processes");

	if (list)
		fputs(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN), helper->out);
	json_object_put(status);
	return list ? CLI_OK : cli_fail("the daemon of %s has not told its processes", helper->machine);
}
