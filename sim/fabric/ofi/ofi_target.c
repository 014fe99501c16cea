/* SPDX-License-Identifier: BSD-3-Clause */
/* An exporter: exposing memory, and reopening the endpoint at the same address. */
#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "ofi_priv.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

struct sim_ofi_mem {
	struct sim_ofi_target *target;
	void *addr;
	size_t len;
	bool writable;
	uint64_t key;
	uint64_t base;
	struct fid_mr *mr; /* NULL = not registered */
	LIST_ENTRY(sim_ofi_mem) entry;
};

struct sim_ofi_target {
	struct sim_ofi_endpoint endpoint;
	struct sim_ofi_desc self_desc; /* provider and addresses, the same for every memory */
	struct sockaddr_storage bind;  /* sockets: the port is chosen once */
	socklen_t bind_len;
	int listen_fd; /* sockets: libfabric's, -1 = unknown */
	char shm_name[SIM_OFI_SHM_NAME_SIZE];
	struct sim_ofi_shm_listener *shm_listener; /* shm */
	int epoll_fd;                              /* providers with a CQ descriptor: outlives the CQ */
	bool has_served;                           /* something was served since the endpoint opened */
	LIST_HEAD(, sim_ofi_mem) mems;
};

/* A sim_ofi_check_key for the shm listener. */
static int check_key(void *arg, uint64_t key, uint64_t len, bool writable)
{
	const struct sim_ofi_target *target = arg;
	const struct sim_ofi_mem *mem;

	LIST_FOREACH(mem, &target->mems, entry)
		if (mem->key == key)
			return len > mem->len || (writable && !mem->writable) ? -EACCES : 0;
	return -ENOENT;
}

static int open_endpoint(struct sim_ofi_target *target, const char *provider)
{
	struct sim_ofi_endpoint_cfg cfg = { .provider = provider, .target = true, .shm_name = target->shm_name };
	struct epoll_event event = { .events = EPOLLIN };
	int rc;

	if (sim_ofi_kind(provider) == SIM_OFI_SOCKETS) {
		cfg.bind = (struct sockaddr *)&target->bind;
		cfg.bind_len = target->bind_len;
	}
	rc = sim_ofi_endpoint_open(&cfg, &target->endpoint);
	if (rc < 0)
		return rc;
	target->has_served = false;
	if (target->shm_listener)
		rc = sim_ofi_shm_listener_open(target->shm_listener, &target->endpoint);
	else if (target->endpoint.cq_fd >= 0 &&
		 epoll_ctl(target->epoll_fd, EPOLL_CTL_ADD, target->endpoint.cq_fd, &event) < 0)
		rc = -errno;
	if (rc < 0)
		sim_ofi_endpoint_close(&target->endpoint);
	return rc;
}

/* libfabric opens its descriptors without O_CLOEXEC: a program that the application starts would keep the port in use
 * while we reopen the endpoint. */
static void claim_listen_fd(struct sim_ofi_target *target)
{
	target->listen_fd = sim_ofi_addr_find_listener(sim_ofi_addr_port((struct sockaddr *)&target->bind));
	if (target->listen_fd >= 0)
		fcntl(target->listen_fd, F_SETFD, FD_CLOEXEC);
}

static void shutdown_listen_fd(struct sim_ofi_target *target)
{
	if (target->listen_fd >= 0)
		shutdown(target->listen_fd, SHUT_RDWR); /* in forked children too */
	target->listen_fd = -1;
}

static void close_endpoint(struct sim_ofi_target *target)
{
	struct sim_ofi_mem *mem;

	shutdown_listen_fd(target);
	if (target->shm_listener)
		sim_ofi_shm_listener_close(target->shm_listener);
	else if (target->endpoint.cq_fd >= 0)
		epoll_ctl(target->epoll_fd, EPOLL_CTL_DEL, target->endpoint.cq_fd, NULL);
	LIST_FOREACH(mem, &target->mems, entry) {
		if (mem->mr)
			fi_close(&mem->mr->fid);
		mem->mr = NULL;
	}
	sim_ofi_endpoint_close(&target->endpoint);
}

/* Fill target->self_desc from the endpoint just opened. */
static int fill_self_desc(struct sim_ofi_target *target)
{
	struct sim_ofi_desc *desc = &target->self_desc;
	size_t len = SIM_OFI_ADDR_SIZE;
	int rc = fi_getname(&target->endpoint.ep->fid, desc->addr[0], &len);

	if (rc < 0)
		return sim_ofi_errno(rc);
	strncpy(desc->provider, target->endpoint.info->fabric_attr->prov_name, sizeof(desc->provider) - 1);
	if (target->endpoint.kind == SIM_OFI_SOCKETS) {
		if (!sim_ofi_addr_valid(desc->addr[0], len))
			return -EAFNOSUPPORT;
		memcpy(&target->bind, desc->addr[0], len);
		claim_listen_fd(target);
		return sim_ofi_addr_candidates(sim_ofi_addr_port((struct sockaddr *)&target->bind),
					       target->bind.ss_family == AF_INET6, desc);
	}
	desc->num_addrs = 1;
	desc->addr_len[0] = (uint32_t)len;
	return 0;
}

static int open_any_name(struct sim_ofi_target *target, const char *provider)
{
	const char *const this_name[] = { provider, NULL };
	int rc = -ENOSYS;

	for (const char *const *name = sim_ofi_provider_names(this_name); *name && rc == -ENOSYS; name++)
		rc = open_endpoint(target, *name);
	return rc;
}

int sim_ofi_target_create(const char *provider, struct sim_ofi_target **ret_target)
{
	struct sim_ofi_target *target = calloc(1, sizeof(*target));
	int rc = 0;

	if (!target)
		return -ENOMEM;
	target->endpoint.cq_fd = -1;
	target->listen_fd = -1;
	target->bind_len = sim_ofi_addr_any(&target->bind);
	target->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (target->epoll_fd < 0) {
		rc = -errno;
	} else if (sim_ofi_kind(provider) == SIM_OFI_SHM) {
		sim_ofi_shm_new_name(target->shm_name);
		rc = sim_ofi_shm_listener_create(target->shm_name, check_key, target, &target->shm_listener);
	}
	if (rc == 0)
		rc = open_any_name(target, provider);
	if (rc == 0)
		rc = fill_self_desc(target);
	if (rc < 0) {
		sim_ofi_target_destroy(target);
		return rc;
	}
	*ret_target = target;
	return 0;
}

void sim_ofi_target_destroy(struct sim_ofi_target *target)
{
	if (!target)
		return;
	close_endpoint(target);
	while (!LIST_EMPTY(&target->mems)) {
		struct sim_ofi_mem *mem = LIST_FIRST(&target->mems);

		LIST_REMOVE(mem, entry);
		free(mem);
	}
	sim_ofi_shm_listener_destroy(target->shm_listener);
	if (target->epoll_fd >= 0)
		close(target->epoll_fd);
	free(target);
}

/* A random key, if the provider accepts our keys. */
static uint64_t new_key(const struct fi_domain_attr *attr)
{
	uint64_t key = 0;

	if (getrandom(&key, sizeof(key), 0) != sizeof(key))
		key = sim_monotonic_ns();
	return attr->mr_key_size < sizeof(key) ? key & ((1ull << attr->mr_key_size * 8) - 1) : key;
}

static int register_mem(struct sim_ofi_mem *mem)
{
	struct sim_ofi_endpoint *endpoint = &mem->target->endpoint;
	uint64_t access = FI_REMOTE_READ | (mem->writable ? FI_REMOTE_WRITE : 0);
	int mode = endpoint->info->domain_attr->mr_mode;
	int rc = fi_mr_reg(endpoint->domain, mem->addr, mem->len, access, 0, mem->key, 0, &mem->mr, NULL);

	if (rc == 0 && (mode & FI_MR_ENDPOINT)) {
		rc = fi_mr_bind(mem->mr, &endpoint->ep->fid, 0);
		if (rc == 0)
			rc = fi_mr_enable(mem->mr);
		if (rc < 0) {
			fi_close(&mem->mr->fid);
			mem->mr = NULL;
		}
	}
	if (rc < 0)
		return sim_ofi_errno(rc);
	mem->key = fi_mr_key(mem->mr);
	mem->base = mode & FI_MR_VIRT_ADDR ? (uintptr_t)mem->addr : 0;
	return 0;
}

static int register_new(struct sim_ofi_mem *mem)
{
	int rc;

	do {
		mem->key = new_key(mem->target->endpoint.info->domain_attr);
		rc = register_mem(mem);
	} while (rc == -FI_ENOKEY); /* in use */
	return rc;
}

int sim_ofi_target_register(struct sim_ofi_target *target, void *addr, size_t len, bool writable,
			    struct sim_ofi_mem **ret_mem, struct sim_ofi_desc *ret_desc)
{
	struct sim_ofi_mem *mem;
	int rc;

	if (!target->endpoint.ep)
		return -EIO; /* reopen() failed */
	mem = malloc(sizeof(*mem));
	if (!mem)
		return -ENOMEM;
	*mem = (struct sim_ofi_mem){ .target = target, .addr = addr, .len = len, .writable = writable };
	rc = register_new(mem);
	if (rc < 0) {
		sim_warn("libfabric (%s) can't register %zu bytes at %p: %s", target->self_desc.provider, len, addr,
			 strerror(-rc));
		free(mem);
		return rc;
	}
	LIST_INSERT_HEAD(&target->mems, mem, entry);
	*ret_desc = target->self_desc;
	ret_desc->mr_key = mem->key;
	ret_desc->base = mem->base;
	ret_desc->writable = writable;
	*ret_mem = mem;
	return 0;
}

/* Replace the endpoint by a new one at the same address, with the same memories under the same keys. Transfers on the
 * old endpoint end, and peers reconnect to the new one. */
static void reopen(struct sim_ofi_target *target)
{
	struct sim_ofi_mem *mem;
	int rc;

	close_endpoint(target);
	rc = open_endpoint(target, target->self_desc.provider);
	if (rc == 0 && target->endpoint.kind == SIM_OFI_SOCKETS)
		claim_listen_fd(target);
	LIST_FOREACH(mem, &target->mems, entry)
		if (rc == 0)
			rc = register_mem(mem);
	if (rc == 0)
		return;
	close_endpoint(target);
	sim_err("libfabric (%s) can't reopen this process's endpoint: %s; its memory can't be reached by this path any "
		"more; restart the process",
		target->self_desc.provider, strerror(-rc));
}

/* End the registration. Returns whether transfers in flight may continue: software providers check the registration only
 * when a transfer begins, and sockets do not report transfers in flight. */
static bool unregister(struct sim_ofi_mem *mem)
{
	struct sim_ofi_target *target = mem->target;

	if (target->shm_listener && sim_ofi_shm_listener_deregister(target->shm_listener, mem->mr) == 0)
		return false;
	fi_close(&mem->mr->fid);
	return target->shm_listener || (target->endpoint.kind == SIM_OFI_SOCKETS && target->has_served);
}

void sim_ofi_target_deregister(struct sim_ofi_mem *mem)
{
	if (!mem)
		return;
	LIST_REMOVE(mem, entry);
	if (mem->mr && unregister(mem)) /* none: the endpoint was lost */
		reopen(mem->target);
	free(mem);
}

int sim_ofi_target_fd(const struct sim_ofi_target *target)
{
	if (target->shm_listener)
		return sim_ofi_shm_listener_fd(target->shm_listener);
	return target->endpoint.kind == SIM_OFI_SOCKETS || target->endpoint.cq_fd >= 0 ? target->epoll_fd : -1;
}

/* Remote accesses complete without an entry. Ignore other entries. */
static void progress_cq(struct sim_ofi_target *target)
{
	struct fi_cq_entry entry;
	struct fi_cq_err_entry error = { 0 };

	sim_ofi_lsan_disable(); /* it may accept a connection */
	if (fi_cq_read(target->endpoint.cq, &entry, 1) == -FI_EAVAIL)
		fi_cq_readerr(target->endpoint.cq, &error, 0);
	sim_ofi_lsan_enable();
}

int sim_ofi_target_serve(struct sim_ofi_target *target)
{
	/* Poll the provider's descriptor: polling our epoll descriptor would cost twice. */
	struct pollfd ready = { .fd = target->endpoint.cq_fd, .events = POLLIN };
	int rc;

	if (!target->endpoint.ep)
		return 0;
	if (target->shm_listener) {
		rc = sim_ofi_shm_listener_serve(target->shm_listener);
		if (rc >= 0)
			return rc;
		sim_info("a process died while it accessed this process's memory over shm; opening a new region");
		reopen(target);
		return 1;
	}
	if (target->endpoint.cq_fd >= 0 && poll(&ready, 1, 0) != 1)
		return 0;
	target->has_served = true;
	progress_cq(target);
	return target->endpoint.cq_fd >= 0;
}

bool sim_ofi_target_may_sleep(struct sim_ofi_target *target)
{
	struct fid *fid;

	if (!target->endpoint.ep)
		return true;
	if (target->shm_listener)
		return sim_ofi_shm_listener_may_sleep(target->shm_listener);
	fid = &target->endpoint.cq->fid;
	return target->endpoint.cq_fd < 0 || fi_trywait(target->endpoint.fabric, &fid, 1) == 0;
}
