/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/base/check.h - argument checks of public functions: an error code and one log line. */
#ifndef SHIM_CHECK_H
#define SHIM_CHECK_H

#include <doca_common_defines.h>
#include <doca_error.h>

#include "object.h"
#include "sim/base/log.h"

/* Log the problem and its remedy after the public function's name. The value is @code. */
#define SHIM_REFUSE(code, format, ...)                           \
	({                                                       \
		sim_err("%s: " format, __func__, ##__VA_ARGS__); \
		(code);                                          \
	})

/* Return from the public function unless @handle, any value, is a live object of that kind. */
#define SHIM_NEED(handle, kind) SHIM_NEED_THAT(shim_handle_is, handle, kind)

/* The same for a function of the data path: a @handle that never was one may crash. */
#define SHIM_NEED_FAST(handle, kind) SHIM_NEED_THAT(shim_object_is, handle, kind)

#define SHIM_NEED_THAT(is, handle, kind)                                                                          \
	do {                                                                                                      \
		if (doca_unlikely(!is((handle), (kind))))                                                         \
			return SHIM_REFUSE(                                                                       \
				DOCA_ERROR_INVALID_VALUE, "%s is %s", #handle,                                    \
				(handle) ? "no live object of its type: destroyed already, or another's handle" : \
					   "NULL");                                                               \
	} while (0)

/* Return from the public function unless the output @pointer can be written to. */
#define SHIM_NEED_OUT(pointer)                                                                \
	do {                                                                                  \
		if (doca_unlikely(!(pointer)))                                                \
			return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%s is NULL", #pointer); \
	} while (0)

/* Define a public function that puts a property of @handle, an @object of that kind, into @out: @value. */
#define SHIM_DEFINE_GETTER(name, object, handle, kind, type, out, value) \
	doca_error_t name(object *handle, type *out)                     \
	{                                                                \
		SHIM_NEED(handle, kind);                                 \
		SHIM_NEED_OUT(out);                                      \
		*out = (value);                                          \
		return DOCA_SUCCESS;                                     \
	}

/* For a feature that bfsim does not simulate: warn once for each call site. The value is NOT_SUPPORTED. */
#define SHIM_NOT_SIMULATED(what)                                                                                      \
	({                                                                                                            \
		static atomic_flag warned_ = ATOMIC_FLAG_INIT;                                                        \
		if (!atomic_flag_test_and_set(&warned_))                                                              \
			sim_warn("%s: bfsim does not simulate %s yet; bfsim coverage %s says what it does", __func__, \
				 (what), __func__);                                                                   \
		DOCA_ERROR_NOT_SUPPORTED;                                                                             \
	})

#endif
