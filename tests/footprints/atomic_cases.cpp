#include "kernel_case.hpp"

namespace sluice::footprints {

std::vector<KernelCase> atomic_cases() {
  const std::string update = "reads exact, may-writes exact";
  const auto bins = filled<unsigned char>(32, [](size_t i) { return i * 5; });
  return {
      {"atomic_add_own",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {update},
       [](Thread& t) {
         if (t.x() < 30) t.update(0, t.x());
       }},
      {"atomic_add_one_place", {4}, {8}, {buffer(64)}, {update}, [](Thread& t) { t.update(0, 0); }},
      {"atomic_max_per_block",
       {4},
       {8},
       {buffer(64), buffer(512)},
       {update, "reads exact"},
       [](Thread& t) {
         t.update(0, t.block.x);
         t.read(1, t.x());
       }},
      {"atomic_old_value",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30)},
       {update, "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.update(0, t.x() / 4);
         t.write(1, t.x());
       }},
      {"atomic_exchange",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30)},
       {update, "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.update(0, 29 - t.x());
         t.write(1, t.x());
       }},
      {"atomic_add_64",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {update},
       [](Thread& t) {
         if (t.x() < 30) t.update(0, 2 * t.x(), 8);
       }},
      {"atomic_add_double",
       {4},
       {8},
       {buffer(64)},
       {update},
       [](Thread& t) { t.update(0, t.block.x, 8); }},
      {"atomic_retry",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30)},
       {update, "reads exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.update(0, t.x());
         t.read(1, t.x());
       }},
      {"histogram_masked",
       {4},
       {8},
       {bins, buffer(512), scalar(30)},
       {"reads exact", "reads bounded, may-writes bounded"},
       [](Thread& t) {
         if (t.x() < 30) t.read(0, t.x(), 1);
       }},
      {"histogram_open",
       {4},
       {8},
       {ints(32, [](size_t i) { return int(i) * 3; }), buffer(512), scalar(30)},
       {"reads exact", "reads whole, may-writes whole"},
       [](Thread& t) {
         if (t.x() < 30) t.read(0, t.x());
       }},
      {"histogram_shared",
       {4},
       {16},
       {filled<unsigned char>(64, [](size_t i) { return i * 5; }), buffer(512), scalar(61)},
       {"reads exact", update},
       [](Thread& t) {
         if (t.x() < 61) t.read(0, t.x(), 1);
         t.update(1, t.thread.x);
       }},
      {"atomic_system_or",
       {4},
       {8},
       {buffer(64), scalar(30)},
       {update},
       [](Thread& t) {
         if (t.x() < 30) t.update(0, t.x() / 32);
       }},
  };
}

}  // namespace sluice::footprints
