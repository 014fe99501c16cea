/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/doc_paths.h - the documents that messages name, as paths of this installation.
 *
 *   "see doc/faults.md"  -->  "see PREFIX/share/doc/bfsim/doc/faults.md"
 *
 * A name stays as it is if the installation does not have the document, as in a build tree.
 */
#ifndef SIM_CLI_BASE_DOC_PATHS_H
#define SIM_CLI_BASE_DOC_PATHS_H

/* A copy of @text with such paths; the caller frees it. NULL without memory. */
char *cli_doc_paths_expand(const char *text);

#endif
