/* SPDX-License-Identifier: BSD-3-Clause */
/* What dpacc generates behind a source: for each kernel a function that packs the arguments of a variadic call into a block,
 * and one that calls the kernel with a block. A parameter stands in the generated code as the program wrote it. */
#ifndef BFSIM_DPA_UNIT_H
#define BFSIM_DPA_UNIT_H

#include <sim/dpa/image/port.h>

/* The type of a parameter. */
#define BFSIM_DPA_TYPE(name, ...) \
	__typeof__(({             \
		__VA_ARGS__;      \
		name;             \
	}))

/* A variadic call passes small integers as int, and float as double. 12 and 13: structures and unions. */
#define BFSIM_DPA_IS_SMALL(type)                                                    \
	(sizeof(type) < sizeof(int) && __builtin_classify_type(*(type *)0) != 12 && \
	 __builtin_classify_type(*(type *)0) != 13)
#define BFSIM_DPA_IS_FLOAT(type) __builtin_types_compatible_p(type, float)
#define BFSIM_DPA_PASSED(type)                                        \
	__typeof__(__builtin_choose_expr(BFSIM_DPA_IS_SMALL(type), 0, \
					 __builtin_choose_expr(BFSIM_DPA_IS_FLOAT(type), 0.0, *(type *)0)))

#define BFSIM_DPA_ROOM(type) ((sizeof(type) + 7) & ~(size_t)7)

static inline __attribute__((unused)) void __bfsim_dpa_put(void *to, const void *passed, size_t size, int is_float)
{
	if (is_float) {
		double wide;
		float value;

		__builtin_memcpy(&wide, passed, sizeof(wide));
		value = (float)wide;
		__builtin_memcpy(to, &value, sizeof(value));
	} else {
		__builtin_memcpy(to, passed, size);
	}
}

#define BFSIM_DPA_PUT(type, block, list)                                                                       \
	do {                                                                                                   \
		BFSIM_DPA_PASSED(type) __bfsim_dpa_passed = va_arg(*(list), BFSIM_DPA_PASSED(type));           \
		_Static_assert(__alignof__(type) <= 8, "a kernel's parameter has an alignment above 8 bytes"); \
		__bfsim_dpa_put(block, &__bfsim_dpa_passed, sizeof(type), BFSIM_DPA_IS_FLOAT(type));           \
		(block) += BFSIM_DPA_ROOM(type);                                                               \
	} while (0)

/* In a function: enter the kernel into the image's table. */
#define BFSIM_DPA_KERNEL(name_, is_rpc_, bytes, pack_, run_)                                            \
	static const struct sim_dpa_kernel __bfsim_dpa_kernel = { name_, is_rpc_, bytes, pack_, run_ }; \
	static const struct sim_dpa_kernel *const __bfsim_dpa_entry                                     \
		__attribute__((used, section("bfsim_dpa_kernels"))) = &__bfsim_dpa_kernel

#endif
