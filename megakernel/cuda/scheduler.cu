// The scheduler kernel: a worker (a resident block) takes tickets, waits for the tasks that its
// task depends on, runs the task's blocks, and releases its flag. The protocol, and why no number
// of workers can deadlock: docs/megakernel.md; its model: docs/model.
#include "megakernel/cuda/tables/device_edges.h"
#include "megakernel/cuda/tables/window_tables.h"
#include "megakernel/cuda/worker_memory.h"

extern __shared__ __align__(SLUICE_POOL_ALIGNMENT)
unsigned char sluice_pool[];

// Runs block (x, y, z) of a launch whose kernel is body number `body`, or, where blocks of it run
// side by side, all blocks of the task. Its definition is written when the bodies are linked
// (linker.hpp).
extern "C" __device__ void sluice_run_block(uint32_t body, uint32_t x, uint32_t y, uint32_t z);

namespace {

// A task as a worker remembers it until it runs it.
struct __align__(16) NextTask {
  uint32_t task;    // its number in the slot
  uint32_t ticket;  // no_ticket: it has not asked for one
  uint32_t slot;    // as SluiceTask has it; no_slot: there is no task, or none is known
  uint32_t change;  // slot ^ the one that is staged: where it is not 0, there is something to do
};
constexpr uint32_t no_slot = SLUICE_NONE;
constexpr uint32_t no_ticket = SLUICE_NONE;

// The blocks that a worker runs.
struct __align__(16) BlockRun {
  uint32_t x, y, z;
  uint32_t more;  // blocks behind the first one
};

// The barrier of all threads of a worker. Lanes come back from a body each by its own way, so it is
// not the one that takes a warp for whole.
__device__ void meet_worker() {
  asm volatile("barrier.sync 0;" ::: "memory");
}

template <class T = uint32_t>
__device__ T& control(unsigned offset) {
  return *reinterpret_cast<T*>(sluice_pool + offset);
}

// Random delays for tests: between nothing and a good part of a task.
__device__ void stress(uint32_t seed, uint32_t place) {
  if (seed == 0) return;
  uint32_t hash = (seed ^ (control(SLUICE_CONTROL_TASK) * 3 + place)) * 2654435761U;
  hash = (hash ^ (hash >> 15)) * 2246822519U;
  hash ^= hash >> 13;
  if ((hash & 3U) != 0) return;
  if ((hash & 4U) != 0) return sleep();
#pragma unroll 1
  for (unsigned i = 0; i < (hash >> 3) % 1021; ++i) {
    uint32_t clock;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(clock));
    i += clock & 0U;  // It is read for the time that this takes.
  }
}

__device__ uint32_t take_ticket(const SluiceWindow& window) {
  return atomicAdd(&reinterpret_cast<SluiceTickets*>(window.tables)->next, 1U);
}

__device__ NextTask next_task(uint32_t ticket, const SluiceTask& task, uint32_t staged_slot) {
  return {task.task, ticket, task.slot, task.slot ^ staged_slot};
}

// KnownTasks is what a worker knows without a look at the tables: tickets up to `last` are tasks of
// one slot.
struct __align__(16) KnownTasks {
  uint32_t before;  // task 0's ticket
  uint32_t last;
  uint32_t slot;
  uint32_t run;  // the one that it has come to
};

// One in 64 tasks is measured: a worker's next one is 32 to 95 of its tasks away.
__device__ uint32_t hashed(uint32_t value) {
  constexpr uint32_t golden = 2654435769U;
  return (value * golden) >> 26;
}

__device__ uint32_t measured_after(uint32_t ticket) {
  return ticket + gridDim.x * (32 + hashed(ticket));
}

// The loads are written out because nvcc 13.0 comes to no end with the loop of the kernel where it
// sees through them.
__device__ uint4 load_words(uint64_t address) {
  uint4 words;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
               : "l"(address));
  return words;
}

__device__ SluiceTask load_task(const SluiceWindow& window, uint32_t place) {
  SluiceTask task;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(task.slot), "=r"(task.task)
               : "l"(window.tasks + sizeof task * uint64_t{place}));
  return task;
}

// The run that a worker has come to and the one behind it, on their way before it is known which
// of them its next ticket lies in.
struct NearRuns {
  uint64_t address;
  uint4 words[4];
};

__device__ NearRuns load_runs(const SluiceWindow& window, const KnownTasks& known) {
  const uint64_t address = window.runs + uint64_t{known.run} * sizeof(SluiceRun);
  NearRuns runs{address, {}};
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
    runs.words[i] = load_words(address + i * sizeof(uint4));
  return runs;
}

// The run that a ticket lies in. A worker's tickets only grow.
__device__ SluiceRun find_run(const NearRuns& near, uint32_t ticket, KnownTasks& known) {
  uint4 words = near.words[0];
  uint4 more = near.words[1];
  if (ticket > words.x) {
    ++known.run;
    words = near.words[2];
    more = near.words[3];
  }
  uint64_t address = near.address + sizeof(SluiceRun);
#pragma unroll 1
  while (ticket > words.x) {
    ++known.run;
    address += sizeof(SluiceRun);
    words = load_words(address);
    more = load_words(address + sizeof words);
  }
  return {words.x, words.y, words.z, words.w, more.x, more.y, more.z, more.w};
}

// Looks a ticket's task up in the tables, and keeps what is known by that of the tickets behind it.
__device__ SluiceTask look_up(const SluiceWindow& window, const NearRuns& near, uint32_t ticket,
                              KnownTasks& known) {
  if (ticket == no_ticket) return {no_slot, 0};
  const SluiceRun run = find_run(near, ticket, known);
  if (run.slots == 0) {
    if (run.first_slot == no_slot) return {no_slot, 0};
    return load_task(window, run.first_task + (ticket - run.first_ticket));
  }
  // Counted from one the quotient is right, up to 2^32 / slots, also where the last place of a
  // round is divided and where there is one slot.
  const uint32_t from_first = ticket - run.first_ticket;
  const uint32_t round = __umulhi(from_first + 1, run.reciprocal);
  const uint32_t place = from_first - round * run.slots;
  SluiceTask task{run.first_slot + place, run.first_task + round - place * run.lag};
  uint32_t& sample = control(SLUICE_CONTROL_SAMPLE);
  const bool is_measured = ticket >= sample;
  if (is_measured) sample = measured_after(ticket);
  if (run.slots == 1) {
    known.slot = task.slot;
    known.before = ticket - task.task;
    known.last = min(run.last_ticket, sample - 1);  // the next one that is measured comes here too
  }
  if (is_measured) task.slot |= SLUICE_MEASURED;
  return task;
}

__device__ void copy_words(void* to, const uint64_t* from, uint32_t count, uint32_t thread,
                           uint32_t threads) {
#pragma unroll 1
  for (uint32_t i = thread; i < count; i += threads)
    static_cast<uint64_t*>(to)[i] = from[i];
}

// Stages some of the waits of a slot that has more than a record holds. Called by the first warp.
__device__ void stage_waits(const SluiceWindow& window, const SluiceSlot& slot, uint32_t first,
                            uint32_t count) {
  copy_words(sluice_pool + SLUICE_WAITS,
             table_at<uint64_t>(window, slot.waits) + first * (sizeof(SluiceWait) / 8),
             count * (sizeof(SluiceWait) / 8), threadIdx.x, lanes);
  __syncwarp();
}

// A slot and the waits of its record, which are no more than two pieces of 16 bytes for each lane:
// both are on their way at once. Called by the first warp.
__device__ void stage_slot(const SluiceWindow& window, uint64_t record) {
  constexpr uint32_t piece = 16;
  constexpr uint32_t gap = SLUICE_WAITS - sizeof(SluiceSlot);
  static_assert(sizeof(SluiceSlot) / piece <= lanes);
  static_assert(sizeof(SluiceSlot) + SLUICE_MOST_STAGED_WAITS * sizeof(SluiceWait) <=
                2 * piece * lanes);
  // Lanes for which there is no piece bring the last one once more.
  const uint32_t last = sizeof(SluiceSlot) + window.records.waits * sizeof(SluiceWait) - piece;
  const uint32_t near = min(threadIdx.x * piece, last);
  const uint32_t far = min((threadIdx.x + lanes) * piece, last);
  const uint4 near_words = load_words(record + near);
  const uint4 far_words = load_words(record + far);
  control<uint4>(near < sizeof(SluiceSlot) ? near : near + gap) = near_words;
  control<uint4>(far < sizeof(SluiceSlot) ? far : far + gap) = far_words;
  __syncwarp();
}

// The first warp fetches what it needs to wait, the others the parameters, which are not read
// before the next barrier.
__device__ void stage(const SluiceWindow& window, uint32_t slot_number) {
  const uint64_t record =
      window.tables + window.slots + uint64_t{slot_number} * window.records.bytes;
  const bool is_first_warp = threadIdx.x < lanes;
  if (is_first_warp) stage_slot(window, record);
  const uint32_t first = blockDim.x > lanes ? lanes : 0;
  if (is_first_warp && first != 0) return;
  const uint64_t staged = record + sizeof(SluiceSlot) + window.records.waits * sizeof(SluiceWait);
  copy_words(sluice_pool + SLUICE_PARAMETERS,
             static_cast<const uint64_t*>(__cvta_global_to_generic(staged)), window.records.staged,
             threadIdx.x - first, blockDim.x - first);
}

// A slot's waits, where a task is not one that await_simple() serves. Called by the first warp.
__device__ void await(const SluiceWindow& window, const Waiter& waiter, const SluiceSlot& slot,
                      const Run& run) {
  constexpr uint32_t most = SLUICE_MOST_STAGED_WAITS;
#pragma unroll 1
  for (uint32_t first = 0; first < slot.wait_count; first += most) {
    const uint32_t count = min(slot.wait_count - first, most);
    // More than are staged with the slot go through the same place part by part.
    if (slot.wait_count > most) {
      __syncwarp();
      stage_waits(window, slot, first, count);
    }
    waiter.await(slot, &control<const SluiceWait>(SLUICE_WAITS), count, run);
  }
}

__device__ void run_blocks(const SluiceSlot& slot, BlockRun run) {
#pragma unroll 1
  for (;;) {
    sluice_run_block(slot.body, run.x, run.y, run.z);
    if (run.more-- == 0) return;
    if (slot.at_once != 0) return;  // all of them have run
    // This block has left the shared memory that the next one is about to write.
    meet_worker();
    if (++run.x == slot.grid[0]) {
      run.x = 0;
      if (++run.y == slot.grid[1]) {
        run.y = 0;
        ++run.z;
      }
    }
  }
}

__device__ uint64_t now() {
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
}

// Adds up what the task took that has just ended, of the slot that is still staged.
__device__ void note_time(const SluiceWindow& window, uint32_t slot, uint64_t began) {
  auto* time = table_at<SluiceTime>(window, window.times) + slot;
  const uint64_t took = now() - began;
  const uint64_t blocks = uint64_t{control<BlockRun>(SLUICE_CONTROL_RUN).more} + 1;
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&time->nanoseconds), "l"(took));
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(&time->blocks), "l"(blocks));
  control<uint64_t>(SLUICE_CONTROL_BEGAN) = 0;
}

// The task behind `task`, where there may be one without asking again.
__device__ NextTask next_ahead(const SluiceWindow& window, const NextTask& task,
                               KnownTasks& known) {
  const uint32_t ticket = task.ticket < window.tickets_ahead ? take_ticket(window) : no_ticket;
  const NearRuns near = load_runs(window, known);
  if (ticket <= known.last) {
    return next_task(ticket, {known.slot, ticket - known.before}, task.slot);
  }
  return next_task(ticket, look_up(window, near, ticket, known), task.slot);
}

// Signals is what one thread releases when all have done the task.
struct Signals {
  uint64_t* flag;
  uint64_t* counter;
  uint64_t* group_counter;
};

__device__ Signals signals_of(const SluiceWindow& window, const SluiceSlot& slot, uint32_t task) {
  Signals signals{};
  signals.flag = reinterpret_cast<uint64_t*>(slot.signals.flags) + task;
  signals.counter = reinterpret_cast<uint64_t*>(slot.signals.counter);
  if (slot.signals.group_counters == 0) return signals;
  const uint32_t group = table_at<uint32_t>(window, slot.signals.group_counters)[task];
  if (group == SLUICE_NONE) return signals;
  signals.group_counter = reinterpret_cast<uint64_t*>(window.counters) + group;
  return signals;
}

__device__ void add_one(uint64_t* place) {
  if (place == nullptr) return;
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(place) : "memory");
}

// Called after a barrier of the worker: what all its threads wrote goes before the signals. One
// signal is stored with that order; for several one fence does it, which also empties the
// processor's L1 of what other workers read.
__device__ void release(const Signals& signals, uint64_t epoch) {
  if (signals.counter == nullptr && signals.group_counter == nullptr) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(signals.flag), "l"(epoch) : "memory");
    return;
  }
  fence_gpu();
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(signals.flag), "l"(epoch) : "memory");
  add_one(signals.counter);
  add_one(signals.group_counter);
}

}  // namespace

// A one-dimensional kernel of whole warps, at least as many threads as any body asks for; any
// number of blocks.
extern "C" __global__ void sluice_megakernel(const __grid_constant__ SluiceWindow window) {
  const bool leads = threadIdx.x == 0;
  // While the first warp waits for what a task needs, the last one has what all wrote in memory,
  // and another, where there is one, looks for the task behind.
  const bool releases = threadIdx.x == blockDim.x - lanes;
  const bool looks_ahead = threadIdx.x == min(lanes, blockDim.x - lanes);
  auto& next = control<NextTask>(SLUICE_CONTROL_NEXT);
  auto& known = control<KnownTasks>(SLUICE_CONTROL_KNOWN);
  const auto& slot = control<const SluiceSlot>(SLUICE_SLOT);
  if (leads) {
    control(SLUICE_CONTROL_HAS_BARRIER) = 0;
    control<uint64_t>(SLUICE_CONTROL_BEGAN) = 0;
    control(SLUICE_CONTROL_SAMPLE) =
        gridDim.x * hashed(blockIdx.x + static_cast<uint32_t>(window.epoch));
    known = {0, 0, 0, 0};
    next = {0, no_ticket, no_slot, 1};  // No slot has the number no_slot ^ 1.
  }
  meet_worker();
  for (;;) {
    // No lane waits for other workers while these may wait for that.
    if (threadIdx.x < lanes) __syncwarp();
    NextTask task = next;
    // 0 where there is nothing to do; that it is is hidden, or a register would be made 0 for it.
    uint32_t measured = task.change;
    asm volatile("" : "+r"(measured));
    if (task.change != 0) {
      if (task.ticket == no_ticket) {
        meet_worker();
        if (leads) {
          const uint32_t ticket = take_ticket(window);
          next = next_task(ticket, look_up(window, load_runs(window, known), ticket, known),
                           task.slot ^ task.change);
        }
        meet_worker();
        task = next;
      }
      if (task.slot == no_slot) return;
      // Tasks that are measured come here too: it costs the others nothing on their way.
      const uint32_t staged_slot = task.slot ^ task.change;
      measured = leads ? task.slot & SLUICE_MEASURED : 0;
      task.slot &= ~SLUICE_MEASURED;
      if (task.slot != staged_slot) stage(window, task.slot);
    }
    // Not all have read yet what stands in `next`.
    auto& ahead = control<NextTask>(SLUICE_CONTROL_AHEAD);
    if (looks_ahead) ahead = next_ahead(window, task, known);
    if (threadIdx.x < lanes) {
      const Run run = run_of(slot, task.task);
      const uint32_t more = run.last_block - run.first_block;
      // What the lane that leads does alone stands under one condition: the assembler sees then
      // that one lane asks, and does not count those that do.
      if (leads) {
        control(SLUICE_CONTROL_TASK) = task.task;
        control<BlockRun>(SLUICE_CONTROL_RUN) = {static_cast<uint32_t>(run.first_x), run.y, run.z,
                                                 more};
      }
      const Waiter waiter(window, &control<BlockRun>(SLUICE_CONTROL_RUN).more, task.ticket);
      if (run.first_x + more < slot.simple_width) {
        waiter.await_simple(slot, &control<const SluiceWait>(SLUICE_WAITS), run,
                            static_cast<int32_t>(run.first_x + more));
        fence_gpu();
      } else {
        await(window, waiter, slot, run);
        if (slot.wait_count != 0) fence_gpu();
      }
    }
    meet_worker();
    const BlockRun run = control<BlockRun>(SLUICE_CONTROL_RUN);
    if (run.more == SLUICE_NONE) return;
    if (looks_ahead) next = ahead;
    if (measured != 0) control<uint64_t>(SLUICE_CONTROL_BEGAN) = now();
    run_blocks(slot, run);
    Signals signals;
    if (releases) {
      stress(window.stress, 1);
      signals = signals_of(window, slot, control(SLUICE_CONTROL_TASK));
    }
    meet_worker();
    if (leads) {
      const uint64_t began = control<uint64_t>(SLUICE_CONTROL_BEGAN);
      if (began != 0) note_time(window, next.slot ^ next.change, began);
    }
    if (releases) {
      release(signals, window.epoch);
      stress(window.stress, 2);
    }
  }
}
