/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers and clients without memory. */
#include "api_util.h"

#include <doca_comch.h>

static struct doca_dev *dev;
static struct doca_dev_rep *rep;
static struct doca_comch_server *server;
static struct doca_comch_client *client;

static doca_error_t create_server(void)
{
	return doca_comch_server_create(dev, rep, "x", &server);
}

static doca_error_t create_client(void)
{
	return doca_comch_client_create(dev, "x", &client);
}

static void test_server_needs_memory(void **state)
{
	struct doca_devinfo_rep **list;
	uint32_t count;

	dev = api_open_nth(0);
	assert_ok(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count));
	assert_ok(doca_dev_rep_open(list[0], &rep));
	assert_ok(doca_devinfo_rep_destroy_list(list));
	/* provokes: doca_comch_server_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create_server, NULL);
	assert_ok(doca_comch_server_destroy(server));
	assert_ok(doca_dev_rep_close(rep));
	assert_ok(doca_dev_close(dev));
}

static void test_client_needs_memory(void **state)
{
	dev = api_open_nth(0);
	/* provokes: doca_comch_client_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create_client, NULL);
	assert_ok(doca_comch_client_destroy(client));
	assert_ok(doca_dev_close(dev));
}

static const struct CMUnitTest on_dpu[] = { cmocka_unit_test(test_server_needs_memory) };
static const struct CMUnitTest on_host[] = { cmocka_unit_test(test_client_needs_memory) };

int main(void)
{
	return API_RUN({ .name = "server", .side = "dpu", API_WITH(on_dpu) },
		       { .name = "client", .side = "host", API_WITH(on_host) });
}
