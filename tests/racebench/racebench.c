/* SPDX-License-Identifier: BSD-3-Clause */
/* racebench: lists the programs as "NAME GROUP PROCESSES", or runs one. "racebench NAME NAME ..." runs each in a child process:
 * the start of a program under a sanitizer or valgrind takes longer than most of them. */
#include "racebench.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct racebench_program *const tables[] = { dma_programs,   engine_programs, order_programs,
							  graph_programs, sync_programs,   import_programs,
							  agree_programs, comch_programs,  rdma_programs };

/* ---- the programs' helpers ---- */

void racebench_use(bool is_right)
{
	if (is_right)
		return;
	fprintf(stderr, "racebench: wrong data\n");
	exit(1);
}

struct rig *racebench_rig(void)
{
	return rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = RACEBENCH_ARENA }));
}

static struct doca_buf *chain(struct doca_buf *head, struct doca_buf *tail)
{
	MUST(doca_buf_chain_list(head, tail));
	return head;
}

struct doca_task *racebench_task(struct rig *rig, const struct racebench_args *args, uint64_t number, size_t to,
				 size_t from)
{
	size_t half = args->len / 2;

	if (!args->is_list)
		return rig_task(rig, number, rig_src(rig, from, args->len), rig_dst(rig, to, args->len));
	return rig_task(rig, number, chain(rig_src(rig, from, half), rig_src(rig, from + half, half)),
			chain(rig_dst(rig, to, half), rig_dst(rig, to + half, half)));
}

void racebench_copy(struct rig *rig, const struct racebench_args *args, uint64_t number, size_t to, size_t from)
{
	MUST(doca_task_submit(racebench_task(rig, args, number, to, from)));
}

void racebench_finish(struct rig *rig)
{
	rig_drain(rig);
	rig_close(rig);
}

/* ---- touches ---- */

struct thread_call {
	void (*function)(void *arg);
	void *arg;
};

static void *run_thread(void *arg)
{
	const struct thread_call *call = arg;

	call->function(call->arg);
	return NULL;
}

void racebench_in_thread(void (*function)(void *arg), void *arg)
{
	struct thread_call call = { function, arg };
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run_thread, &call) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
}

struct touch {
	struct rig *rig;
	const struct racebench_args *args;
	size_t area, from;
};

/* Without a look at the byte: the thread sanitizer remembers the last four accesses. */
static void write_byte(void *arg)
{
	const struct touch *touch = arg;

	touch->rig->arena[touch->area + touch->args->at] = rig_byte(touch->area + touch->args->at) ^ 0x55;
}

static void read_bytes(void *arg)
{
	const struct touch *touch = arg;

	racebench_use(rig_was_copied(touch->rig, touch->area, touch->from, touch->args->len));
}

static void do_touch(struct touch *touch, void (*function)(void *arg))
{
	if (touch->args->in_other_thread)
		racebench_in_thread(function, touch);
	else
		function(touch);
}

void racebench_write(struct rig *rig, const struct racebench_args *args, size_t area)
{
	do_touch(&(struct touch){ rig, args, area, 0 }, write_byte);
}

void racebench_read(struct rig *rig, const struct racebench_args *args, size_t area, size_t from)
{
	do_touch(&(struct touch){ rig, args, area, from }, read_bytes);
}

/* ---- the command ---- */

static void list(void)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (const struct racebench_program *program = tables[i]; program->name; program++)
			printf("%s %s %u\n", program->name, program->group, program->num_processes);
}

static void run_program(const struct racebench_program *program)
{
	struct rig *rig;

	if (program->run) {
		program->run(&program->args);
		return;
	}
	rig = racebench_rig();
	program->run_in_rig(rig, &program->args);
	racebench_finish(rig);
}

/* Returns the exit status. */
static int run(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		for (const struct racebench_program *program = tables[i]; program->name; program++)
			if (strcmp(name, program->name) == 0) {
				run_program(program);
				return 0;
			}
	fprintf(stderr, "racebench: there is no program %s; without arguments, racebench lists them\n", name);
	return 2;
}

static void run_in_child(const char *name)
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (pid == 0)
		exit(run(name));
	CHECK(waitpid(pid, &status, 0) == pid);
	fprintf(stderr, "racebench: end of %s: %d\n", name,
		WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

int main(int argc, char **argv)
{
	if (argc < 2)
		list();
	if (argc == 2)
		return run(argv[1]);
	for (int i = 1; i < argc; i++)
		run_in_child(argv[i]);
	return 0;
}
