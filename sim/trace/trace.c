/* SPDX-License-Identifier: BSD-3-Clause */
/* Begin and end of the recording, its level and its memory.
 *
 * Task statistics and threads may hold addresses in the memory at any time, without a lock. So the address
 * range stays mapped. At the end of a recording, and in a forked child, private memory replaces
 * the segment there and takes late writes. The next recording's segment replaces that memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "recording.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/shm/segment.h"
#include "recording.h"
#include "trace_priv.h"

#define self sim_trace_self

static const char *const levels[] = { [SIM_TRACE_UNSET] = "unset",
				      [SIM_TRACE_OFF] = "off",
				      [SIM_TRACE_SAMPLED] = "sampled",
				      [SIM_TRACE_FULL] = "full",
				      [SIM_TRACE_COUNTS] = "counts" };

int sim_trace_level_parse(const char *text, enum sim_trace_level *ret_level)
{
	for (int i = SIM_TRACE_OFF; i <= SIM_TRACE_FULL; i++) {
		if (strcmp(text, levels[i]) == 0) {
			*ret_level = (enum sim_trace_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *sim_trace_level_name(uint32_t level)
{
	return level <= SIM_TRACE_COUNTS ? levels[level] : "unknown";
}

static enum sim_trace_level resolve_level(enum sim_trace_level level)
{
	const char *wanted = getenv("BFSIM_TRACE");

	if (wanted && wanted[0] && sim_trace_level_parse(wanted, &level) < 0)
		return SIM_TRACE_UNSET;
	return level == SIM_TRACE_OFF || level == SIM_TRACE_FULL || level == SIM_TRACE_COUNTS ? level :
												SIM_TRACE_SAMPLED;
}

/* The rings are sparse: the kernel allocates pages when they are written. */
static struct sim_trace_head make_head(enum sim_trace_level level)
{
	return (struct sim_trace_head){ .magic = SIM_TRACE_MAGIC,
					.level = level,
					.num_names = 512,
					.num_objects = 1024,
					.num_ops = 1024,
					.num_threads = 64,
					.num_rings = SIM_TRACE_RING_THREADS + 16,
					.num_records = level == SIM_TRACE_FULL ? 32768 : 4096,
					.pid = getpid(),
					.began_ns = sim_monotonic_ns() };
}

/* ---- memory ---- */

static int map_discard_memory(void)
{
	void *at = mmap(self.memory, self.bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (self.memory ? MAP_FIXED : 0), -1, 0);

	if (at == MAP_FAILED)
		return -errno;
	self.memory = at;
	return 0;
}

/* Reserve an address range of @bytes. A smaller range, of another level, stays mapped and unused. */
static int reserve_memory(size_t bytes)
{
	int rc;

	if (self.memory && self.bytes >= bytes)
		return 0;
	self.memory = NULL;
	self.bytes = bytes;
	rc = map_discard_memory();
	if (rc < 0)
		self.bytes = 0;
	return rc;
}

static int map_segment(size_t bytes, int *ret_fd)
{
	struct sim_segment segment;
	int rc = reserve_memory(bytes);
	int fd;

	if (rc == 0)
		rc = sim_segment_create(bytes, &segment, &fd);
	if (rc < 0)
		return rc;
	sim_segment_unmap(&segment);
	if (mmap(self.memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

/* ---- open objects ---- */

static _Atomic int num_open[SIM_TRACE_NUM_OPEN];

/* A forked child destroys objects that it has not created. */
static uint32_t load_open(enum sim_trace_open what)
{
	int count = atomic_load(&num_open[what]);

	return count > 0 ? (uint32_t)count : 0;
}

static void store_open(struct sim_trace_head *head)
{
	for (int what = 0; what < SIM_TRACE_NUM_OPEN; what++)
		atomic_store(&head->num_open[what], load_open((enum sim_trace_open)what));
}

void sim_trace_count_open(enum sim_trace_open what, int by)
{
	atomic_fetch_add(&num_open[what], by);
	pthread_mutex_lock(&self.lock);
	if (sim_trace_is_on())
		atomic_store(&((struct sim_trace_head *)self.memory)->num_open[what], load_open(what));
	pthread_mutex_unlock(&self.lock);
}

void sim_trace_path_used(const char *name)
{
	enum sim_trace_path path = sim_trace_path_of_name(name);

	pthread_mutex_lock(&self.lock);
	if (sim_trace_is_on() && path < SIM_TRACE_NUM_PATHS)
		atomic_fetch_or(&((struct sim_trace_head *)self.memory)->paths, 1u << path);
	pthread_mutex_unlock(&self.lock);
}

/* ---- begin and end ---- */

static int start_recording(enum sim_trace_level level, const struct sim_trace_clock *clock, int *ret_fd)
{
	struct sim_trace_head head = make_head(level);
	struct sim_trace_layout layout = sim_trace_layout_of(&head);
	uint64_t token;
	int rc;

	if (getrandom(&token, sizeof(token), 0) != sizeof(token))
		return -EIO;
	rc = map_segment(layout.end, ret_fd);
	if (rc < 0)
		return rc;
	self.head = head;
	self.layout = layout;
	self.token = token & ~UINT64_C(1);
	self.used_names = self.used_objects = self.used_ops = 0;
	self.used_threads = 0;
	sim_trace_set_clock(clock);
	memcpy(self.memory, &head, sizeof(head));
	store_open((void *)self.memory);
	atomic_fetch_add(&self.epoch, 1);
	atomic_store_explicit(&self.on, true, memory_order_release);
	sim_log_set_recorder(sim_trace_log); /* does nothing when the recording has ended */
	return 0;
}

int sim_trace_begin(enum sim_trace_level level, const struct sim_trace_clock *clock, int *ret_fd)
{
	int rc;

	level = resolve_level(level);
	if (level == SIM_TRACE_UNSET) /* $BFSIM_TRACE is no level */
		return -EINVAL;
	if (level == SIM_TRACE_OFF)
		return -ENOENT;
	pthread_mutex_lock(&self.lock);
	rc = sim_trace_is_on() ? -EBUSY : start_recording(level, clock, ret_fd);
	pthread_mutex_unlock(&self.lock);
	return rc;
}

/* If the mapping fails, the segment stays mapped; no reader reads it after the end. */
void sim_trace_end(void)
{
	pthread_mutex_lock(&self.lock);
	if (sim_trace_is_on()) {
		atomic_store(&self.on, false);
		sim_trace_clear_clock();
		map_discard_memory();
	}
	pthread_mutex_unlock(&self.lock);
}

void sim_trace_set_command(uint32_t number)
{
	pthread_mutex_lock(&self.lock);
	if (sim_trace_is_on())
		atomic_store(&((struct sim_trace_head *)self.memory)->command, number);
	pthread_mutex_unlock(&self.lock);
}

int sim_trace_read_own(struct sim_trace_recording *ret_recording)
{
	struct sim_trace_clock clock;
	int rc = -ENOENT;

	pthread_mutex_lock(&self.lock);
	if (sim_trace_is_on()) {
		clock = (struct sim_trace_clock){ .zero_ns = self.zero_ns,
						  .virtual_ns = atomic_load(&self.virtual_ns) };
		rc = sim_trace_recording_read(self.memory, self.layout.end, &clock, ret_recording);
	}
	pthread_mutex_unlock(&self.lock);
	return rc;
}

void sim_trace_forked(void)
{
	for (int what = 0; what < SIM_TRACE_NUM_OPEN; what++)
		atomic_store(&num_open[what], 0);
	pthread_mutex_init(&sim_trace_self.lock, NULL); /* another thread of the parent may have held it */
	atomic_store(&self.num_clock_readers, 0);       /* ... or been reading */
	sim_trace_end();
}
