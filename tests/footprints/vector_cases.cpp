#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

Model copies(int n, int64_t read_bytes, int64_t written_bytes) {
  return [=](Thread& t) {
    if (t.x() >= n) return;
    t.read(0, t.x(), read_bytes);
    t.write(1, t.x(), written_bytes);
  };
}

}  // namespace

std::vector<KernelCase> vector_cases() {
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"copy_float4", {4}, {8}, {buffer(512), buffer(512), scalar(30)}, copy, copies(30, 16, 16)},
      {"copy_double2", {4}, {8}, {buffer(512), buffer(512), scalar(30)}, copy, copies(30, 16, 16)},
      {"copy_uchar4", {4}, {8}, {buffer(512), buffer(512), scalar(30)}, copy, copies(30, 4, 4)},
      {"widen_bytes", {4}, {8}, {buffer(512), buffer(512), scalar(30)}, copy, copies(30, 1, 4)},
      {"copy_shorts", {4}, {8}, {buffer(512), buffer(512), scalar(30)}, copy, copies(30, 2, 2)},
      {"split_float4",
       {4},
       {8},
       {buffer(512), buffer(512), buffer(512), scalar(30)},
       {"reads exact", "writes exact", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         // The lanes that are used; the compiler loads no others.
         t.read(0, 4 * t.x());
         t.read(0, 4 * t.x() + 3);
         t.write(1, t.x());
         t.write(2, t.x());
       }},
      {"float4_from_shifted",
       {4},
       {8},
       {buffer(1024), buffer(512), scalar(30)},
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         for (int i = 2; i < 6; ++i)
           t.read(0, 4 * t.x() + i);
         t.write(1, t.x(), 16);
       }},
  };
}

}  // namespace sluice::footprints
