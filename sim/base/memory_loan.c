/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes pages accessible, and undoes it. Bare system calls: the program's own wrappers (a sanitizer's, a side's with larger
 * pages) are not for signal handlers. */
#include "memory_loan.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "move.h"
#include "self_maps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define OPEN_PROT       PROT_WRITE          /* of pages without their protection; an emulator wants PROT_READ, too */
#define ZEROS_OFFSET    (UINT64_C(1) << 62) /* of pages of zeros in /dev/zero: this, and their address */
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define MAX_LOANS       64
#define MAX_ASIDES      4  /* ranges of which pages are moved */
#define NUM_LISTS       16 /* threads that have loans at the same time */
#define MAX_TRIES       4

enum kind { HOLE, PROTECTED, MOVED };

/* Neighbours of one kind are one loan. */
struct loan {
	enum kind kind;
	int prot;     /* PROTECTED: before */
	int lent;     /* PROTECTED: meanwhile */
	size_t aside; /* MOVED: its number */
	uintptr_t begin, end;
};

/* Addresses for the program's pages of one range, each at its offset in the range. */
struct aside {
	uintptr_t begin, end; /* of the range */
	uintptr_t at;
	uintptr_t done; /* from @at on: pages are back, or unmapped */
};

struct sim_loans {
	atomic_flag is_used;
	size_t num_loans, num_asides;
	struct loan loans[MAX_LOANS];
	struct aside asides[MAX_ASIDES];
	struct sim_self_maps maps; /* too large for the stack of a handler */
};

/* Not mapped when they are needed: that would be in a hole of the program's. */
static struct sim_loans lists[NUM_LISTS];

static size_t page_bytes(void)
{
	return getauxval(AT_PAGESZ);
}

static uintptr_t round_down(uintptr_t addr, size_t unit)
{
	return addr / unit * unit;
}

static uintptr_t round_up(uintptr_t addr, size_t unit)
{
	return round_down(addr + unit - 1, unit);
}

static struct sim_loans *get_list(void)
{
	for (size_t i = 0;; i = (i + 1) % NUM_LISTS) {
		if (!atomic_flag_test_and_set(&lists[i].is_used)) {
			lists[i].num_loans = lists[i].num_asides = 0;
			return &lists[i];
		}
		if (i == NUM_LISTS - 1)
			sched_yield(); /* others return theirs soon */
	}
}

/* Whether there is room for one more. */
static bool has_room(struct sim_loans **loans)
{
	if (!*loans)
		*loans = get_list();
	return (*loans)->num_loans < MAX_LOANS;
}

static bool is_alike(const struct loan *a, const struct loan *b)
{
	return a->kind == b->kind && a->prot == b->prot && a->lent == b->lent && a->aside == b->aside;
}

static void add(struct sim_loans *loans, const struct loan *loan)
{
	struct loan *last = loans->num_loans > 0 ? &loans->loans[loans->num_loans - 1] : NULL;

	if (last && is_alike(last, loan) && last->end == loan->begin)
		last->end = loan->end;
	else if (last && is_alike(last, loan) && last->begin == loan->end)
		last->begin = loan->begin;
	else
		loans->loans[loans->num_loans++] = *loan;
}

/* 0 = failed, with errno. */
static uintptr_t map(uintptr_t at, size_t len, int prot, int flags, int fd, uint64_t offset)
{
	long mapped = syscall(SYS_mmap, at, len, prot, flags | MAP_PRIVATE | MAP_NORESERVE, fd, offset);

	return mapped == -1 ? 0 : (uintptr_t)mapped;
}

static void unmap(uintptr_t begin, uintptr_t end)
{
	if (end > begin)
		syscall(SYS_munmap, begin, end - begin);
}

static bool move(uintptr_t from, size_t len, uintptr_t to)
{
	return syscall(SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}

/* ---- holes ---- */

/* Returns 0 or -errno: -EEXIST = the program has mapped it meanwhile. */
static int fill_hole(uintptr_t begin, uintptr_t end)
{
	long fd = syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDWR | O_CLOEXEC);
	uintptr_t mapped;
	int rc;

	if (fd < 0)
		return -errno;
	mapped = map(begin, end - begin, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE, (int)fd, ZEROS_OFFSET + begin);
	rc = mapped ? 0 : -errno;
	syscall(SYS_close, fd);
	if (!mapped || mapped == begin)
		return rc;
	unmap(mapped, mapped + (end - begin)); /* a kernel before 4.17 takes the address for a wish */
	return -EEXIST;
}

bool sim_loan_hole(struct sim_loans **loans, const struct sim_loan_at *at)
{
	uintptr_t begin = round_down(at->addr, page_bytes()), end = round_up(at->end, page_bytes());
	int rc;

	if (!has_room(loans))
		return false;
	rc = fill_hole(begin, end);
	if (rc < 0) {
		end = begin + page_bytes();
		rc = fill_hole(begin, end);
	}
	if (rc == 0)
		add(*loans, &(struct loan){ .kind = HOLE, .begin = begin, .end = end });
	return rc == 0 || rc == -EEXIST;
}

/* ---- pages that are replaced ---- */

/* Addresses for @len bytes, not in a hole of the range, which the work may access. 0 = failed. */
static uintptr_t reserve_apart(uintptr_t begin, uintptr_t end, size_t len)
{
	uintptr_t tries[MAX_TRIES] = { 0 }, found = 0;

	for (size_t i = 0; i < MAX_TRIES && !found; i++) {
		tries[i] = map(0, len, PROT_NONE, MAP_ANONYMOUS, -1, 0);
		if (tries[i] && (tries[i] >= end || tries[i] + len <= begin)) {
			found = tries[i];
			tries[i] = 0;
		}
	}
	for (size_t i = 0; i < MAX_TRIES; i++)
		unmap(tries[i], tries[i] ? tries[i] + len : 0);
	return found;
}

/* The number of the range's; MAX_ASIDES = there is no room. @unit: of the pages. */
static size_t get_aside(struct sim_loans *loans, const struct sim_loan_at *at, size_t unit)
{
	uintptr_t begin = round_down(at->begin, unit), end = round_up(at->end, unit), reserved;
	size_t i = 0;

	while (i < loans->num_asides && (loans->asides[i].begin != begin || loans->asides[i].end != end))
		i++;
	if (i < loans->num_asides || i == MAX_ASIDES)
		return i;
	reserved = reserve_apart(begin, end, end - begin + unit);
	if (!reserved)
		return MAX_ASIDES;
	loans->asides[i] = (struct aside){ .begin = begin, .end = end };
	loans->asides[i].at = loans->asides[i].done = round_up(reserved, unit);
	unmap(reserved, loans->asides[i].at);
	unmap(loans->asides[i].at + (end - begin), reserved + (end - begin) + unit);
	loans->num_asides++;
	return i;
}

static uintptr_t aside_of(const struct aside *aside, uintptr_t addr)
{
	return aside->at + (addr - aside->begin);
}

/* Put zeros in the place of the program's page, or a copy. */
static bool lend_replaced(struct sim_loans **loans, const struct sim_loan_at *at, size_t unit, bool copies)
{
	uintptr_t begin = round_down(at->addr, unit), to;
	size_t aside = has_room(loans) ? get_aside(*loans, at, unit) : MAX_ASIDES;

	if (aside == MAX_ASIDES)
		return false;
	to = aside_of(&(*loans)->asides[aside], begin);
	if (!move(begin, unit, to))
		return false;
	add(*loans, &(struct loan){ .kind = MOVED, .aside = aside, .begin = begin, .end = begin + unit });
	if (fill_hole(begin, begin + unit) == 0 && copies)
		sim_move((void *)begin, (const void *)to, unit);
	return true;
}

/* Pages of hugetlbfs can't be moved one by one. */
bool sim_loan_truncated(struct sim_loans **loans, const struct sim_loan_at *at)
{
	return lend_replaced(loans, at, page_bytes(), false) || lend_replaced(loans, at, HUGE_PAGE_BYTES, false);
}

/* ---- protected pages ---- */

/* Returns false without /proc. A mapping that is not there any more is a writable one, for which the access is repeated. */
static bool find_vma(struct sim_self_maps *maps, uintptr_t addr, struct sim_vma *ret_vma)
{
	bool is_found = false;

	if (!sim_self_maps_open(maps))
		return false;
	while (!is_found && sim_self_maps_next(maps, ret_vma) && ret_vma->begin <= addr)
		is_found = ret_vma->end > addr;
	sim_self_maps_close(maps);
	if (!is_found)
		*ret_vma = (struct sim_vma){ .prot = PROT_WRITE };
	return true;
}

/* The page is writable: it is lent, and an emulator refuses to read it, or another thread has changed it. */
static bool let_read(struct sim_loans *loans, uintptr_t addr)
{
	for (size_t i = 0; i < loans->num_loans; i++) {
		struct loan *loan = &loans->loans[i];

		if (loan->kind != PROTECTED || loan->lent != OPEN_PROT || addr < loan->begin || addr >= loan->end)
			continue;
		if (syscall(SYS_mprotect, loan->begin, loan->end - loan->begin, OPEN_PROT | PROT_READ) < 0)
			return false;
		loan->lent = OPEN_PROT | PROT_READ;
		return true;
	}
	return true;
}

bool sim_loan_protected(struct sim_loans **loans, const struct sim_loan_at *at, bool *ret_is_same)
{
	uintptr_t end = round_up(at->end, page_bytes());
	struct sim_vma vma;
	struct loan loan;

	*ret_is_same = true;
	if (!has_room(loans) || !find_vma(&(*loans)->maps, at->addr, &vma))
		return false;
	if (vma.prot & PROT_WRITE)
		return let_read(*loans, at->addr);
	loan = (struct loan){ .kind = PROTECTED,
			      .prot = vma.prot,
			      .lent = OPEN_PROT,
			      .begin = round_down(at->addr, page_bytes()),
			      .end = vma.end < end ? vma.end : end };
	if (syscall(SYS_mprotect, loan.begin, loan.end - loan.begin, OPEN_PROT) == 0) {
		add(*loans, &loan);
		return true;
	}
	*ret_is_same = false; /* of a file that is open for reading, as an example */
	return lend_replaced(loans, at, page_bytes(), vma.prot & PROT_READ);
}

/* ---- the return ---- */

/* What lies aside before these pages is of pages that the program has replaced meanwhile. */
static void move_back(struct aside *aside, uintptr_t begin, uintptr_t end)
{
	uintptr_t from = aside_of(aside, begin);

	unmap(aside->done, from);
	move(from, end - begin, begin);
	aside->done = from + (end - begin);
}

static void undo(struct sim_loans *loans, const struct loan *loan, uintptr_t begin, uintptr_t end)
{
	switch (loan->kind) {
	case HOLE:
		unmap(begin, end);
		break;
	case PROTECTED:
		syscall(SYS_mprotect, begin, end - begin, loan->prot);
		break;
	case MOVED:
		move_back(&loans->asides[loan->aside], begin, end);
		break;
	}
}

static bool is_as_lent(const struct loan *loan, const struct sim_vma *vma)
{
	return loan->kind == PROTECTED ? vma->prot == OPEN_PROT || vma->prot == loan->lent :
					 vma->offset == ZEROS_OFFSET + vma->begin;
}

/* The parts of the loans that lie in the mapping. */
static void undo_in(struct sim_loans *loans, const struct sim_vma *vma)
{
	for (size_t i = 0; i < loans->num_loans; i++) {
		const struct loan *loan = &loans->loans[i];
		uintptr_t begin = loan->begin > vma->begin ? loan->begin : vma->begin;
		uintptr_t end = loan->end < vma->end ? loan->end : vma->end;

		if (begin < end && is_as_lent(loan, vma))
			undo(loans, loan, begin, end);
	}
}

void sim_loans_return(struct sim_loans **loans)
{
	struct sim_loans *all = *loans;
	struct sim_vma vma;

	if (!all)
		return;
	*loans = NULL;
	if (all->num_loans > 0 && sim_self_maps_open(&all->maps)) {
		while (sim_self_maps_next(&all->maps, &vma))
			undo_in(all, &vma);
		sim_self_maps_close(&all->maps);
	}
	for (size_t i = 0; i < all->num_asides; i++)
		unmap(all->asides[i].done, aside_of(&all->asides[i], all->asides[i].end));
	atomic_flag_clear(&all->is_used);
}
