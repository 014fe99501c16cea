/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/bench/many.h - the frame of the figures of a thousand connections: one server, and ten processes with a hundred clients each.
 *
 *   start the server and the clients --> note memory --> connect all --> note memory --> exchange messages --> note memory
 *
 * A process of clients obeys orders (pair.h): a BENCH_REF_CONNECT makes another connection; a BENCH_REF_MEASURE has each of its
 * connections exchange messages. Functions return 0, or -1 after a message.
 */
#ifndef TESTS_BENCH_MANY_H
#define TESTS_BENCH_MANY_H

#include "pair.h"
#include "process.h"
#include "report.h"

#define BENCH_MANY_PROCESSES   10
#define BENCH_MANY_EACH        100
#define BENCH_MANY_CONNECTIONS (BENCH_MANY_PROCESSES * BENCH_MANY_EACH)
#define BENCH_MANY_SMALL_BYTES 64u

enum bench_many_moment {
	BENCH_MANY_BEFORE,  /* the first connection */
	BENCH_MANY_FRESH,   /* all are connected */
	BENCH_MANY_TRAFFIC, /* all have exchanged messages */
	BENCH_MANY_NUM_MOMENTS,
};

struct bench_many_memory {
	double rss, pss; /* KiB */
};

struct bench_many {
	struct bench_process server, clients[BENCH_MANY_PROCESSES];
	double connect_us[BENCH_MANY_CONNECTIONS];
	struct bench_many_memory of_server[BENCH_MANY_NUM_MOMENTS], of_clients[BENCH_MANY_NUM_MOMENTS];
};

/* This process and its children have no more descriptors than is usual. */
int bench_many_limit_descriptors(void);

/* Fork a process, and wait until it is ready. */
int bench_many_start(struct bench_process *process, int (*run)(void *arg, int fd), void *cfg);
int bench_many_start_clients(struct bench_many *many, int (*run)(void *arg, int fd), void *cfg);

/* Have the process make its next connection. */
int bench_many_connect(const struct bench_process *process, double *ret_us);

/* The next connection of all: @number = 0, 1, ... */
int bench_many_connect_next(struct bench_many *many, unsigned int number);

/* @count messages and answers on each connection of the first process, which has @num_connections: the time of one. */
int bench_many_time_messages(const struct bench_many *many, uint32_t num_connections, uint32_t count, double *ret_us);

/* On each connection 64 small messages, then @count of @bytes. */
int bench_many_exchange(const struct bench_many *many, uint32_t bytes, uint32_t count);

void bench_many_note_memory(struct bench_many *many, enum bench_many_moment moment);

/* Rows of the memory of "KIND connection", and of the last 100 connects against the first. The second sorts the times. */
int bench_many_report_memory(const struct bench_report *report, const struct bench_many *many, const char *kind,
			     enum bench_goal goal);
int bench_many_report_growth(const struct bench_report *report, struct bench_many *many, const char *kind);

int bench_many_end(struct bench_many *many);

/* many_comch.c: the processes of Comch; @arg is a struct bench_comch_cfg. */
int bench_many_serve_comch(void *arg, int fd);
int bench_many_run_comch_clients(void *arg, int fd);

#endif
