/* SPDX-License-Identifier: BSD-3-Clause */
#include "vclock_sched.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "participant.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"

#define NAP_NS UINT64_C(1000000)    /* of who polls and may not look */
#define CHECK_NS UINT64_C(50000000) /* of who sleeps: how often it looks after the busy ones */

/* A thread that drives progress engines. */
struct driver {
	struct sim_turns *turns;
	struct sim_seat seat;
	struct sim_turn *first;  /* its engines */
	struct sim_seat_watch watch;
	/* The sleeper: a thread that waits for the seat's turn in its stead. */
	pthread_cond_t changed;
	pthread_t sleeper;
	bool started, stop, asleep;
	struct driver *next;
};

struct sim_turns {
	struct sim_clock *clock;
	struct sim_clock_page *page;
	bool first;
	pthread_key_t key;       /* the thread's driver */
	pthread_mutex_t lock;    /* protects all drivers and which turn is whose; the page's is taken inside it */
	struct driver *drivers;
	uint32_t num_turns;
	bool warned, over;
};

struct sim_turn {
	struct sim_turns *turns;
	_Atomic(struct driver *) driver; /* that called last; NULL = its thread has ended; written under the lock */
	uint64_t next_ns;        /* when it has something to do, as it said when it last looked; 0 = it is to look */
	uint64_t seen;           /* messages that had been sent when it last looked, or was offered to */
	atomic_bool news;        /* its thread is going to be woken for it */
	bool asleep;
	void (*wake)(void *arg);
	void *arg;
	struct sim_turn *next;   /* of the driver's */
};

/* ---- threads that drive ---- */

static void stop_sleeper(struct driver *driver)
{
	bool started = driver->started;

	driver->stop = true;
	driver->started = false;
	pthread_cond_signal(&driver->changed);
	pthread_mutex_unlock(&driver->turns->lock);
	if (started) {
		sim_seat_wake(&driver->seat);
		pthread_join(driver->sleeper, NULL);
	}
	pthread_mutex_lock(&driver->turns->lock);
}

/* Under the lock, which is given up in between. */
static void driver_free(struct driver *driver)
{
	struct driver **link = &driver->turns->drivers;

	while (*link != driver)
		link = &(*link)->next;
	*link = driver->next;
	for (struct sim_turn *turn = driver->first; turn; turn = turn->next)
		turn->driver = NULL;
	driver->first = NULL;
	stop_sleeper(driver);
	sim_seat_leave(&driver->seat);
	pthread_cond_destroy(&driver->changed);
	free(driver);
}

/* Its thread ends. */
static void driver_ends(void *arg)
{
	struct driver *driver = arg;
	struct sim_turns *turns = driver->turns;

	pthread_mutex_lock(&turns->lock);
	driver_free(driver);
	pthread_mutex_unlock(&turns->lock);
}

static struct driver *driver_new(struct sim_turns *turns)
{
	struct driver *driver = calloc(1, sizeof(*driver));

	if (!driver)
		return NULL;
	driver->turns = turns;
	pthread_cond_init(&driver->changed, NULL);
	if (pthread_setspecific(turns->key, driver) != 0) {
		free(driver);
		return NULL;
	}
	driver->next = turns->drivers;
	turns->drivers = driver;
	return driver;
}

/* ---- which engine is whose; under the lock ---- */

static void unbind(struct sim_turn *turn)
{
	struct driver *driver = turn->driver;
	struct sim_turn **link;

	if (!driver)
		return;
	for (link = &driver->first; *link != turn; link = &(*link)->next)
		;
	*link = turn->next;
	turn->driver = NULL;
	if (!driver->first)
		sim_seat_leave(&driver->seat);
}

/* The turn is the calling thread's. False: there is no memory or no seat for it; then time does not wait for it, and
 * goes on when it says so. */
static bool bind(struct sim_turn *turn)
{
	struct sim_turns *turns = turn->turns;
	struct driver *driver;

	if (turns->over)
		return false;
	driver = pthread_getspecific(turns->key);
	if (!driver)
		driver = driver_new(turns);
	if (!driver)
		return false;
	if (turn->driver != driver) {
		unbind(turn);
		turn->driver = driver;
		turn->next = driver->first;
		driver->first = turn;
	}
	if (!sim_seat_is_ours(&driver->seat)) /* also: it was taken for left, and another sits there */
		return sim_seat_take(&driver->seat, turns->page, turns->first) == 0;
	return true;
}

/* ---- life ---- */

int sim_turns_create(struct sim_clock *clock, bool first, struct sim_turns **ret_turns)
{
	struct sim_turns *turns = calloc(1, sizeof(*turns));

	if (!turns)
		return -ENOMEM;
	turns->clock = clock;
	turns->page = sim_clock_page(clock);
	turns->first = first;
	if (pthread_key_create(&turns->key, driver_ends) != 0) {
		free(turns);
		return -ENOMEM;
	}
	pthread_mutex_init(&turns->lock, NULL);
	*ret_turns = turns;
	return 0;
}

static void turns_free(struct sim_turns *turns)
{
	pthread_mutex_destroy(&turns->lock);
	free(turns);
}

void sim_turns_destroy(struct sim_turns *turns)
{
	bool in_use;

	if (!turns)
		return;
	pthread_key_delete(turns->key);
	pthread_mutex_lock(&turns->lock);
	turns->over = true;
	while (turns->drivers)
		driver_free(turns->drivers);
	in_use = turns->num_turns > 0;
	pthread_mutex_unlock(&turns->lock);
	if (!in_use) /* else with the last of them */
		turns_free(turns);
}

void sim_turns_abandon(struct sim_turns *turns)
{
	if (turns)
		pthread_key_delete(turns->key);
}

int sim_turn_begin(struct sim_turns *turns, void (*wake)(void *arg), void *arg, struct sim_turn **ret_turn)
{
	struct sim_turn *turn = calloc(1, sizeof(*turn));

	if (!turn)
		return -ENOMEM;
	turn->turns = turns;
	turn->wake = wake;
	turn->arg = arg;
	pthread_mutex_lock(&turns->lock);
	turns->num_turns++;
	bind(turn);
	pthread_mutex_unlock(&turns->lock);
	*ret_turn = turn;
	return 0;
}

void sim_turn_end(struct sim_turn *turn)
{
	struct sim_turns *turns;
	bool last;

	if (!turn)
		return;
	turns = turn->turns;
	pthread_mutex_lock(&turns->lock);
	unbind(turn);
	last = --turns->num_turns == 0 && turns->over;
	pthread_mutex_unlock(&turns->lock);
	free(turn);
	if (last)
		turns_free(turns);
}

/* ---- being busy, looking ---- */

/* The calling thread's seat, or NULL. */
static struct driver *drive(struct sim_turn *turn)
{
	struct driver *driver = turn->driver;
	bool bound = true;

	if (!driver || driver != pthread_getspecific(turn->turns->key) || !sim_seat_is_ours(&driver->seat)) {
		pthread_mutex_lock(&turn->turns->lock);
		bound = bind(turn);
		driver = turn->driver;
		pthread_mutex_unlock(&turn->turns->lock);
	}
	if (!bound)
		return NULL;
	sim_seat_note_call(&driver->seat);
	return driver;
}

static void be_busy(struct driver *driver)
{
	if (sim_seat_state(&driver->seat) != SIM_SEAT_BUSY)
		sim_seat_be_busy(&driver->seat);
}

void sim_turn_hand_in(struct sim_turn *turn)
{
	struct driver *driver = drive(turn);

	turn->next_ns = 0;
	if (driver)
		be_busy(driver);
}

static bool is_dead(uint64_t owner)
{
	return kill((pid_t)(owner >> 32), 0) < 0 && errno == ESRCH;
}

static void warn_once(struct sim_turns *turns, uint64_t owner)
{
	bool warned;

	if (is_dead(owner))
		return;
	pthread_mutex_lock(&turns->lock);
	warned = turns->warned;
	turns->warned = true;
	pthread_mutex_unlock(&turns->lock);
	if (!warned)
		sim_warn("virtual time no longer waits for process %u, which has not called bfsim for %d ms while others wait: from here on the run is not repeatable; have it poll its progress engine, or stop its contexts before it sleeps",
			 (unsigned int)(owner >> 32), SIM_TURNS_PATIENCE_MS);
}

/* Whether somebody is busy. */
static bool look_after(struct sim_turns *turns, const struct sim_seat *seat, struct sim_seat_watch *watch)
{
	uint64_t lost;
	bool busy = sim_seat_look_after(seat, watch, &lost);

	if (lost)
		warn_once(turns, lost);
	return busy;
}

bool sim_turn_may_look(struct sim_turn *turn)
{
	struct driver *driver = drive(turn);

	turn->news = false;
	if (!driver || sim_seat_state(&driver->seat) == SIM_SEAT_BUSY)
		return true;
	if (look_after(driver->turns, &driver->seat, &driver->watch))
		sim_seat_nap(&driver->seat, NAP_NS);
	return sim_seat_try_busy(&driver->seat); /* looking without the lock can miss who is busy */
}

/* ---- waiting ---- */

/* Whether the thread's other engines have something to do that they were not offered yet;
 * *wake_ns is lowered to when they have. Under the lock. */
static bool offer_to_others(struct sim_turn *turn, uint64_t now_ns, uint64_t *wake_ns)
{
	bool offered = false;

	for (struct sim_turn *other = turn->driver->first; other; other = other->next) {
		if (other == turn)
			continue;
		if (other->news || other->seen != turn->seen || other->next_ns <= now_ns) {
			offered = true;
			other->seen = turn->seen;
			if (other->next_ns <= now_ns)
				other->next_ns = SIM_CLOCK_NEVER_NS;
		}
		if (other->next_ns < *wake_ns)
			*wake_ns = other->next_ns;
	}
	return offered;
}

/* Better late than never: it goes on, if out of order. */
static bool wait_without_seat(struct sim_turns *turns, uint64_t wake_ns)
{
	if (wake_ns == SIM_CLOCK_NEVER_NS)
		return false;
	if (!turns->over)
		sim_seat_force(turns->page, wake_ns);
	return !turns->over;
}

bool sim_turn_wait(struct sim_turn *turn, uint64_t wake_ns)
{
	struct driver *driver = drive(turn);
	struct sim_turns *turns = turn->turns;
	uint64_t wake_of_all_ns = wake_ns;
	bool others;

	if (!driver)
		return wait_without_seat(turns, wake_ns);
	pthread_mutex_lock(&turns->lock);
	turn->next_ns = wake_ns;
	if (sim_seat_state(&driver->seat) != SIM_SEAT_WAITING) /* else it has not looked since it began to wait */
		turn->seen = atomic_load_explicit(&turns->page->sent, memory_order_acquire);
	others = offer_to_others(turn, sim_clock_now_ns(turns->clock), &wake_of_all_ns);
	pthread_mutex_unlock(&turns->lock);
	if (others) {
		be_busy(driver);
		return false;
	}
	return sim_seat_wait(&driver->seat, wake_of_all_ns, turn->seen) && wake_ns <= sim_clock_now_ns(turns->clock);
}

/* What it does is seen at the time at which others have brought it, as without a seat. */
static void nap_without_seat(void)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	nanosleep(&nap, NULL);
}

void sim_turn_wait_alone(struct sim_turn *turn)
{
	struct driver *driver = drive(turn);

	if (!driver) {
		nap_without_seat();
		return;
	}
	pthread_mutex_lock(&turn->turns->lock);
	if (sim_seat_state(&driver->seat) != SIM_SEAT_WAITING)
		turn->seen = atomic_load_explicit(&turn->turns->page->sent, memory_order_acquire);
	pthread_mutex_unlock(&turn->turns->lock);
	if (!sim_seat_wait(&driver->seat, SIM_CLOCK_NEVER_NS, turn->seen))
		sim_seat_nap(&driver->seat, NAP_NS);
}

bool sim_turn_is_called(const struct sim_turn *turn)
{
	return atomic_load_explicit(&turn->turns->page->sent, memory_order_acquire) != turn->seen;
}

void sim_turns_sent(struct sim_turns *turns)
{
	atomic_fetch_add_explicit(&turns->page->sent, 1, memory_order_release);
}

void sim_turns_block(struct sim_turns *turns)
{
	struct driver *driver = pthread_getspecific(turns->key);

	if (driver && sim_seat_is_ours(&driver->seat))
		sim_seat_be_left(&driver->seat);
}

/* ---- sleeping ---- */

static void wake_all(struct driver *driver)
{
	for (struct sim_turn *turn = driver->first; turn; turn = turn->next) {
		if (turn->asleep) {
			turn->asleep = false;
			turn->news = true;
			turn->wake(turn->arg);
		}
	}
}

static void *sleeper_thread(void *arg)
{
	struct driver *driver = arg;
	struct sim_turns *turns = driver->turns;
	struct sim_seat_watch watch = {0};

	pthread_mutex_lock(&turns->lock);
	while (!driver->stop) {
		const struct sim_seat seat = driver->seat; /* its thread may leave it meanwhile */

		if (!driver->asleep || !sim_seat_is_ours(&seat)) {
			driver->asleep = false;
			pthread_cond_wait(&driver->changed, &turns->lock);
			continue;
		}
		if (sim_seat_state(&seat) != SIM_SEAT_WAITING) {
			driver->asleep = false;
			wake_all(driver);
			continue;
		}
		pthread_mutex_unlock(&turns->lock);
		look_after(turns, &seat, &watch);
		sim_seat_nap(&seat, CHECK_NS);
		pthread_mutex_lock(&turns->lock);
	}
	pthread_mutex_unlock(&turns->lock);
	return NULL;
}

/* Under the lock. */
static void have_sleeper(struct driver *driver)
{
	int rc;

	if (driver->started)
		return;
	rc = sim_thread_start(&driver->sleeper, "bfsim-clock", sleeper_thread, driver);
	driver->started = rc == 0;
	if (rc < 0)
		sim_err("cannot start a thread that waits for virtual time (error %d): poll the progress engine, or raise the limit of threads",
			-rc);
}

void sim_turn_sleep(struct sim_turn *turn, bool news)
{
	struct driver *driver = drive(turn);

	turn->news = news;
	if (!driver || news)
		return;
	pthread_mutex_lock(&turn->turns->lock);
	have_sleeper(driver);
	turn->asleep = true;
	driver->asleep = true;
	pthread_cond_signal(&driver->changed);
	pthread_mutex_unlock(&turn->turns->lock);
}

void sim_turn_rouse(struct sim_turn *turn)
{
	pthread_mutex_lock(&turn->turns->lock);
	turn->asleep = false;
	turn->news = false;
	pthread_mutex_unlock(&turn->turns->lock);
}
