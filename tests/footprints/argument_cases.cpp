#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

Argument view(int width, int height) {
  return object({buffer(1024), scalar(width), scalar(height), scalar(2.0f)});
}

void shifted_copy(Thread& t, int by) {
  if (t.x() >= 30) return;
  t.read(0, t.x() + by);
  t.write(1, t.x());
}

}  // namespace

std::vector<KernelCase> argument_cases() {
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"struct_views",
       {3, 2},
       {4, 4},
       {view(10, 7), view(11, 9)},
       copy,
       [](Thread& t) {
         if (t.x() >= 10 || t.y() >= 7) return;
         t.read(0, t.y() * 10 + t.x());
         t.write(1, t.y() * 11 + t.x());
       }},
      {"nested_struct",
       {4},
       {8},
       {object({buffer(512), scalar(3), scalar(0), buffer(512), buffer(512)}), scalar(30)},
       {"reads exact", "writes exact", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x() + 3, 8);
         t.write(1, t.x(), 8);
         t.write(2, 2 * t.x(), 8);
       }},
      {.kernel = "struct_array_by_thread",
       .grid = {4},
       .block = {8},
       .arguments = {object({buffer(512), buffer(512)}), scalar(30)},
       .footprint = {"opaque: pointer loaded from memory"},
       .wider_than_ideal = "each pointer is written at every second place"},
      {"byte_offset",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(size_t{13}), scalar(30)},
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x() + 13, 1);
         t.write(1, t.x(), 1);
       }},
      {"before_the_pointer",
       {4},
       {8},
       {buffer(512, 12), buffer(512), scalar(30)},
       copy,
       [](Thread& t) { shifted_copy(t, -3); }},
      {"from_the_end",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30)},
       copy,
       [](Thread& t) { shifted_copy(t, 29 - 2 * t.x()); }},
      {"walking_pointer",
       {2},
       {8},
       {buffer(512), buffer(512), scalar(3), scalar(20)},
       copy,
       [](Thread& t) {
         for (int i = 0; i < 3; ++i)
           t.read(0, t.x() + 20 * i);
         t.write(1, t.x());
       }},
      {"three_in_one",
       {4},
       {8},
       {buffer(512), within(0, 128), within(0, 256), scalar(30)},
       {"reads exact", "reads exact", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.read(1, t.x());
         t.write(2, t.x());
       }},
      {"shift_in_place",
       {4},
       {8},
       {buffer(512), scalar(30), scalar(16)},
       {"reads exact, writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x() + 16);
         t.write(0, t.x());
       }},
      {.kernel = "either_pointer",
       .grid = {4},
       .block = {8},
       .arguments = {buffer(512), buffer(512), scalar(30)},
       .footprint = {"may-writes whole", "may-writes whole"},
       .wider_than_ideal = "each pointer is written at every second place"},
      {.kernel = "pointer_by_scalar",
       .grid = {4},
       .block = {8},
       .arguments = {buffer(512), buffer(512), scalar(30), scalar(1)},
       .footprint = {"may-writes whole", "may-writes whole"},
       .model = [](Thread&) {},
       .wider_than_ideal = "the scalar says which of the two"},
      {"unused_pointer",
       {4},
       {8},
       {buffer(512), buffer(512), buffer(512), scalar(30)},
       copy,
       [](Thread& t) { shifted_copy(t, 0); }},
      {"pointer_table", {1}, {8}, {buffer(512), scalar(0)}, {"opaque: pointer loaded from memory"}},
      {"linked_list", {4}, {8}, {scalar(uint64_t{0}), buffer(512)}, {"opaque: pointer loaded"}},
  };
}

}  // namespace sluice::footprints
