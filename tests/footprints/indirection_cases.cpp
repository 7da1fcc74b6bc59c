#include "kernel_case.hpp"

namespace sluice::footprints {

std::vector<KernelCase> indirection_cases() {
  const Argument in = buffer(1024), out = buffer(1024), n = scalar(30);
  const auto index = ints(32, [](size_t i) { return int(i) * 7 % 32; });
  // What all of these kernels do beside the access that data decides.
  const Model index_and_own = [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, t.x());
    t.write(2, t.x());
  };
  return {
      {"gather",
       {4},
       {8},
       {index, in, out, n},
       {"reads exact", "reads whole", "writes exact"},
       index_and_own},
      {"scatter",
       {4},
       {8},
       {index, in, out, n},
       {"reads exact", "reads exact", "may-writes whole"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.read(1, t.x());
       }},
      {"gather_scatter",
       {4},
       {8},
       {index, index, in, out, n},
       {"reads exact", "reads exact", "reads whole", "may-writes whole"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.read(1, t.x());
       }},
      {"byte_lookup",
       {4},
       {8},
       {filled<unsigned char>(32, [](size_t i) { return i * 8; }), buffer(2048), out, n},
       {"reads exact", "reads bounded", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x(), 1);
         t.write(2, t.x());
       }},
      {"masked_gather",
       {4},
       {8},
       {index, in, out, n},
       {"reads exact", "reads bounded", "writes exact"},
       index_and_own},
      {"clamped_gather",
       {4},
       {8},
       {ints(32, [](size_t i) { return 100 * (int(i) - 16); }), in, out, n},
       {"reads exact", "reads bounded", "writes exact"},
       index_and_own},
      {.kernel = "checked_gather",
       .grid = {4},
       .block = {8},
       .arguments = {ints(32, [](size_t i) { return int(i); }), in, out, n},
       .footprint = {"reads bounded", "reads whole", "may-writes exact"},
       .model = index_and_own,
       .wider_than_ideal = "the guard bounds what is loaded"},
      {"two_levels",
       {4},
       {8},
       {index, index, out, n},
       {"reads exact", "reads whole", "writes exact"},
       index_and_own},
      {"loaded_and_cancelled",
       {4},
       {8},
       {index, in, out, n},
       {"reads exact", "writes exact"},
       reads([](int i) { return i; })},
      {.kernel = "shuffled_index",
       .grid = {2},
       .block = {32},
       .arguments = {in, out},
       .footprint = {"reads whole", "writes exact"},
       .model = [](Thread& t) { t.write(1, t.x()); },
       .wider_than_ideal = "the partner's index is affine"},
  };
}

}  // namespace sluice::footprints
