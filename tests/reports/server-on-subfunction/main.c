/* SPDX-License-Identifier: BSD-3-Clause */
/* "s FILE": a server on the representor of the first subfunction, until FILE is there. "c FILE": a client of the host's PF. */
#include <fcntl.h>

#include "talk.h"

/* The first representor whose function is a subfunction. */
static struct doca_dev_rep *open_subfunction(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;

	OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
	for (uint32_t i = 0; i < count && !rep; i++) {
		enum doca_pci_func_type type;

		OK(doca_devinfo_rep_get_pci_func_type(list[i], &type));
		if (type == DOCA_PCI_FUNC_TYPE_SF)
			OK(doca_dev_rep_open(list[i], &rep));
	}
	OK(doca_devinfo_rep_destroy_list(list));
	HOLDS(rep);
	return rep;
}

static void serve(const char *file)
{
	struct talk server;

	talk_open_server_on(&server, "03:00.0", open_subfunction, "misplaced");
	talk_start_server(&server);
	PROGRESS_UNTIL(server.pe, access(file, F_OK) == 0);
	HOLDS(server.connected == 0);
	talk_close(&server);
}

static void call(const char *file)
{
	struct talk client;

	talk_open_client(&client, "b1:00.0", "misplaced");
	WANT(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	report_progress_to(client.pe, client.ctx, DOCA_CTX_STATE_IDLE);
	close(open(file, O_WRONLY | O_CREAT, 0600));
	talk_close(&client);
}

int main(int argc, char **argv)
{
	HOLDS(argc == 3);
	if (argv[1][0] == 's')
		serve(argv[2]);
	else
		call(argv[2]);
	return 0;
}
