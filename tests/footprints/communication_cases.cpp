#include "kernel_case.hpp"

namespace sluice::footprints {

// Where a kernel waits, the launch is such that it ends however few blocks run at once.
std::vector<KernelCase> communication_cases() {
  const Argument zeros = buffer(1024);
  const auto ones = ints(64, [](size_t) { return 1; });
  return {
      {"grid_barrier", {1}, {8}, {zeros, zeros}, {"opaque: waits for memory"}},
      {"spin_on_flag", {4}, {8}, {ones, zeros}, {"opaque: waits for memory"}},
      {"spin_lock", {4}, {8}, {zeros, zeros}, {"opaque: waits for memory"}},
      {"look_back", {4}, {8}, {zeros, zeros, ones}, {"opaque: waits for memory"}},
      // Nobody waits: whichever block comes last, what it may touch is claimed by each.
      {.kernel = "last_block_done",
       .grid = {4},
       .block = {8},
       .arguments = {zeros, zeros, zeros, zeros},
       .footprint = {"reads exact", "reads bounded, writes exact", "reads exact, may-writes exact",
                     "may-writes exact"},
       .model =
           [](Thread& t) {
             if (t.thread.x != 0) return;
             t.read(0, t.x());
             t.write(1, t.block.x);
             t.update(2, 0);
             t.write(3, 0);
           },
       .data_decides = true},
      {.kernel = "ticket_queue",
       .grid = {4},
       .block = {8},
       .arguments = {zeros, zeros, scalar(9u)},
       .footprint = {"reads bounded, may-writes exact", "may-writes whole"},
       .model =
           [](Thread& t) {
             if (t.thread.x == 0) t.update(0, 0);
           }},
      {"append",
       {4},
       {8},
       {zeros, ones, zeros, scalar(30)},
       {"reads bounded, may-writes exact", "reads exact", "may-writes whole"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.update(0, 0);
         t.read(1, t.x());
       }},
  };
}

}  // namespace sluice::footprints
