/* Where things lie in a worker's shared memory and in a window's device tables. Read by the host,
 * by the rewriter and by the scheduler kernel: plain C, fixed widths. */
#ifndef SLUICE_MEGAKERNEL_WORKER_MEMORY_H
#define SLUICE_MEGAKERNEL_WORKER_MEMORY_H

#include <stdint.h>

/* The extern shared array that every worker's memory lies in: the control block, the staged
 * parameters of the launch being run, its static shared variables, its dynamic shared memory. */
#define SLUICE_POOL "sluice_pool"
enum {
  SLUICE_POOL_ALIGNMENT = 128,
  SLUICE_CONTROL_NCTAID = 0,          /* u32[3]: extents of the grid */
  SLUICE_CONTROL_DYNAMIC_SHARED = 12, /* u32: dynamic shared bytes of the launch */
  SLUICE_CONTROL_SLOT = 16,           /* u32: the task's slot, or SLUICE_NONE to stop */
  SLUICE_CONTROL_FIRST_BLOCK = 20,    /* u32 */
  SLUICE_CONTROL_BLOCK_COUNT = 24,    /* u32 */
  SLUICE_CONTROL_TICKET = 28,         /* u32 */
  SLUICE_CONTROL_BARRIER = 40,        /* mbarrier of bodies whose threads may end before one */
  SLUICE_CONTROL_HAS_BARRIER = 48,    /* u32: not 0 where it has been made */
  SLUICE_CONTROL_STOPS = 52,          /* u32: not 0 where the worker gives up */
  SLUICE_PARAMETERS = 64              /* the parameter block, then the addresses of variables */
};

#define SLUICE_NONE 0xFFFFFFFFu

#endif
