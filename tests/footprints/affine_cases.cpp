#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

std::vector<KernelCase> one_dimension() {
  const std::vector<Argument> two = {buffer(1024), buffer(1024), scalar(30)};
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"saxpy",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(2.0f), scalar(30)},
       {"reads exact", "reads exact, writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.update(1, t.x());
       }},
      {"reverse",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.write(1, 29 - t.x());
       }},
      {"strided",
       {4},
       {8},
       {buffer(1024), buffer(512), scalar(30), scalar(3)},
       copy,
       reads([](int i) { return 3 * i; })},
      // The same kernel downwards from the middle of its buffer.
      {"strided",
       {4},
       {8},
       {buffer(1024, 512), buffer(512), scalar(30), scalar(-4)},
       copy,
       reads([](int i) { return -4 * i; })},
      {"strided_down",
       {4},
       {8},
       {buffer(1024), buffer(512), scalar(30), scalar(5)},
       copy,
       reads([](int i) { return 5 * (29 - i); })},
      {"broadcast",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, 0);
         t.read(0, 29);
         t.write(1, t.x());
       }},
      {"stencil_1d",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() < 1 || t.x() >= 29) return;
         for (int i = -1; i <= 1; ++i)
           t.read(0, t.x() + i);
         t.write(1, t.x());
       }},
      {"block_order_reversed",
       {4},
       {8},
       {buffer(512), buffer(512)},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, int(3 - t.block.x) * 8 + int(t.thread.x));
       }},
      {"interleaved",
       {4},
       {8},
       {buffer(512), scalar(30)},
       {"writes exact"},
       [](Thread& t) {
         const int i = int(t.thread.x * 4 + t.block.x);
         if (i < 30) t.write(0, 2 * i + 1);
       }},
  };
}

std::vector<KernelCase> more_dimensions() {
  const std::vector<std::string> copy = {"reads exact", "writes exact"};
  return {
      {"stencil_2d",
       {4, 3},
       {4, 4},
       {buffer(1024), buffer(1024), scalar(14), scalar(11)},
       copy,
       [](Thread& t) {
         const int x = t.x(), y = t.y();
         if (x < 1 || y < 1 || x >= 13 || y >= 10) return;
         const int i = y * 14 + x;
         for (int j : {i - 14, i - 1, i + 1, i + 14})
           t.read(0, j);
         t.write(1, i);
       }},
      {"stencil_3d",
       {2, 3, 2},
       {4, 2, 3},
       {buffer(2048), buffer(2048), scalar(7), scalar(6), scalar(5)},
       copy,
       [](Thread& t) {
         const int x = t.x(), y = t.y(), z = t.z();
         if (x < 1 || y < 1 || z < 1 || x >= 6 || y >= 5 || z >= 4) return;
         const int i = (z * 6 + y) * 7 + x;
         for (int j : {i, i - 1, i + 1, i - 7, i + 7, i - 42, i + 42})
           t.read(0, j);
         t.write(1, i);
       }},
      {"transpose",
       {3, 3},
       {4, 4},
       {buffer(1024), buffer(1024), scalar(11), scalar(9)},
       copy,
       [](Thread& t) {
         if (t.x() >= 11 || t.y() >= 9) return;
         t.read(0, t.y() * 11 + t.x(), 8);
         t.write(1, t.x() * 9 + t.y(), 8);
       }},
      {"column_sums",
       {3},
       {4},
       {buffer(1024), buffer(512), scalar(6), scalar(10)},
       copy,
       [](Thread& t) {
         if (t.x() >= 10) return;
         for (int row = 0; row < 6; ++row)
           t.read(0, row * 10 + t.x());
         t.write(1, t.x());
       }},
      {"outer_product",
       {3, 3},
       {4, 4},
       {buffer(512), buffer(512), buffer(1024), scalar(9), scalar(10)},
       {"reads exact", "reads exact", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 10 || t.y() >= 9) return;
         t.read(0, t.y());
         t.read(1, t.x());
         t.write(2, t.y() * 10 + t.x());
       }},
      {"planes",
       {2, 5},
       {8},
       {buffer(1024), buffer(1024), scalar(20)},
       copy,
       [](Thread& t) {
         t.read(0, int(4 - t.block.y) * 20 + t.x());
         t.write(1, int(t.block.y) * 20 + t.x());
       }},
      {"linear_block_id",
       {2, 3, 2},
       {2, 2, 2},
       {buffer(1024)},
       {"writes exact"},
       [](Thread& t) {
         const int block = int((t.block.z * 3 + t.block.y) * 2 + t.block.x);
         const int thread = int((t.thread.z * 2 + t.thread.y) * 2 + t.thread.x);
         t.write(0, block * 8 + thread);
       }},
      {.kernel = "one_per_block",
       .grid = {3, 4},
       .block = {4, 2},
       .arguments = {buffer(512), buffer(512)},
       .footprint = {"reads bounded", "may-writes exact"},
       .model =
           [](Thread& t) {
             if (t.thread.x != 0 || t.thread.y != 0) return;
             t.read(0, t.block.y);
             t.write(1, t.block.x + 3 * t.block.y);
           },
       .wider_than_ideal = "one thread of the block always writes"},
  };
}

}  // namespace

std::vector<KernelCase> affine_cases() {
  std::vector<KernelCase> cases = one_dimension();
  for (KernelCase& row : more_dimensions())
    cases.push_back(std::move(row));
  return cases;
}

}  // namespace sluice::footprints
