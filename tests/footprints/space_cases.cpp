#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

void copy_one(Thread& t) {
  if (t.x() >= 30) return;
  t.read(0, t.x());
  t.write(1, t.x());
}

}  // namespace

std::vector<KernelCase> space_cases() {
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  const std::vector<Argument> two = {buffer(512), buffer(512), scalar(30)};
  const auto table = object(std::vector<Argument>(8, scalar(7)));
  return {
      {"shared_reverse",
       {4},
       {8},
       {buffer(512), buffer(512)},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, t.x());
       }},
      {.kernel = "shared_dynamic",
       .grid = {4},
       .block = {8},
       .arguments = {buffer(512), buffer(512), scalar(3), scalar(30)},
       .footprint = copy,
       .model =
           [](Thread& t) {
             if (t.x() >= 3) t.read(0, t.x() - 3);
             if (t.x() < 30) t.write(1, t.x());
           },
       .dynamic_shared_bytes = 32},
      {"shared_gather",
       {4},
       {8},
       {ints(32, [](size_t i) { return int(i * 5 % 8); }), buffer(512)},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, t.x());
       }},
      {"local_array", {4}, {8}, two, copy, copy_one},
      {"parameter_array", {4}, {8}, {table, two[0], two[1], two[2]}, copy, copy_one},
      {"compiler_table",
       {4},
       {8},
       {filled<float>(32, [](size_t i) { return 1e6F * float(i); }), two[1], two[2]},
       copy,
       copy_one},
      {"constant_table",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         for (int k = 0; k < 4; ++k)
           t.read(0, t.x() + k);
         t.write(1, t.x());
       }},
      {"module_table_read",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {"writes exact", "reads exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.write(0, t.x());
         t.read(1, t.x() % 64);
       }},
      {"module_table_write",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {"reads exact", "writes exact"},
       copy_one},
      {"module_counter",
       {4},
       {8},
       {ints(32, [](size_t) { return 1; }), scalar(30)},
       {"reads exact", "reads bounded, may-writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.update(1, 0);
       }},
      {"module_pointer", {4}, {8}, {scalar(0)}, {"opaque: pointer loaded from memory"}},
  };
}

}  // namespace sluice::footprints
