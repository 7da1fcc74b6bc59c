/* A third private table of Sluice's CPU device, handed out by cuGetExportTable under a UUID of our
 * own: it tells of threads of a block that race. Plain C: it is an ABI. */
#ifndef SLUICE_HOSTCUDA_THREAD_RACE_H
#define SLUICE_HOSTCUDA_THREAD_RACE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SluiceThreadAccess is one side of a race. */
typedef struct SluiceThreadAccess {
  uint32_t thread[3];
  uint32_t reads, writes;
  uint32_t is_async; /* by a cp.async */
  uint32_t ptx_line;
  const char* file; /* of the kernel's source; null: not known */
  uint32_t line;
} SluiceThreadAccess;

/* SluiceThreadRace is two accesses of threads of one block to common bytes, one of them writing,
 * that nothing orders. */
typedef struct SluiceThreadRace {
  const char* kernel;
  uint32_t grid[3], block_size[3];
  uint32_t block[3]; /* the lowest in which it was seen */
  /* Not 0: only lanes of a warp that are in step would be in order. */
  uint32_t is_between_lanes;
  SluiceThreadAccess accesses[2]; /* in the order in which they ran here */
  /* The bytes in all blocks of the launch: of shared memory (`memory` is null), or from where
   * memory that the program has allocated begins. */
  const char* memory;
  uint64_t first_byte, last_byte;
  uint64_t memory_bytes;
  void* const* site; /* return addresses of the call that launched it, the innermost first */
  uint64_t site_depth;
} SluiceThreadRace;
typedef void (*SluiceThreadTold)(void* data, const SluiceThreadRace* race);

typedef struct SluiceThreadRaceTable {
  size_t size; /* sizeof this table: later versions append */
  /* From now on every access of every thread is looked at, and `told` hears of each race once for
   * each kernel and pair of lines, on one of the device's threads. Blocks then run by launches
   * alone: get_block_code() refuses. A CUresult: an error before cuInit, and where somebody hears
   * already. Call it before any work is submitted. */
  int (*watch_threads)(SluiceThreadTold told, void* data);
} SluiceThreadRaceTable;

/* 0d7c41b6-5e0a-4f83-9b1c-2a6f8c35d714 */
#define SLUICE_THREAD_RACE_TABLE_UUID \
  {0x0d, 0x7c, 0x41, 0xb6, 0x5e, 0x0a, 0x4f, 0x83, 0x9b, 0x1c, 0x2a, 0x6f, 0x8c, 0x35, 0xd7, 0x14}

#ifdef __cplusplus
}
#endif

#endif
