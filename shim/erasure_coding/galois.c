/* SPDX-License-Identifier: BSD-3-Clause */
/* Arithmetic in GF(2^8) by ISA-L. */
#include "galois.h"

#include <errno.h>

#include "shim/common/accel/load.h"

/* What is used of <isa-l/erasure_code.h>, so that the build does not need the header. */
static struct {
	unsigned char (*mul)(unsigned char a, unsigned char b);
	unsigned char (*inv)(unsigned char a);
	int (*invert)(unsigned char *in, unsigned char *out, int n);
	void (*init_tables)(int num_in, int num_out, unsigned char *coefficients, unsigned char *tables);
	void (*encode)(int len, int num_in, int num_out, unsigned char *tables, unsigned char **in,
		       unsigned char **out);
} lib;

static const struct shim_import imports[] = {
	{ "gf_mul", &lib.mul },
	{ "gf_inv", &lib.inv },
	{ "gf_invert_matrix", &lib.invert },
	{ "ec_init_tables", &lib.init_tables },
	{ "ec_encode_data", &lib.encode },
};

static struct shim_loaded_library libisal = {
	.file = "libisal.so.2",
	.package = "libisal2",
	.imports = imports,
	.num_imports = sizeof(imports) / sizeof(imports[0]),
};

const char *galois_find_lack(void)
{
	return shim_load(&libisal);
}

uint8_t galois_mul(uint8_t a, uint8_t b)
{
	return lib.mul(a, b);
}

uint8_t galois_inverse(uint8_t a)
{
	return lib.inv(a);
}

int galois_invert(uint8_t *in, uint8_t *ret_out, size_t size)
{
	return lib.invert(in, ret_out, (int)size) == 0 ? 0 : -EDOM;
}

void galois_init_tables(uint8_t *coefficients, size_t num_in, size_t num_out, uint8_t *ret_tables)
{
	lib.init_tables((int)num_in, (int)num_out, coefficients, ret_tables);
}

void galois_multiply(const uint8_t *tables, size_t len, size_t num_in, size_t num_out, const uint8_t **in,
		     uint8_t **out)
{
	lib.encode((int)len, (int)num_in, (int)num_out, (unsigned char *)(uintptr_t)tables, (unsigned char **)in, out);
}
