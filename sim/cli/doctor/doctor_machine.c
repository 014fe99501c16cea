/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel, or the container, lets programs do. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "sim/base/pidfd.h"
#include "sim/fabric/peer_memory.h"

#define MIN_FILES     1024
#define MIN_SHM_BYTES (UINT64_C(256) << 20)

/* The line of /proc/self/status that begins with @field, as a number; -1 = none. */
static int status_number(const char *field)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int number = -1;

	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, field, strlen(field)) == 0)
			number = atoi(line + strlen(field));
	if (status)
		fclose(status);
	return number;
}

static int ptrace_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (!file)
		return -1; /* no Yama: nothing is restricted */
	if (fscanf(file, "%d", &scope) != 1)
		scope = -1;
	fclose(file);
	return scope;
}

/* In a child: allow others to read, as the libraries do, say so, and wait for the end of the test. */
static void be_read(int ready, int end)
{
	char byte = 0;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (write(ready, &byte, 1) == 1 && read(end, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static char probe_word[] = "bfsim doctor";

/* In a second child: read what its sibling has at the same address. The exit status is the errno. */
static void read_sibling(pid_t sibling)
{
	char got[sizeof(probe_word)] = "";
	struct iovec local = { .iov_base = got, .iov_len = sizeof(got) };
	struct iovec remote = { .iov_base = probe_word, .iov_len = sizeof(got) };

	if (process_vm_readv(sibling, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(got))
		_exit(errno ? errno : EIO);
	_exit(memcmp(got, probe_word, sizeof(got)) == 0 ? 0 : EIO);
}

/* One child reads the other's memory. Returns 0 or an errno. */
static int probe_cma(void)
{
	int ready[2], end[2], status = 0, rc = EAGAIN;
	pid_t owner, reader;
	char byte;

	if (pipe(ready) < 0 || pipe(end) < 0)
		return errno;
	owner = fork();
	if (owner == 0) {
		close(end[1]);
		be_read(ready[1], end[0]);
	}
	close(ready[1]);
	if (owner > 0 && read(ready[0], &byte, 1) == 1) {
		reader = fork();
		if (reader == 0)
			read_sibling(owner);
		if (reader > 0 && waitpid(reader, &status, 0) == reader)
			rc = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	}
	close(end[1]);
	close(end[0]);
	close(ready[0]);
	if (owner > 0)
		waitpid(owner, &status, 0);
	return rc;
}

static void check_cma(struct cli_doctor *doctor)
{
	int scope = ptrace_scope(), seccomp = status_number("Seccomp:"), rc = probe_cma();
	struct cli_doctor_finding *finding;
	char detail[96];

	snprintf(detail, sizeof(detail), "ptrace scope %d, seccomp %s", scope < 0 ? 0 : scope,
		 seccomp > 0 ? "on" : "off");
	if (rc == 0) {
		cli_doctor_add(doctor, "cma", "a program reads another one's memory (%s)", detail);
		return;
	}
	finding = cli_doctor_add(doctor, "cma", "process_vm_readv: %s (%s)", strerror(rc), detail);
	finding->lost_path = "cma";
	cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
			"no data path cma: bytes of anonymous memory take the path shm, with one copy more",
			scope >= 2 ? "sysctl kernel.yama.ptrace_scope=1" :
				     "docker run --cap-add SYS_PTRACE, or a seccomp profile that has process_vm_readv "
				     "and process_vm_writev");
}

/* Whether a program can open its own memory for others, and these can tell where they may write. Returns 0 or -errno. */
static int probe_procmem(void)
{
	struct sim_peer_memory *memory = NULL;
	int mem_fd = -1, maps_fd = -1;
	int rc = sim_peer_memory_open(0, true, &mem_fd, &maps_fd);

	if (rc == 0)
		rc = sim_peer_memory_create(1, true, mem_fd, maps_fd, &memory);
	sim_peer_memory_put(memory);
	return rc;
}

static void check_procmem(struct cli_doctor *doctor)
{
	int rc = probe_procmem();
	struct cli_doctor_finding *finding;

	if (rc == 0) {
		cli_doctor_add(doctor, "procmem", "a program opens its memory, /proc/self/mem");
		return;
	}
	finding = cli_doctor_add(doctor, "procmem", "%s",
				 rc == -ENOSYS ? "the kernel has no PROCMAP_QUERY" : strerror(-rc));
	finding->lost_path = "procmem";
	if (rc == -ENOSYS)
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"where there is no cma, no data path procmem to memory that peers may write",
				"a kernel from 6.11 on");
	else
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING, "no data path procmem: small copies take longer",
				"a /proc of the PID namespace, in which /proc/self/mem can be opened");
}

static void check_memfd(struct cli_doctor *doctor)
{
	int fd = memfd_create("bfsim-doctor", MFD_CLOEXEC);
	void *page = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 4096) == 0)
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		cli_doctor_add(doctor, "memfd", "programs share memory: the data paths mapped and shm work");
		munmap(page, 4096);
	} else {
		struct cli_doctor_finding *finding =
			cli_doctor_add(doctor, "memfd", "memfd_create: %s", strerror(errno));

		finding->lost_path = "shm";
		cli_doctor_fail(finding, CLI_DOCTOR_PROBLEM, "no session can start; programs have private cards only",
				"allow memfd_create in the seccomp profile");
	}
	if (fd >= 0)
		close(fd);
}

static void check_pidfd(struct cli_doctor *doctor)
{
	int fd = sim_pidfd_open(getpid());
	struct cli_doctor_finding *finding;

	if (fd >= 0) {
		cli_doctor_add(doctor, "pidfd", "the daemon sees the end of a program");
		close(fd);
		return;
	}
	finding = cli_doctor_add(doctor, "pidfd", "pidfd_open: %s", strerror(errno));
	finding->lost_path = "cma";
	cli_doctor_fail(finding, CLI_DOCTOR_WARNING, "no data path cma, and faults can't kill or pause programs",
			"a kernel from 5.3 on, or a seccomp profile that has pidfd_open");
}

/* A connection over the loopback interface. Returns 0 or an errno. */
static int probe_loopback(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (listener < 0 || client < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&address, &len) < 0 ||
	    connect(client, (struct sockaddr *)&address, sizeof(address)) < 0)
		rc = errno;
	if (listener >= 0)
		close(listener);
	if (client >= 0)
		close(client);
	return rc;
}

static void check_tcp(struct cli_doctor *doctor)
{
	int rc = probe_loopback();
	struct cli_doctor_finding *finding;

	if (rc == 0) {
		cli_doctor_add(doctor, "tcp", "the loopback interface carries connections");
		return;
	}
	finding = cli_doctor_add(doctor, "tcp", "a connection over the loopback interface: %s", strerror(rc));
	finding->lost_path = "tcp";
	cli_doctor_fail(finding, CLI_DOCTOR_WARNING, "no data path tcp, which is the last resort where shm fails",
			"ip link set lo up");
}

static void check_shm(struct cli_doctor *doctor)
{
	struct cli_doctor_finding *finding;
	struct statvfs info;
	uint64_t bytes;

	if (statvfs("/dev/shm", &info) < 0) {
		finding = cli_doctor_add(doctor, "/dev/shm", "%s", strerror(errno));
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"programs can't put memory there; bfsim itself does not need it",
				"mount -t tmpfs tmpfs /dev/shm");
		return;
	}
	bytes = (uint64_t)info.f_blocks * info.f_frsize;
	finding = cli_doctor_add(doctor, "/dev/shm", "%" PRIu64 " MiB", bytes >> 20);
	if (bytes < MIN_SHM_BYTES)
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"programs that put larger buffers there, for the data path mapped, die of SIGBUS",
				"docker run --shm-size 1g, or buffers of memfd_create()");
}

static void check_files(struct cli_doctor *doctor)
{
	struct cli_doctor_finding *finding;
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	finding = cli_doctor_add(doctor, "files", "%" PRIu64 " open files for each program", (uint64_t)limit.rlim_cur);
	if (limit.rlim_cur < MIN_FILES)
		cli_doctor_fail(finding, CLI_DOCTOR_WARNING,
				"a program runs out of them with many exports, imports and connections, and the daemon "
				"with many programs",
				"ulimit -n 4096");
}

void cli_doctor_check_machine(struct cli_doctor *doctor)
{
	check_memfd(doctor);
	check_cma(doctor);
	check_procmem(doctor);
	check_tcp(doctor);
	check_pidfd(doctor);
	check_shm(doctor);
	check_files(doctor);
}
