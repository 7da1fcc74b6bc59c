/* A window's tables in device memory, as the scheduler kernel reads them. Written by the host, in
 * one piece: everything but flags and counters. Plain C, fixed widths. */
#ifndef SLUICE_MEGAKERNEL_WINDOW_TABLES_H
#define SLUICE_MEGAKERNEL_WINDOW_TABLES_H

#include <stdint.h>

/* What a device loads by 16 bytes. */
#define SLUICE_TOGETHER __attribute__((aligned(16)))

/* SluiceReciprocal divides by a multiplication: n / d is (factor * n + addend) >> (32 + shift), for
 * every n of 32 bits. Made by reciprocal_of(), device_edges.h. A device adds the 64 bits as they
 * are. */
typedef struct SLUICE_TOGETHER SluiceReciprocal {
  uint32_t factor;
  uint32_t shift;
  uint32_t addend;
  uint32_t zero; /* the upper half of the addend */
} SluiceReciprocal;

/* SluiceTask is a run of neighbouring blocks of one slot. */
typedef struct SluiceTask {
  uint32_t slot; /* with SLUICE_MEASURED where the worker notes how long it takes */
  uint32_t task; /* its blocks begin at task * blocks_per_task */
} SluiceTask;
#define SLUICE_MEASURED 0x80000000u

/* SluiceRun says which tasks the tickets up to `last_ticket` are that no run before has. They go
 * round `slots` slots that follow each other: a ticket in place p of round r is task
 * first_task + r - lag * p of slot first_slot + p. Or they are listed. */
typedef struct SLUICE_TOGETHER SluiceRun {
  uint32_t last_ticket;
  uint32_t first_ticket;
  uint32_t slots;      /* 0: they are listed, the first at place first_task */
  uint32_t reciprocal; /* (2^32 - 1) / slots: the round is the upper half of that times the ticket,
                          counted from one, for as many tickets as 2^32 / slots */
  uint32_t first_slot; /* SLUICE_NONE: there are no more tasks */
  uint32_t first_task;
  uint32_t lag;
  uint32_t zero;
} SluiceRun;

/* SluiceTime is what a slot's measured tasks took, without their waits. */
typedef struct SluiceTime {
  uint64_t nanoseconds;
  uint64_t blocks;
} SluiceTime;

/* SluiceLanes says how the lanes of the warp that waits share out a slot's waits. */
typedef struct SluiceLanes {
  uint32_t mask; /* as many look at different waits at once, less one: `bits` ones */
  uint32_t bits;
  uint32_t together; /* those that look at one wait together */
} SluiceLanes;

/* SluiceSignals is what a slot's tasks release. */
typedef struct SluiceSignals {
  uint64_t flags;          /* address of its task 0's */
  uint64_t counter;        /* address; counts each of its finished tasks. 0: nobody waits so */
  uint64_t group_counters; /* offset of a u32 a task: the counter of its group. 0: none */
} SluiceSignals;

/* SluiceSlot is one launch. A worker has a copy of its record in its shared memory while it runs
 * tasks of it: the slot, its waits, the parameter block, the addresses of variables. All records of
 * a window are of one size, so that nothing must be read before it is known where they are. Offsets
 * are in bytes from SluiceWindow::tables. */
typedef struct SLUICE_TOGETHER SluiceSlot {
  uint32_t grid[3];
  uint32_t dynamic_shared_bytes;
  uint32_t blocks_per_task;
  uint32_t last_block;
  uint32_t wait_count;
  uint32_t simple_width; /* the grid's, where it has waits, all near_by and no more than are looked
                            at and staged at once; or else 0 */
  SluiceLanes lanes;
  uint32_t zero;
  SluiceReciprocal width;
  SluiceReciprocal height;
  SluiceSignals signals;
  uint64_t
      waits; /* offset of SluiceWait[], device_edges.h, where they are more than fit a record */
  uint64_t zeros;
  uint32_t body;    /* its number in sluice_run_block() */
  uint32_t at_once; /* 0: its blocks follow each other, with a barrier of the worker between
                       them; or else sluice_run_block() runs all blocks of a task, so many at
                       once */
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

/* SluiceTickets is what all workers of a window write to: a line of its own. All zero when the
 * kernel starts. */
typedef struct SluiceTickets {
  uint32_t next;
  uint32_t given_up; /* by the first lane that does */
  uint32_t reserved[30];
} SluiceTickets;

/* SluiceRecords is what each slot's record holds behind the slot. */
typedef struct SluiceRecords {
  uint32_t bytes;  /* of a record, a multiple of 16 */
  uint32_t waits;  /* SluiceWaits */
  uint32_t staged; /* what lies behind those, in 8 bytes */
  uint32_t zero;
} SluiceRecords;

/* SluiceWindow is the scheduler kernel's parameter. Flags hold the epoch of the window in which
 * they were last set, counters only grow; so nothing is cleared between windows. Both outlive it.
 */
typedef struct SluiceWindow {
  uint64_t tables; /* address of what the host wrote: a SluiceTickets, and what offsets lead to */
  uint64_t flags;
  uint64_t counters;
  uint64_t slots;  /* offset of the records */
  uint64_t runs;   /* address of SluiceRun[]; the last one has all tickets behind the tasks' */
  uint64_t tasks;  /* address of SluiceTask[], those that are listed */
  uint64_t times;  /* offset of SluiceTime[], a slot each, zeros */
  uint64_t report; /* address */
  uint64_t counter_bytes;
  uint64_t epoch;
  uint32_t task_count;
  uint32_t stress;     /* not 0: the seed of random delays, for tests */
  uint32_t most_polls; /* a lane that has looked so often gives up; 0: never */
  /* Who runs one of these first tickets asks for the next one ahead. None where no more tickets are
     left than there are workers: who ends early takes them. */
  uint32_t tickets_ahead;
  SluiceRecords records;
} SluiceWindow;

#endif
