/* SPDX-License-Identifier: BSD-3-Clause */
/* Comm Channel between the generations, on one card: a process has the libraries of one of them, which have the
 * names of the other's. And between Comm Channel, of either, and Comch.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "channel_end.h"

enum generation {
	TASK,
	WORKQ,
	NUM_GENERATIONS,
};

/* channel_program.c, as built for each. */
static const char *const programs[NUM_GENERATIONS] = { "CHANNEL_PROGRAM_TASK", "CHANNEL_PROGRAM_WORKQ" };

struct part {
	enum generation generation;
	const char *role;
};

static void be_program(int ctl, const void *arg)
{
	const struct part *part = arg;
	const char *program = getenv(programs[part->generation]);

	CHECK(program);
	CHECK(ctl == 3 || dup2(ctl, 3) == 3);
	CHECK(fcntl(3, F_SETFD, 0) == 0);
	execl(program, program, part->role, (char *)NULL);
	CHECK(!"the program can be started");
}

/* Returns once it listens. */
static void start_service(struct proc *service, enum generation generation)
{
	const struct part part = { generation, "service" };

	proc_start(service, be_program, &part);
	end_sync_recv(service->ctl);
}

/* Returns once it has had all its messages back. */
static void start_client(struct proc *client, enum generation generation)
{
	const struct part part = { generation, "client" };

	proc_start(client, be_program, &part);
	end_sync_recv(client->ctl);
}

/* ---- the generations ---- */

static enum generation other(enum generation generation)
{
	return generation == TASK ? WORKQ : TASK;
}

static void test_service_echoes_to_the_other_generation_until_its_death(void **state)
{
	for (enum generation of_service = 0; of_service < NUM_GENERATIONS; of_service++) {
		struct proc service, client;

		start_service(&service, of_service);
		start_client(&client, other(of_service));
		proc_signal(&client, SIGKILL);
		end_sync_recv(service.ctl);
		proc_end(&service);
	}
}

static void test_client_gets_the_death_of_the_other_generation(void **state)
{
	for (enum generation of_service = 0; of_service < NUM_GENERATIONS; of_service++) {
		struct proc service, client;

		start_service(&service, of_service);
		start_client(&client, other(of_service));
		proc_signal(&service, SIGKILL);
		end_sync_recv(client.ctl);
		proc_end(&client);
	}
}

/* ---- both APIs on one channel ---- */

static struct doca_comch_server *comch;
static uint32_t echoed;

static void on_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	echoed++;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *bytes, uint32_t len,
		       struct doca_comch_connection *connection)
{
	static uint32_t value;
	struct doca_comch_task_send *task;

	CHECK(len == sizeof(value));
	memcpy(&value, bytes, len);
	CHECK(doca_comch_server_task_send_alloc_init(comch, connection, &value, len, &task) == DOCA_SUCCESS);
	CHECK(doca_task_submit(doca_comch_task_send_as_task(task)) == DOCA_SUCCESS);
}

static void on_status(struct doca_comch_event_connection_status_changed *event,
		      struct doca_comch_connection *connection, uint8_t well)
{
	CHECK(well);
}

static void comch_echo_server(int ctl, const void *unused)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	struct doca_pe *pe;
	uint32_t count;

	end_open("dpu", 0);
	CHECK(doca_comm_channel_ep_get_device(end.ep, &dev) == DOCA_SUCCESS);
	CHECK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count) == DOCA_SUCCESS);
	CHECK(doca_dev_rep_open(list[0], &rep) == DOCA_SUCCESS);
	CHECK(doca_comch_server_create(dev, rep, CHANNEL_NAME, &comch) == DOCA_SUCCESS);
	CHECK(doca_comch_server_task_send_set_conf(comch, on_sent, on_sent, 1) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_msg_recv_register(comch, on_message) == DOCA_SUCCESS);
	CHECK(doca_comch_server_event_connection_status_changed_register(comch, on_status, on_status) == DOCA_SUCCESS);
	CHECK(doca_pe_create(&pe) == DOCA_SUCCESS);
	CHECK(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(comch)) == DOCA_SUCCESS);
	CHECK(doca_ctx_start(doca_comch_server_as_ctx(comch)) == DOCA_SUCCESS);
	end_sync_send(ctl);
	while (echoed < CHANNEL_MESSAGES)
		doca_pe_progress(pe);
	end_sync_recv(ctl);
}

static void test_comch_server_takes_comm_channel_clients(void **state)
{
	for (enum generation of_client = 0; of_client < NUM_GENERATIONS; of_client++) {
		struct proc server, client;

		proc_start(&server, comch_echo_server, NULL);
		end_sync_recv(server.ctl);
		start_client(&client, of_client);
		end_sync_send(server.ctl);
		proc_end(&server);
		end_sync_recv(client.ctl);
		proc_end(&client);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHANNEL_TEST(test_service_echoes_to_the_other_generation_until_its_death),
		CHANNEL_TEST(test_client_gets_the_death_of_the_other_generation),
		CHANNEL_TEST(test_comch_server_takes_comm_channel_clients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
