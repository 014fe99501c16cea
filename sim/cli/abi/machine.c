/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of a program: its architecture and its loader. */
#include "machine.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADERS 64 /* more than programs have */

static const struct {
	uint16_t machine;
	const char *arch, *debian_arch;
} machines[] = { { EM_X86_64, "x86_64", "amd64" }, { EM_AARCH64, "aarch64", "arm64" } };

const char *cli_machine_arch(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return machines[i].arch;
	return NULL;
}

const char *cli_machine_debian_arch(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return machines[i].debian_arch;
	return NULL;
}

static bool is_elf(const Elf64_Ehdr *head)
{
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_ident[EI_CLASS] == ELFCLASS64 &&
	       head->e_ident[EI_DATA] == ELFDATA2LSB;
}

/* Offsets of the file are untrusted: a read elsewhere finds nothing. */
static void read_interpreter(int fd, const Elf64_Ehdr *head, char *ret_name, size_t size)
{
	for (unsigned int i = 0; i < head->e_phnum && i < MAX_HEADERS; i++) {
		Elf64_Phdr part;
		ssize_t got;

		if (pread(fd, &part, sizeof(part), (off_t)(head->e_phoff + i * sizeof(part))) != sizeof(part))
			return;
		if (part.p_type != PT_INTERP)
			continue;
		got = pread(fd, ret_name, size - 1, (off_t)part.p_offset);
		ret_name[got > 0 ? (size_t)got : 0] = '\0';
		return;
	}
}

bool cli_machine_of_file(const char *path, struct cli_machine *ret_machine)
{
	struct cli_machine machine = { 0 };
	Elf64_Ehdr head;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe does not block */
	bool is_program;

	if (fd < 0)
		return false;
	is_program = pread(fd, &head, sizeof(head), 0) == sizeof(head) && is_elf(&head);
	if (is_program) {
		machine.machine = head.e_machine;
		read_interpreter(fd, &head, machine.interpreter, sizeof(machine.interpreter));
		*ret_machine = machine;
	}
	close(fd);
	return is_program;
}
