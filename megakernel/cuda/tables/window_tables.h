/* A window's tables in device memory, as the scheduler kernel reads them. Written by the host, in
 * one piece: everything but flags and counters lies behind the SluiceWindow. Plain C, fixed widths.
 */
#ifndef SLUICE_MEGAKERNEL_WINDOW_TABLES_H
#define SLUICE_MEGAKERNEL_WINDOW_TABLES_H

#include <stdint.h>

/* SluiceTask is a run of neighbouring blocks of one slot; its place in the list is its ticket. */
typedef struct SluiceTask {
  uint32_t slot;
  uint32_t first_block;
  uint32_t block_count;
} SluiceTask;

/* SluiceSlot is one launch. Offsets are in bytes from the SluiceWindow. */
typedef struct SluiceSlot {
  uint32_t body; /* its number in sluice_run_block() */
  uint32_t grid[3];
  uint32_t dynamic_shared_bytes;
  uint32_t blocks_per_task;
  uint32_t independent; /* its blocks may follow each other without a barrier */
  uint32_t first_flag;  /* task i has flag first_flag + i */
  uint32_t first_dependence;
  uint32_t dependence_count;
  uint32_t staged_words;   /* of 8 bytes: the parameter block, then addresses of variables */
  uint32_t counter;        /* counts each of its finished tasks; SLUICE_NONE: nobody waits so */
  uint32_t group_counters; /* offset of a u32 a task: the counter of its group. SLUICE_NONE: none */
  uint32_t reserved;
  uint64_t staged; /* offset */
} SluiceSlot;

/* SluiceReport is what a worker says before it gives up. The host reads it; all zero before. */
typedef struct SluiceReport {
  uint32_t waited_in_vain; /* written last */
  uint32_t ticket;
  uint32_t is_counter; /* or else a flag */
  uint32_t number;     /* of the flag or counter */
  uint64_t expected;
  uint64_t found;
} SluiceReport;

/* SluiceWindow. Flags hold the epoch of the window in which they were last set, counters only grow;
 * so nothing is cleared between windows. Both outlive it. */
typedef struct SluiceWindow {
  uint64_t epoch;
  uint64_t* flags;
  uint64_t* counters;
  uint64_t slots;       /* offset of SluiceSlot[] */
  uint64_t dependences; /* offset of SluiceDependence[], device_edges.h */
  uint64_t tasks;       /* offset of SluiceTask[] */
  uint32_t task_count;
  uint32_t next_ticket; /* 0 when the kernel starts */
  uint32_t stress;      /* not 0: the seed of random delays, for tests */
  uint32_t most_polls;  /* a lane that has looked so often gives up; 0: never */
  uint32_t given_up;    /* 0 when the kernel starts; by the first lane that gives up */
  uint32_t reserved;
  SluiceReport* report;
} SluiceWindow;

#endif
