/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/fitted.h - timing constants of the profiles that were fitted to measurements.
 *
 * Written by ci/calibrate --fit from ci/calibration/bluefield_measurements.csv and rdma_measurements.csv,
 * which have each row's source. With each constant stand the rows that it rests upon.
 */
#ifndef PCIE_FITTED_H
#define PCIE_FITTED_H

/* An Arm core's time to submit a task.
 * 3 rows: smartnickit-project/smartnic-bench */
#define BF2_CPU_SUBMIT_PS 130000

/* The engine takes no more than one job in this time.
 * 5 rows: smartnickit-project/smartnic-bench */
#define BF2_ACCEPT_PS 97600

/* What each read costs the path that data takes, besides its bytes.
 * 4 rows: smartnickit-project/smartnic-bench */
#define BF2_READ_GAP_PS 94300

/* Ceiling of writes to the host.
 * 2 rows: smartnickit-project/smartnic-bench */
#define BF2_WRITE_FS_PER_BYTE 65300

/* A control message from program to program.
 * 6 rows: Maxorao/SmartNIC-Based-Heterogeneous-Cluster */
#define BF2_COMCH_ONE_WAY_PS 29200000

/* An Arm core's time to submit a task.
 * 47 rows: fardatalab/postgres-dbcomm, jukebox03/thrift_dpumesh_extended */
#define BF3_CPU_SUBMIT_PS 164000

/* Its time to learn of a task's end, if the end is reported by itself.
 * 40 rows: smartnickit-project/smartnic-bench, fardatalab/postgres-dbcomm, jukebox03/thrift_dpumesh_extended */
#define BF3_CPU_REPORT_PS 114000

/* From the last byte to the completion in the program's hand.
 * 6 rows: fardatalab/postgres-dbcomm, jukebox03/thrift_dpumesh_extended */
#define BF3_COMPLETE_PS 931000

/* What one task alone can reach.
 * 2 rows: fardatalab/postgres-dbcomm */
#define BF3_CHANNEL_FS_PER_BYTE 92600

/* Ceiling of reads from the host.
 * 16 rows: fardatalab/postgres-dbcomm */
#define BF3_READ_FS_PER_BYTE 27700

/* Ceiling of writes to the host.
 * 6 rows: fardatalab/postgres-dbcomm */
#define BF3_WRITE_FS_PER_BYTE 31700

/* Ceiling of copies within the card's memory.
 * 4 rows: jukebox03/thrift_dpumesh_extended */
#define BF3_LOCAL_FS_PER_BYTE 18900

/* A DPA unit's time for a copy.
 * 6 rows: jukebox03/thrift_dpumesh_extended */
#define BF3_DPA_SUBMIT_PS 1780000

/* All DPA units together have no more than one copy in this time.
 * 6 rows: jukebox03/thrift_dpumesh_extended */
#define BF3_DPA_ACCEPT_PS 622000

/* An Arm core's time for a control message.
 * 2 rows: jukebox03/thrift_dpumesh_extended */
#define BF3_COMCH_SEND_PS 985000

/* From the submission of a request to its first byte at the port.
 * 60 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_REQUEST_PS 870000

/* Added if its data are fetched from memory.
 * 37 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_FETCH_PS 914000

/* A port's time for a packet, on its way out or in.
 * 57 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_PORT_PS 531000

/* From a request for data at the responder's port to their first byte.
 * 21 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_RESPOND_PS 922000

/* From the last packet at the requester's port to the completion in the program's hand.
 * 43 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_COMPLETE_PS 907000

/* Ceiling of a read.
 * 14 rows: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_READ_FS_PER_BYTE 95200

/* Rate between two ends at one port.
 * 1 row: ZhiyiHu1999/BlueField-3_Tests */
#define BF3_RDMA_LOOP_FS_PER_BYTE 59800

#endif
