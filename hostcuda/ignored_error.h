/* A fifth private table of Sluice's CPU device, handed out by cuGetExportTable under a UUID of our
 * own: it tells of errors that nobody asked for. Plain C: it is an ABI. */
#ifndef SLUICE_HOSTCUDA_IGNORED_ERROR_H
#define SLUICE_HOSTCUDA_IGNORED_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SluiceIgnoredError is a call of the runtime API that failed. */
typedef struct SluiceIgnoredError {
  const char* function; /* "cudaMemcpy" */
  const char* error;    /* "cudaErrorInvalidValue" */
  const char* kernel;   /* of a launch; null: it is none, or not known */
  void* const* site;    /* return addresses of the call, the innermost first */
  uint64_t site_depth;
} SluiceIgnoredError;
typedef void (*SluiceErrorTold)(void* data, const SluiceIgnoredError* error);

typedef struct SluiceIgnoredErrorTable {
  size_t size; /* sizeof this table: later versions append */
  /* From now on failed calls are kept. A CUresult: an error before cuInit, and where somebody
   * asked already. */
  int (*watch_errors)(void);
  /* The runtime API tells of a call of the calling thread that failed, and that somebody has asked
   * for the thread's errors, or for the text of an error, whoever's. */
  void (*failed)(int error, const char* name);
  void (*asked)(void);
  void (*asked_for_text)(int error);
  /* Tells of what nobody has asked for until now. */
  void (*tell_ignored)(SluiceErrorTold told, void* data);
} SluiceIgnoredErrorTable;

/* c2f49a10-7d3b-4e68-8f05-1b6e93d7a28c */
#define SLUICE_IGNORED_ERROR_TABLE_UUID \
  {0xc2, 0xf4, 0x9a, 0x10, 0x7d, 0x3b, 0x4e, 0x68, 0x8f, 0x05, 0x1b, 0x6e, 0x93, 0xd7, 0xa2, 0x8c}

#ifdef __cplusplus
}
#endif

#endif
