/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/parts.h - the list of all parts, in the order in which they see an event. For inclusion, with CHECK_PART(). */
/* clang-format off */
CHECK_PART(check_object_births)
CHECK_PART(check_ctx_history)
CHECK_PART(check_mmap_history)
CHECK_PART(check_tasks_in_flight_part)
CHECK_PART(check_dma_submit)
CHECK_PART(check_race)
CHECK_PART(check_submit)
CHECK_PART(check_mmap_order)
CHECK_PART(check_mmap_end)
CHECK_PART(check_buf_records)
CHECK_PART(check_buf_life)
CHECK_PART(check_buf_data)
CHECK_PART(check_flush)
CHECK_PART(check_order)
CHECK_PART(check_teardown)
CHECK_PART(check_retry)
CHECK_PART(check_task_use)
/* clang-format on */
