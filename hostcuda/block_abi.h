/* The private table of Sluice's CPU device, handed out by cuGetExportTable under a UUID of our
 * own. Where a driver has it, its kernels can be run block by block. Plain C: it is an ABI. */
#ifndef SLUICE_HOSTCUDA_BLOCK_ABI_H
#define SLUICE_HOSTCUDA_BLOCK_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The megakernel's kernel. Its lanes wait for each other by words in memory, as the rewriting of
 * kernels gives them to: the device does not run them in step, or they would hold each other up. */
#define SLUICE_MEGAKERNEL_NAME "sluice_megakernel"

/* SluiceBlockLaunch is one launch as a block function reads it. */
typedef struct SluiceBlockLaunch {
  const void* parameters; /* the parameter block, laid out as PTX lays out .param */
  uint32_t grid[3];
  uint32_t dynamic_shared_bytes;
  uint64_t grid_workspace; /* address of a cooperative launch's workspace, 0 for any other launch */
} SluiceBlockLaunch;

/* A block function runs blocks first_block .. first_block + block_count - 1 (linear, x fastest)
 * of `launch`. `scratch` is memory of the calling thread alone, of at least the bytes asked for,
 * aligned to 64; its content need not be kept between calls. */
typedef void (*SluiceBlockFunction)(const SluiceBlockLaunch* launch, uint32_t first_block,
                                    uint32_t block_count, void* scratch);

typedef struct SluiceBlockCode {
  SluiceBlockFunction function;
  uint64_t scratch_bytes; /* shared memory, static and dynamic, and values kept across barriers */
  /* Not 0: a block may wait for what another one writes, so that blocks must run side by side. */
  uint64_t waits_for_blocks;
} SluiceBlockCode;

/* SluiceAccessSink hears of every access that traced block code makes to memory outside its block,
 * before it happens: address, bytes, SLUICE_ACCESS_READ, _WRITE or both, with _ATOMIC where it is
 * atomic or volatile, and the PTX line (0 where unknown). Accesses by generic addresses are
 * reported wherever they lead, into the block's own scratch memory, stack or parameters too. */
#define SLUICE_ACCESS_READ 1U
#define SLUICE_ACCESS_WRITE 2U
#define SLUICE_ACCESS_ATOMIC 4U
typedef struct SluiceAccessSink {
  void (*access)(void* recorder, uint64_t address, uint64_t bytes, uint32_t kind, uint32_t line);
  void* recorder;
} SluiceAccessSink;

/* SluiceGraphStep is one of a graph: a launch of `function`, or else a copy or fill of rows of
 * device memory. */
typedef struct SluiceGraphStep {
  void* function; /* CUfunction, or null */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared_bytes;
  uint32_t is_fill;
  const void* parameters; /* the parameter block */
  uint64_t parameter_bytes;
  uint64_t to;
  uint64_t from; /* of a copy */
  uint64_t row_bytes;
  uint64_t rows;
  uint64_t to_pitch;
  uint64_t from_pitch;
  uint32_t value;         /* of a fill: one element */
  uint32_t element_bytes; /* likewise */
} SluiceGraphStep;

/* SluiceGraphSteps are those of one graph; no other steps of the process have its version. */
typedef struct SluiceGraphSteps {
  const SluiceGraphStep* steps;
  uint64_t count;
  uint64_t version;
} SluiceGraphSteps;

/* SluiceHostDeviceTable. Results are CUresult values. */
typedef struct SluiceHostDeviceTable {
  size_t size; /* sizeof this table: later versions append */
  /* Compiles (or finds) the code of `function`, a CUfunction or CUkernel, for one block size.
   * The code lives until its module is unloaded. Thread-safe. */
  int (*get_block_code)(void* function, const uint32_t block[3], uint32_t dynamic_shared_bytes,
                        SluiceBlockCode* code);
  /* The same code, compiled a second time so that it reports its accesses. */
  int (*get_traced_block_code)(void* function, const uint32_t block[3],
                               uint32_t dynamic_shared_bytes, SluiceBlockCode* code);
  /* Says who hears of the accesses of traced code on the calling thread; null: nobody. The sink
   * must live until it is replaced. */
  void (*set_access_sink)(const SluiceAccessSink* sink);
  /* As cuLaunchHostFunc, for a function that runs blocks: it counts as the device's work and takes
   * a processor, where a function of the program gets a thread of its own since it may wait for
   * anything. So it must not wait for other work of the device. It takes no room in the stream: the
   * call never waits. Thread-safe. */
  int (*run_in_order)(void* stream, void (*function)(void* data), void* data);
  /* A call that gives a full stream more work waits for room. Not 0: on the calling thread it does
   * not, until this is called with 0. */
  void (*never_wait_for_room)(int never);
  /* Not 0: functions of the program that have not begun do not begin. 0: they do when somebody
   * waits for the device, or a little later. For who waits for work of the device when a program
   * ends. */
  void (*hold_functions)(int hold);
  /* As cuEventRecord, but the event is reached when reach_event() is called with `promise`, which
   * must be called once. For whoever runs what the stream had before the event. An error, and
   * nothing is recorded, where cuEventRecord would say so and where the stream is captured. Both
   * are thread-safe. */
  int (*promise_event)(void* event, void* stream, void** promise);
  void (*reach_event)(void* promise);
  /* What a launch of a graph does, one step after the other, where that is kernels, copies between
   * device memory and fills, and nothing else: `exec` is a CUgraphExec that has begun in no other
   * stream than `stream`. They are there until the graph is changed or ends. Any other graph is an
   * error, and one in a captured stream. Whoever runs the steps does so in the stream's order. */
  int (*graph_steps)(void* exec, void* stream, SluiceGraphSteps* steps);
  /* Not 0: what the stream has ends whatever the host does from here, and so does what it would be
   * given now: neither functions of the program nor kernels that may wait for the host stand before
   * that. 0 for a default stream, a captured one and what is no stream. Thread-safe. */
  int (*ends_by_itself)(void* stream);
  /* As run_in_order, in the order of several streams and behind what ran in the same line before:
   * a line, of make_line(), is an order of such functions alone and lives as long as the process.
   * Each stream goes on when reach_event() is called with its one of `count` promises, which are
   * there before the function begins, and which must be called once each. Where it fails there is
   * none. Thread-safe. */
  void* (*make_line)(void);
  int (*run_together)(void* line, void* const* streams, uint64_t count,
                      void (*function)(void* data), void* data, void** promises);
  /* Not 0: the stream has work that has not ended. Unlike cuStreamQuery it changes nothing, not
   * even a capture of the stream. Thread-safe. */
  int (*is_busy)(void* stream);
} SluiceHostDeviceTable;

/* b3a1d0c2-51c4-4a52-9f0e-5c1d7e2b9a65 */
#define SLUICE_HOST_DEVICE_TABLE_UUID \
  {0xb3, 0xa1, 0xd0, 0xc2, 0x51, 0xc4, 0x4a, 0x52, 0x9f, 0x0e, 0x5c, 0x1d, 0x7e, 0x2b, 0x9a, 0x66}

#ifdef __cplusplus
}
#endif

#endif
