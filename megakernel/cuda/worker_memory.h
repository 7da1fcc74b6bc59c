/* Where things lie in a worker's shared memory. Read by the rewriter and by the scheduler kernel:
 * plain C, fixed widths. */
#ifndef SLUICE_MEGAKERNEL_WORKER_MEMORY_H
#define SLUICE_MEGAKERNEL_WORKER_MEMORY_H

#include <stdint.h>

/* The extern shared array that every worker's memory lies in: the slot that is being run, the
 * control block, what the slot's tasks wait for, the staged parameters, the launch's static shared
 * variables, its dynamic shared memory. */
#define SLUICE_POOL "sluice_pool"
enum {
  SLUICE_POOL_ALIGNMENT = 128,
  SLUICE_SLOT = 0,                    /* a SluiceSlot */
  SLUICE_CONTROL_NCTAID = 0,          /* u32[3] of it: extents of the grid */
  SLUICE_CONTROL_DYNAMIC_SHARED = 12, /* u32 of it: dynamic shared bytes of the launch */
  SLUICE_CONTROL_AT_ONCE = 124,       /* u32 of it: blocks that run at once, if more than one may */
  SLUICE_CONTROL_NEXT = 128,          /* u32[4]: task, ticket, slot, and what is to be done */
  SLUICE_CONTROL_RUN = 144,           /* u32[4]: first block by x, y and z, blocks behind it, or
                                         SLUICE_NONE where the worker gives up */
  SLUICE_CONTROL_TASK = 160,          /* u32: the number of the task in its slot */
  SLUICE_CONTROL_HAS_BARRIER = 164,   /* u32: not 0 where this has been made: */
  SLUICE_CONTROL_BARRIER = 168,       /* mbarrier of bodies whose threads may end before one */
  SLUICE_CONTROL_BEGAN = 176,         /* u64: when a task began that is measured; or else 0 */
  SLUICE_CONTROL_SAMPLE = 184,        /* u32: from this ticket on it measures its next task */
  SLUICE_WAITS = 192,                 /* SluiceWait[SLUICE_MOST_STAGED_WAITS] */
  /* A stencil in space has 9 at most, or 5 for each of the two launches before. */
  SLUICE_MOST_STAGED_WAITS = 10,
  SLUICE_CONTROL_KNOWN = 992,  /* u32[4]: tasks that are known without a look at the tables */
  SLUICE_CONTROL_AHEAD = 1008, /* u32[4]: what comes to SLUICE_CONTROL_NEXT when all have read it */
  SLUICE_PARAMETERS = 1024     /* the parameter block, then the addresses of variables */
};

#define SLUICE_NONE 0xFFFFFFFFu

#endif
