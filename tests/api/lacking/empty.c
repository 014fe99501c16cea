/* SPDX-License-Identifier: BSD-3-Clause */
/* A library without the functions that are looked for. */
extern const int lacking_library;
const int lacking_library = 0;
