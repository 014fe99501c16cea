/* SPDX-License-Identifier: BSD-3-Clause */
/* flexio_ver.h - versions of libflexio's interface. A program defines FLEXIO_VER_USED before it includes flexio.h. */
#ifndef FLEXIO_VER_H_
#define FLEXIO_VER_H_

#define FLEXIO_VER(major, minor, patch) (((major)*10000) + ((minor)*100) + (patch))

#endif
