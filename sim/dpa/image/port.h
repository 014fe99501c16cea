/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/dpa/image/port.h - the border between a DPA image and the simulator. Both sides include this header.
 *
 *   host process                                  image (device code, made by dpacc, loaded by image.h)
 *   simulator --- struct sim_dpa_port ----------> bfsim_dpa_image.port: device libraries call the simulator
 *             <-- struct sim_dpa_image_table ---- bfsim_dpa_image: kernels, to pack arguments and to run
 *             --- struct sim_dpa_thread --------> ranges that the guard functions of the image allow
 *
 * An image is a shared object without undefined symbols: it shares no function and no variable with the program. Its one
 * exported symbol is bfsim_dpa_image. Device code is compiled with hooks at each access and each basic block. The hooks find
 * the struct sim_dpa_thread of the calling thread at a fixed distance from the thread pointer (*thread_offset). A
 * thread that runs no kernel has none, and is not checked: as it packs arguments.
 *
 * Handles are numbers of 64 bits that the simulator gives out and checks; map handles have 32 bits. Pointers that cross the
 * port are checked by the device library before (sim_dpa_guard in shim/dpa_dev), so the simulator may use them.
 *
 * The header is for freestanding code too. A change of a struct raises SIM_DPA_PORT_VERSION.
 */
#ifndef SIM_DPA_PORT_H
#define SIM_DPA_PORT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_DPA_PORT_VERSION 4

/* Memory that a kernel may use. An empty range has begin = end. */
struct sim_dpa_range {
	uintptr_t begin, end;
	bool is_writable;
};

enum { SIM_DPA_KNOWN_RANGES = 4 };

/* An access to the heap or a window, to another line of 64 bytes than the one before, counts as so many accesses more. */
#define SIM_DPA_LINE_ACCESSES 24

/* An access of up to so many bytes is allowed by one comparison with @fast_bytes. */
enum { SIM_DPA_FAST_ACCESS = 16 };

/* What the guard functions read at each access and each basic block. Only the thread itself writes it, but for @orders and
 * @check_at. */
struct sim_dpa_thread {
	uintptr_t fast_begin; /* of @known[0] */
	uintptr_t fast_bytes
		[2]; /* from there, where accesses may begin that are as long as SIM_DPA_FAST_ACCESS: loads, stores */
	struct sim_dpa_range stack;                       /* of the kernel that runs */
	struct sim_dpa_range data;                        /* the image: globals and constants */
	struct sim_dpa_range known[SIM_DPA_KNOWN_RANGES]; /* found by find_range() lately */
	unsigned next_known;                              /* the one to replace */
	/* Executed so far: the thread's own time; never set back by the image. Loads and stores have a counter each: an addition in
	 * memory waits for the one before. */
	uint64_t blocks, accesses[2];
	unsigned orders; /* SIM_DPA_ORDER_*, set by any thread, taken at the next block; atomic */
	unsigned reserved;
	uintptr_t caller; /* of the device library's function that calls the port: where the kernel is */
	void *user;       /* of the execution layer */
	uint64_t
		check_at; /* the number of @blocks at which the image calls block() next; 0 when there are orders; atomic */
	uintptr_t line; /* the number of the line of the last access to the heap or a window */
};

enum {
	SIM_DPA_ORDER_STOP = 1,   /* end the kernel */
	SIM_DPA_ORDER_FORGET = 2, /* forget the known ranges: memory was freed */
};

/* Fields of a completion element. */
enum sim_dpa_element_field {
	SIM_DPA_ELEMENT_TYPE,
	SIM_DPA_ELEMENT_USER_DATA,
	SIM_DPA_ELEMENT_IMMEDIATE,
	SIM_DPA_ELEMENT_WR_INDEX,
	SIM_DPA_ELEMENT_TIMESTAMP,
	SIM_DPA_ELEMENT_OPCODE,
	SIM_DPA_ELEMENT_SRQ,
};

/* Flags of posts: the values of the device API. */
enum {
	SIM_DPA_POST_FLUSH = 1,
	SIM_DPA_POST_OPTIMIZE_REPORTS = 2,
};

enum sim_dpa_compare { SIM_DPA_GREATER, SIM_DPA_NOT_EQUAL };

enum sim_dpa_rdma_op {
	SIM_DPA_RDMA_SEND,
	SIM_DPA_RDMA_SEND_IMM,
	SIM_DPA_RDMA_WRITE,
	SIM_DPA_RDMA_WRITE_IMM,
	SIM_DPA_RDMA_READ,
	SIM_DPA_RDMA_FETCH_ADD,
};

/* A range of a map. */
struct sim_dpa_span {
	uint32_t map;
	uint64_t addr;
	uint64_t len;
};

struct sim_dpa_rdma_post {
	enum sim_dpa_rdma_op op;
	uint32_t connection;
	struct sim_dpa_span dst, src; /* a send has no @dst, a fetch-add no @src */
	uint64_t value;               /* of a fetch-add; the immediate of an operation that has one */
	uint32_t flags;               /* SIM_DPA_POST_* */
};

/* A copy by a message-queue producer: the bytes, then a message to the consumer. */
struct sim_dpa_producer_copy {
	uint32_t consumer_id;
	struct sim_dpa_span dst, src; /* both have the length */
	const uint8_t *imm;
	uint32_t imm_bytes;
	uint32_t flags;
};

/* What device code asks the simulator for. A NULL entry: the device library ends the kernel with a sentence that names
 * the device function. Functions run on the thread of the kernel; those that say so do not return. */
struct sim_dpa_port {
	uint32_t version;  /* SIM_DPA_PORT_VERSION */
	uint32_t reserved; /* 0 */

	/* Guard: set by the loader, not by the execution layer. @pc is the place of the access. */
	void (*access)(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
		       uintptr_t pc);                               /* slow path */
	void (*block)(struct sim_dpa_thread *thread, uintptr_t pc); /* at @check_at */
	void (*fatal)(const char *text) __attribute__((noreturn));  /* the device code can't go on */

	/* Threads */
	void (*log)(unsigned level, const char *text); /* one line, level of the API, no newline at the end */
	void (*trace)(const uint64_t values[5]);
	void (*trace_flush)(void);
	unsigned (*thread_rank)(void);
	unsigned (*num_threads)(void);
	uint64_t (*thread_local_storage)(void); /* a heap address; 0 = none */
	void (*thread_reschedule)(void) __attribute__((noreturn));
	void (*thread_finish)(void) __attribute__((noreturn));
	void (*yield)(void);
	void (*thread_notify)(uint64_t notification);
	void (*device_set)(uint64_t device);

	/* Completions. take: returns 1 and an element, or 0. */
	int (*completion_take)(uint64_t completion, uint64_t *ret_element);
	uint64_t (*completion_element)(uint64_t element, enum sim_dpa_element_field field);
	void (*completion_ack)(uint64_t completion, uint64_t num);
	void (*completion_arm)(uint64_t completion);

	/* Maps, asynchronous operations */
	uint64_t (*map_pointer)(uint32_t map, uint64_t addr); /* an address for loads and stores; 0 = none */
	void (*async_copy)(uint64_t async, const struct sim_dpa_span *dst, const struct sim_dpa_span *src,
			   uint32_t flags);
	void (*async_wait)(uint64_t async, uint64_t event, enum sim_dpa_compare compare, uint64_t value);

	/* Sync events */
	uint64_t (*event_get)(uint64_t event);
	void (*event_set)(uint64_t event, uint64_t value);
	void (*event_add)(uint64_t event, uint64_t value);
	void (*event_wait_greater)(uint64_t event, uint64_t value, uint64_t mask);

	/* Hash tables. find: returns 1 and the value, or 0. */
	void (*hash_add)(uint64_t table, uint32_t key, uint64_t value);
	int (*hash_find)(uint64_t table, uint32_t key, uint64_t *ret_value);
	void (*hash_remove)(uint64_t table, uint32_t key);

	/* Ends of message queues. The immediate stays valid until the completion is acknowledged. */
	int (*consumer_take)(uint64_t completion, uint64_t *ret_element);
	const uint8_t *(*consumer_element_imm)(uint64_t element, uint32_t *ret_bytes);
	uint32_t (*consumer_element_producer)(uint64_t element);
	void (*consumer_completion_ack)(uint64_t completion, uint64_t num);
	void (*consumer_completion_arm)(uint64_t completion);
	void (*consumer_ack)(uint64_t consumer, uint32_t num);
	int (*producer_is_consumer_empty)(uint64_t producer, uint32_t consumer_id);
	void (*producer_send)(uint64_t producer, uint32_t consumer_id, const uint8_t *imm, uint32_t imm_bytes,
			      uint32_t flags);
	void (*producer_copy)(uint64_t producer, const struct sim_dpa_producer_copy *copy);

	/* RDMA */
	void (*rdma_post)(uint64_t rdma, const struct sim_dpa_rdma_post *post);
	void (*rdma_receive)(uint64_t rdma, const struct sim_dpa_span *dst);
	void (*rdma_receive_ack)(uint64_t rdma, uint32_t num);
	void (*rdma_signal)(uint64_t rdma, uint32_t connection, uint64_t event, bool is_add, uint64_t value);

	/* Windows and clocks */
	void (*window_invalidate)(void);
	void (*window_writeback)(void);
	uint64_t (*cycles)(void);
	uint64_t (*instructions)(void);
	uint64_t (*time_us)(void);
};

/* A kernel of an image. Arguments travel as a block of @args_bytes (a multiple of 8): each one aligned to 8 bytes. */
struct sim_dpa_kernel {
	const char *name;
	bool is_rpc; /* returns a value */
	size_t args_bytes;
	void (*pack)(void *args, va_list *list); /* on any thread: arguments of a variadic call into the block */
	uint64_t (*run)(const void *args);       /* on a guarded thread; 0 of a kernel that returns nothing */
};

/* The exported object of an image. */
struct sim_dpa_image_table {
	uint32_t version; /* SIM_DPA_PORT_VERSION */
	const struct sim_dpa_kernel *const *kernels, *const *kernels_end;
	const struct sim_dpa_port **port; /* where the image looks for its port */
	/* The distance from the thread pointer to the pointer to the calling thread's struct sim_dpa_thread. 0 up to the end of the
	 * load: hooks of constructors that the compiler made find no thread then. */
	intptr_t *thread_offset;
};

/* What APP points to in the host program: written by dpacc into the archive. */
struct sim_dpa_app_kernel {
	const void *stub; /* the host function that stands for the kernel */
	const char *name;
};

struct sim_dpa_app {
	uint64_t magic;   /* SIM_DPA_APP_MAGIC */
	uint32_t version; /* SIM_DPA_PORT_VERSION */
	uint32_t num_kernels;
	const char *name;
	const void *guarded_image, *guarded_end; /* bytes of a shared object */
	const void *plain_image, *plain_end;
	const struct sim_dpa_app_kernel *kernels;
	const char *attributes; /* names of features, a line each */
};

#define SIM_DPA_APP_MAGIC UINT64_C(0x6266735f64706131)

#endif
