/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that exports memory over libfabric on command. */
#include "ofi_exporter.h"

#include <dirent.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_MEMS 4096

enum command { CMD_EXPOSE, CMD_HIDE, CMD_PEEK, CMD_FDS, CMD_STOP };

struct request {
	enum command command;
	int number;
	size_t len; /* or an offset */
	bool writable;
	uint8_t fill;
};

struct reply {
	int value;
	struct sim_ofi_desc desc;
	char shm_prefix[SIM_OFI_SHM_PREFIX_SIZE];
};

struct mem {
	uint8_t *addr;
	size_t len;
	struct sim_ofi_mem *exposed;
};

static struct mem mems[MAX_MEMS];
static int num_mems;

static int count_names(const char *dir_name, const char *prefix)
{
	DIR *dir = opendir(dir_name);
	const struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)) != NULL)
		n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
	if (dir)
		closedir(dir);
	return n;
}

int count_shm_files(const char *prefix)
{
	return count_names("/dev/shm", prefix);
}

int count_own_fds(void)
{
	return count_names("/proc/self/fd", "");
}

/* ---- in the exporter's process ---- */

static int expose(struct sim_ofi_target *target, const struct request *request, struct sim_ofi_desc *ret_desc)
{
	struct mem *mem = &mems[num_mems];
	int rc;

	mem->len = request->len;
	mem->addr = mmap(NULL, mem->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(mem->addr, request->fill, mem->len);
	rc = sim_ofi_target_register(target, mem->addr, mem->len, request->writable, &mem->exposed, ret_desc);
	return rc < 0 ? rc : num_mems++;
}

static void hide(struct mem *mem)
{
	sim_ofi_target_deregister(mem->exposed);
	munmap(mem->addr, mem->len); /* a late access would crash us */
	mem->exposed = NULL;
}

static void execute(struct sim_ofi_target *target, int fd)
{
	struct reply reply = { .value = 0 };
	struct request request;

	if (read(fd, &request, sizeof(request)) != sizeof(request) || request.command == CMD_STOP) {
		sim_ofi_target_destroy(target);
		exit(0);
	}
	if (request.command == CMD_EXPOSE)
		reply.value = expose(target, &request, &reply.desc);
	else if (request.command == CMD_HIDE)
		hide(&mems[request.number]);
	else if (request.command == CMD_PEEK)
		reply.value = mems[request.number].addr[request.len];
	else
		reply.value = count_own_fds();
	if (write(fd, &reply, sizeof(reply)) != sizeof(reply))
		exit(1);
}

static void export_for_ever(const char *provider, int fd)
{
	struct sim_ofi_target *target = NULL;
	struct reply reply;

	memset(&reply, 0, sizeof(reply));
	reply.value = sim_ofi_target_create(provider, &target);
	sim_ofi_shm_prefix(reply.shm_prefix);
	if (write(fd, &reply, sizeof(reply)) != sizeof(reply) || reply.value < 0)
		exit(1);
	for (;;) {
		struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
					{ .fd = sim_ofi_target_fd(target), .events = POLLIN } };

		while (sim_ofi_target_serve(target) > 0)
			;
		poll(fds, 2, sim_ofi_target_may_sleep(target) ? -1 : 0);
		if (fds[0].revents)
			execute(target, fd);
	}
}

/* ---- in the test's process ---- */

static void receive(struct exporter *exporter, struct reply *ret_reply)
{
	assert_int_equal(recv(exporter->fd, ret_reply, sizeof(*ret_reply), MSG_WAITALL), sizeof(*ret_reply));
}

int exporter_start(struct exporter *exporter, const char *provider)
{
	struct reply reply;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	exporter->pid = fork();
	assert_true(exporter->pid >= 0);
	if (exporter->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		export_for_ever(provider, fds[1]);
	}
	close(fds[1]);
	exporter->fd = fds[0];
	receive(exporter, &reply);
	memcpy(exporter->shm_prefix, reply.shm_prefix, sizeof(reply.shm_prefix));
	if (reply.value < 0) {
		waitpid(exporter->pid, NULL, 0);
		close(exporter->fd);
	}
	return reply.value;
}

static struct reply order(struct exporter *exporter, const struct request *request)
{
	struct reply reply;

	assert_int_equal(send(exporter->fd, request, sizeof(*request), MSG_NOSIGNAL), sizeof(*request));
	receive(exporter, &reply);
	return reply;
}

void exporter_stop(struct exporter *exporter)
{
	const struct request request = { .command = CMD_STOP };
	int status;

	assert_int_equal(send(exporter->fd, &request, sizeof(request), MSG_NOSIGNAL), sizeof(request));
	assert_int_equal(waitpid(exporter->pid, &status, 0), exporter->pid);
	assert_int_equal(status, 0);
	close(exporter->fd);
}

void exporter_kill(struct exporter *exporter)
{
	kill(exporter->pid, SIGKILL);
	waitpid(exporter->pid, NULL, 0);
	close(exporter->fd);
}

int exporter_expose(struct exporter *exporter, size_t len, bool writable, uint8_t fill, struct sim_ofi_desc *ret_desc)
{
	struct reply reply = order(
		exporter, &(struct request){ .command = CMD_EXPOSE, .len = len, .writable = writable, .fill = fill });

	assert_true(reply.value >= 0);
	*ret_desc = reply.desc;
	return reply.value;
}

void exporter_hide(struct exporter *exporter, int number)
{
	order(exporter, &(struct request){ .command = CMD_HIDE, .number = number });
}

uint8_t exporter_peek(struct exporter *exporter, int number, size_t offset)
{
	return (uint8_t)order(exporter, &(struct request){ .command = CMD_PEEK, .number = number, .len = offset })
		.value;
}

int exporter_num_fds(struct exporter *exporter)
{
	return order(exporter, &(struct request){ .command = CMD_FDS }).value;
}
