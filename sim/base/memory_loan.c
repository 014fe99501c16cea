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

#define OPEN_PROT       PROT_WRITE               /* of pages without their protection */
#define ZEROS_OFFSET    (UINT64_C(0xbf51) << 40) /* of pages of zeros, in /dev/zero */
#define ZEROS_BYTES     (UINT64_C(1) << 40)
#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define MAX_LOANS       64
#define NUM_LISTS       16 /* threads that have loans at the same time */
#define MAX_TRIES       4

enum kind { HOLE, PROTECTED, MOVED };

struct loan {
	enum kind kind;
	int prot; /* PROTECTED: before */
	uintptr_t begin, end;
	uintptr_t aside; /* MOVED: where the program's pages are; 0 = they are back */
};

struct sim_loans {
	atomic_flag is_used;
	size_t count;
	struct loan loans[MAX_LOANS];
	struct sim_self_maps maps; /* too large for the stack of a handler */
};

/* Not mapped when they are needed: that would be in a hole of the program's. */
static struct sim_loans lists[NUM_LISTS];

static size_t page_bytes(void)
{
	return getauxval(AT_PAGESZ);
}

static uintptr_t page_of(uintptr_t addr)
{
	return addr / page_bytes() * page_bytes();
}

static uintptr_t page_end_of(uintptr_t addr)
{
	return page_of(addr + page_bytes() - 1);
}

static struct sim_loans *get_list(void)
{
	for (size_t i = 0;; i = (i + 1) % NUM_LISTS) {
		if (!atomic_flag_test_and_set(&lists[i].is_used)) {
			lists[i].count = 0;
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
	return (*loans)->count < MAX_LOANS;
}

static void add(struct sim_loans *loans, const struct loan *loan)
{
	struct loan *last = loans->count > 0 ? &loans->loans[loans->count - 1] : NULL;

	if (last && last->kind == loan->kind && loan->kind != MOVED && last->end == loan->begin &&
	    last->prot == loan->prot)
		last->end = loan->end;
	else
		loans->loans[loans->count++] = *loan;
}

/* Not on the heap's way: bare system calls. 0 = failed. */
static uintptr_t map(uintptr_t at, size_t len, int prot, int flags, int fd, uint64_t offset)
{
	long mapped = syscall(SYS_mmap, at, len, prot, flags | MAP_PRIVATE | MAP_NORESERVE, fd, offset);

	return mapped == -1 ? 0 : (uintptr_t)mapped;
}

static void unmap(uintptr_t begin, size_t len)
{
	if (begin)
		syscall(SYS_munmap, begin, len);
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
	mapped = map(begin, end - begin, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE, (int)fd, ZEROS_OFFSET);
	rc = mapped ? 0 : -errno;
	syscall(SYS_close, fd);
	if (!mapped || mapped == begin)
		return rc;
	unmap(mapped, end - begin); /* a kernel before 4.17 takes the address for a wish */
	return -EEXIST;
}

bool sim_loan_hole(struct sim_loans **loans, const struct sim_loan_at *at)
{
	uintptr_t begin = page_of(at->addr), end = page_end_of(at->end);
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

/* An address for @len bytes, not in a hole of the range, which the work may access. 0 = failed. */
static uintptr_t reserve_apart(const struct sim_loan_at *at, size_t len)
{
	uintptr_t tries[MAX_TRIES] = { 0 }, found = 0;

	for (size_t i = 0; i < MAX_TRIES && !found; i++) {
		tries[i] = map(0, len, PROT_NONE, MAP_ANONYMOUS, -1, 0);
		if (tries[i] && (tries[i] >= page_end_of(at->end) || tries[i] + len <= page_of(at->begin))) {
			found = tries[i];
			tries[i] = 0;
		}
	}
	for (size_t i = 0; i < MAX_TRIES; i++)
		unmap(tries[i], len);
	return found;
}

static bool move(uintptr_t from, size_t len, uintptr_t to)
{
	return syscall(SYS_mremap, from, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, to) != -1;
}

/* Returns where @len bytes of the program's at @begin are then; 0 = failed. */
static uintptr_t replace(const struct sim_loan_at *at, uintptr_t begin, size_t len, bool copies)
{
	uintptr_t aside = reserve_apart(at, len);

	if (!aside)
		return 0;
	if (!move(begin, len, aside)) {
		unmap(aside, len);
		return 0;
	}
	if (fill_hole(begin, begin + len) == 0 && copies)
		sim_move((void *)begin, (const void *)aside, len);
	return aside;
}

static bool lend_replaced(struct sim_loans **loans, const struct sim_loan_at *at, size_t len, bool copies)
{
	uintptr_t begin = at->addr / len * len, aside = has_room(loans) ? replace(at, begin, len, copies) : 0;

	if (!aside)
		return false;
	add(*loans, &(struct loan){ .kind = MOVED, .begin = begin, .end = begin + len, .aside = aside });
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

/* A writable mapping needs no loan: another thread has changed it. */
bool sim_loan_protected(struct sim_loans **loans, const struct sim_loan_at *at, bool *ret_is_same)
{
	struct sim_vma vma;
	struct loan loan;

	*ret_is_same = true;
	if (!has_room(loans) || !find_vma(&(*loans)->maps, at->addr, &vma))
		return false;
	if (vma.prot & PROT_WRITE)
		return true;
	loan = (struct loan){ .kind = PROTECTED,
			      .prot = vma.prot,
			      .begin = page_of(at->addr),
			      .end = vma.end < page_end_of(at->end) ? vma.end : page_end_of(at->end) };
	if (syscall(SYS_mprotect, loan.begin, loan.end - loan.begin, OPEN_PROT) == 0) {
		add(*loans, &loan);
		return true;
	}
	*ret_is_same = false; /* of a file that is open for reading, as an example */
	return lend_replaced(loans, at, page_bytes(), vma.prot & PROT_READ);
}

/* ---- the return ---- */

/* Of several pages that were moved together, none returns if the program has changed some. */
static void move_back(struct loan *loan, uintptr_t begin, uintptr_t end)
{
	if (begin == loan->begin && end == loan->end && move(loan->aside, end - begin, begin))
		loan->aside = 0;
}

static void undo(struct loan *loan, uintptr_t begin, uintptr_t end)
{
	switch (loan->kind) {
	case HOLE:
		unmap(begin, end - begin);
		break;
	case PROTECTED:
		syscall(SYS_mprotect, begin, end - begin, loan->prot);
		break;
	case MOVED:
		move_back(loan, begin, end);
		break;
	}
}

static bool is_as_lent(const struct loan *loan, const struct sim_vma *vma)
{
	return loan->kind == PROTECTED ? vma->prot == OPEN_PROT : vma->offset - ZEROS_OFFSET < ZEROS_BYTES;
}

/* The parts of the loans that lie in the mapping. */
static void undo_in(struct sim_loans *loans, const struct sim_vma *vma)
{
	for (size_t i = 0; i < loans->count; i++) {
		struct loan *loan = &loans->loans[i];
		uintptr_t begin = loan->begin > vma->begin ? loan->begin : vma->begin;
		uintptr_t end = loan->end < vma->end ? loan->end : vma->end;

		if (begin < end && is_as_lent(loan, vma))
			undo(loan, begin, end);
	}
}

/* Pages that were moved aside, and have others of the program in their place. */
static void drop_aside(const struct sim_loans *loans)
{
	for (size_t i = 0; i < loans->count; i++)
		if (loans->loans[i].kind == MOVED)
			unmap(loans->loans[i].aside, loans->loans[i].end - loans->loans[i].begin);
}

void sim_loans_return(struct sim_loans **loans)
{
	struct sim_loans *all = *loans;
	struct sim_vma vma;

	if (!all)
		return;
	*loans = NULL;
	if (all->count > 0 && sim_self_maps_open(&all->maps)) {
		while (sim_self_maps_next(&all->maps, &vma))
			undo_in(all, &vma);
		sim_self_maps_close(&all->maps);
	}
	drop_aside(all);
	atomic_flag_clear(&all->is_used);
}
