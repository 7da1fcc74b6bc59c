/* A fourth private table of Sluice's CPU device, handed out by cuGetExportTable under a UUID of our
 * own: it tells of accesses of kernels to memory that they must not access. Plain C: it is an ABI.
 */
#ifndef SLUICE_HOSTCUDA_MEMORY_FAULT_H
#define SLUICE_HOSTCUDA_MEMORY_FAULT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_MEMORY_OUT_OF_BOUNDS 1U
#define SLUICE_MEMORY_FREED 2U /* it was freed before */
#define SLUICE_MEMORY_MISALIGNED 3U
#define SLUICE_MEMORY_DOUBLE_FREE 4U
#define SLUICE_MEMORY_WRONG_FREE 5U /* of what is no allocation's begin, or of another kind */
#define SLUICE_MEMORY_LEAK 6U
#define SLUICE_MEMORY_NEVER_WRITTEN 7U

/* SluiceCallSite is where the program made a call: return addresses, the innermost first. */
typedef struct SluiceCallSite {
  void* const* callers;
  uint64_t depth; /* 0: not known */
} SluiceCallSite;

/* SluiceMemoryAccess is the first access of a thread that was wrong. */
typedef struct SluiceMemoryAccess {
  const char* kernel; /* null: the fault is a free or a leak */
  uint32_t grid[3], block_size[3];
  uint32_t block[3]; /* the lowest in which it was seen */
  uint32_t thread[3];
  uint32_t reads, writes;
  uint32_t ptx_line;
  const char* file; /* of the kernel's source; null: not known */
  uint32_t line;
  uint32_t alignment; /* that it needs */
} SluiceMemoryAccess;

/* SluiceMemoryFault is one fault. */
typedef struct SluiceMemoryFault {
  uint32_t what;
  SluiceMemoryAccess access;
  /* The bytes that all threads together touched wrongly, from where `memory` begins; an address
   * where that is null: no memory is near. */
  const char* memory; /* "device memory", "the block's shared memory" */
  const char* name;   /* of a variable; null: it has none */
  int64_t first_byte, last_byte;
  uint64_t memory_bytes;
  SluiceCallSite site;      /* of the launch, or of the call that frees wrongly */
  SluiceCallSite allocated; /* of the memory */
  SluiceCallSite freed;
} SluiceMemoryFault;
typedef void (*SluiceMemoryTold)(void* data, const SluiceMemoryFault* fault);

typedef struct SluiceMemoryFaultTable {
  size_t size; /* sizeof this table: later versions append */
  /* From now on every access of every thread is looked at, also whether something has written what
   * a kernel computes with. Memory has bytes beside it that nobody
   * may touch, and what is freed is not given out again soon. `told` hears of each fault once for
   * each kernel, line and allocation, on any thread. Blocks then run by launches alone:
   * get_block_code() refuses. A CUresult: an error before cuInit, and where somebody hears already.
   * Call it before anything is allocated. */
  int (*watch_memory)(SluiceMemoryTold told, void* data);
  /* Tells of what is allocated and was not freed. */
  void (*tell_leaks)(void);
} SluiceMemoryFaultTable;

/* 58c20e7f-4b16-4d09-a3de-90f1b56a7c3e */
#define SLUICE_MEMORY_FAULT_TABLE_UUID \
  {0x58, 0xc2, 0x0e, 0x7f, 0x4b, 0x16, 0x4d, 0x09, 0xa3, 0xde, 0x90, 0xf1, 0xb5, 0x6a, 0x7c, 0x3e}

#ifdef __cplusplus
}
#endif

#endif
