/* A second private table of Sluice's CPU device, handed out by cuGetExportTable under a UUID of our
 * own: it tells of accesses of the host that race with the device. Plain C: it is an ABI. */
#ifndef SLUICE_HOSTCUDA_HOST_TOUCH_H
#define SLUICE_HOSTCUDA_HOST_TOUCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SluiceHostTouch is an access of the host to memory that a kernel or a copy, which the host has
 * not seen done, uses too: one of them writes it. */
typedef struct SluiceHostTouch {
  const char* work;   /* the kernel's name, or what else it is */
  const char* memory; /* "managed", "pinned" or "registered" */
  uint64_t offset;    /* the byte, from where the memory was allocated */
  uint64_t bytes;     /* of the allocation */
  uint32_t host_writes;
  uint32_t work_writes;
  void* const* work_site; /* return addresses of the call that submitted it, the innermost first */
  uint64_t work_site_depth;
  void* const* site; /* of the access; none where only its effect was seen */
  uint64_t site_depth;
} SluiceHostTouch;
typedef void (*SluiceHostTold)(void* data, const SluiceHostTouch* touch);

typedef struct SluiceHostTouchTable {
  size_t size; /* sizeof this table: later versions append */
  /* From now on `told` hears of each such access, on the thread that makes it or one of the
   * device's. Work then runs when the host waits for it, asks for it or touches memory that it may
   * use. A CUresult: an error before cuInit, and where somebody hears already. Call it before any
   * work is submitted. */
  int (*watch_host)(SluiceHostTold told, void* data);
} SluiceHostTouchTable;

/* 6e0f5d1b-93a8-4c57-8d24-b7a1c3f0e592 */
#define SLUICE_HOST_TOUCH_TABLE_UUID \
  {0x6e, 0x0f, 0x5d, 0x1b, 0x93, 0xa8, 0x4c, 0x57, 0x8d, 0x24, 0xb7, 0xa1, 0xc3, 0xf0, 0xe5, 0x92}

#ifdef __cplusplus
}
#endif

#endif
