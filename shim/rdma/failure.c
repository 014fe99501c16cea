/* SPDX-License-Identifier: BSD-3-Clause */
/* Why requests fail, in words. */
#include <errno.h>
#include <string.h>

#include "rdma_priv.h"

const char *rdma_describe_failure(int rc)
{
	switch (-rc) {
	case EACCES:
		return "the peer does not permit it: see doca_mmap_set_permissions() and doca_rdma_set_permissions() there";
	case EFAULT:
		return "it is outside of the memory that the peer exported";
	case EXDEV:
		return "the memory is not of the device that the connection leads to";
	case EMSGSIZE:
		return "the message is longer than the receive that it met";
	case ENOBUFS:
#ifdef SHIM_WORKQ_BUILD /* which can't set the number of retries */
		return "the peer posted no receive in time";
#else
		return "the peer posted no receive in time (doca_rdma_set_rnr_retry_count)";
#endif
	case ETIMEDOUT:
		return "the peer did not connect in time";
	case ENETDOWN:
		return "a network link on the way was down for longer than the requester repeats requests";
	case EHOSTDOWN:
		return "the peer's process gives no sign of life; is it stopped (SIGSTOP, a debugger)?";
	case ECONNRESET:
		return "the peer's end of the connection has ended";
	case EPIPE:
		return "the peer's process, context or connection has ended";
	case EINVAL:
		return "its address is not aligned to 8 bytes";
	case ENOENT:
		return "a handle is no map's, or the map was stopped";
	case ERANGE:
		return "it is outside of the local map";
	case EPERM:
		return "the local map lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE";
	case EBADF:
		return "a map is on the wrong side: the peer's memory is of doca_mmap_create_from_export(), local memory is not";
	case EFBIG:
		return "it is larger than doca_rdma_cap_get_max_message_size()";
	case ENOTCONN:
		return "its connection is not connected";
	default:
		return strerror(-rc);
	}
}
