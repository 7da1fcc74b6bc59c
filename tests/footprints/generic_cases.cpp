#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

void copy_one(Thread& t) {
  if (t.x() >= 30) return;
  t.read(0, t.x());
  t.write(1, t.x());
}

}  // namespace

std::vector<KernelCase> generic_cases() {
  const std::vector<Argument> two = {buffer(512), buffer(512), scalar(30)};
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"generic_copy", {4}, {8}, two, copy, copy_one},
      {"generic_atomic",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {"reads exact, may-writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.write(0, t.x());
       }},
      {.kernel = "generic_either",
       .grid = {4},
       .block = {8},
       .arguments = two,
       .footprint = {"opaque: may be a plain number"},
       .wider_than_ideal = "one of the two pointers leads to shared memory"},
      {"predicated_copy", {4}, {8}, two, copy, copy_one},
      {"predicated_by_data",
       {4},
       {8},
       {ints(32, [](size_t) { return 1; }), buffer(512), scalar(30)},
       {"reads exact", "may-writes exact"},
       copy_one},
      {"predicated_not",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {"writes exact"},
       [](Thread& t) {
         if (t.x() < 30) t.write(0, t.x());
       }},
      {.kernel = "volatile_copy",
       .grid = {4},
       .block = {8},
       .arguments = two,
       .footprint = {"reads exact", "may-writes exact"},
       .model = copy_one,
       .wider_than_ideal = "volatile writes happen always"},
      {"read_only_copy",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.read(0, t.x() + 1);
         t.write(1, t.x());
       }},
  };
}

}  // namespace sluice::footprints
