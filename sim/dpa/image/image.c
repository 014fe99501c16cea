/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads an image: bytes of the program into a memfd, and from there by dlopen() as an object of its own. */
#include "image.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image_priv.h"
#include "sim/base/loader.h"
#include "sim/base/log.h"

/* ---- the bytes as an object ---- */

static bool is_plain_asked_for(void)
{
	const char *value = getenv("BFSIM_DPA_GUARD");

	return value && strcmp(value, "off") == 0;
}

static int write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len) {
		ssize_t written = write(fd, at, len);

		if (written < 0)
			return -errno;
		at += written;
		len -= (size_t)written;
	}
	return 0;
}

/* A path of the descriptor that no earlier load had: dlopen() would give the object that it loaded by the same name. Each bit of
 * a count is "/." or "//". */
static void write_path(int fd, char path[112])
{
	static atomic_uint loads;
	unsigned int count = atomic_fetch_add(&loads, 1);
	char *at = path + sprintf(path, "/proc/self/fd");

	for (unsigned int i = 0; i < 32; i++)
		at += sprintf(at, count >> i & 1 ? "/." : "//");
	sprintf(at, "/%d", fd);
}

static int open_copy(struct sim_dpa_image *image)
{
	char path[112];
	int fd = memfd_create("bfsim-dpa", MFD_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, image->bytes, image->num_bytes);
	if (rc == 0) {
		write_path(fd, path);
		sim_loader_lock();
		image->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		sim_loader_unlock();
		if (!image->object) {
			sim_err("the DPA image of %s does not load: %s", image->app->name, dlerror());
			rc = -ENOEXEC;
		}
	}
	close(fd);
	return rc;
}

/* Writable data and constants: all that the object has in memory. */
static int find_data(const struct dl_phdr_info *object, struct sim_dpa_image *image)
{
	image->data.begin = UINTPTR_MAX;
	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD)
			continue;
		if (begin < image->data.begin)
			image->data.begin = begin;
		if (begin + part->p_memsz > image->data.end)
			image->data.end = begin + part->p_memsz;
	}
	image->data.is_writable = true;
	image->base = object->dlpi_addr;
	return 1;
}

static int find_object(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct sim_dpa_image *image = arg;
	const struct link_map *map = image->object;

	(void)size;
	return object->dlpi_addr == map->l_addr ? find_data(object, image) : 0;
}

static bool find_object_data(struct sim_dpa_image *image)
{
	bool is_found;

	sim_loader_lock();
	is_found = dl_iterate_phdr(find_object, image) == 1;
	sim_loader_unlock();
	return is_found;
}

static int take_table(struct sim_dpa_image *image, const struct sim_dpa_port *port)
{
	const struct sim_dpa_image_table *table = dlsym(image->object, "bfsim_dpa_image");

	if (!table || table->version != SIM_DPA_PORT_VERSION) {
		sim_err("the DPA image of %s was made by another release of bfsim: compile it again", image->app->name);
		return -EINVAL;
	}
	image->table = table;
	image->port = *port;
	sim_dpa_guard_port(&image->port);
	*table->port = &image->port;
	*table->thread_offset = sim_dpa_guard_offset();
	return find_object_data(image) ? 0 : -ENOEXEC;
}

int sim_dpa_image_load(const void *program_app, const struct sim_dpa_port *port, struct sim_dpa_image **ret_image)
{
	const struct sim_dpa_app *app = program_app;
	struct sim_dpa_image *image;
	bool is_plain = is_plain_asked_for();
	int rc;

	if (!app || app->magic != SIM_DPA_APP_MAGIC || app->version != SIM_DPA_PORT_VERSION) {
		sim_err("the DPA application is none that bfsim's dpacc made%s",
			app && app->magic == SIM_DPA_APP_MAGIC ? " in this release: compile it again" : "");
		return -EINVAL;
	}
	image = calloc(1, sizeof(*image));
	if (!image)
		return -ENOMEM;
	image->app = app;
	image->is_guarded = !is_plain;
	image->bytes = is_plain ? app->plain_image : app->guarded_image;
	image->num_bytes =
		(size_t)((const char *)(is_plain ? app->plain_end : app->guarded_end) - (const char *)image->bytes);
	rc = open_copy(image);
	if (rc == 0)
		rc = take_table(image, port);
	if (rc != 0) {
		sim_dpa_image_unload(image);
		return rc;
	}
	*ret_image = image;
	return 0;
}

void sim_dpa_image_unload(struct sim_dpa_image *image)
{
	if (!image)
		return;
	if (image->object) {
		sim_loader_lock();
		dlclose(image->object);
		sim_loader_unlock();
	}
	free(image);
}

/* ---- what it has ---- */

static const struct sim_dpa_kernel *find_by_name(const struct sim_dpa_image *image, const char *name)
{
	for (const struct sim_dpa_kernel *const *at = image->table->kernels; at < image->table->kernels_end; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

const struct sim_dpa_kernel *sim_dpa_image_find_kernel(const struct sim_dpa_image *image, const void *stub)
{
	for (uint32_t i = 0; i < image->app->num_kernels; i++)
		if (image->app->kernels[i].stub == stub)
			return find_by_name(image, image->app->kernels[i].name);
	return NULL;
}

const char *sim_dpa_image_name(const struct sim_dpa_image *image)
{
	return image->app->name;
}

bool sim_dpa_image_is_guarded(const struct sim_dpa_image *image)
{
	return image->is_guarded;
}

bool sim_dpa_image_has_feature(const struct sim_dpa_image *image, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = image->app->attributes; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, name, len) == 0 && (at[len] == '\n' || at[len] == 0))
			return true;
	return false;
}
