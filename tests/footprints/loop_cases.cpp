#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

// sums() is a kernel in which every thread reads in[from], in[from + step] and so on below `to`,
// and writes its own element.
Model sums(int from, int to, int step) {
  return [=](Thread& t) {
    for (int i = from; i < to; i += step)
      t.read(0, i);
    t.write(1, t.x());
  };
}

std::vector<KernelCase> matrices() {
  const std::vector<std::string> product = {"reads exact", "reads exact", "writes exact"};
  return {
      {"row_sums",
       {3},
       {4},
       {buffer(1024), buffer(512), scalar(10), scalar(7)},
       copy,
       [](Thread& t) {
         if (t.x() >= 10) return;
         for (int j = 0; j < 7; ++j)
           t.read(0, t.x() * 7 + j);
         t.write(1, t.x());
       }},
      {"gemm",
       {3, 3},
       {4, 4},
       {buffer(1024), buffer(1024), buffer(1024), scalar(10), scalar(9), scalar(7)},
       product,
       [](Thread& t) {
         if (t.y() >= 10 || t.x() >= 9) return;
         for (int i = 0; i < 7; ++i) {
           t.read(0, t.y() * 7 + i);
           t.read(1, i * 9 + t.x());
         }
         t.write(2, t.y() * 9 + t.x());
       }},
      {"gemm_tiled",
       {3, 3},
       {4, 4},
       {buffer(1024), buffer(1024), buffer(1024), scalar(12), scalar(8)},
       product,
       [](Thread& t) {
         for (int base = 0; base < 8; base += 4) {
           t.read(0, t.y() * 8 + base + int(t.thread.x));
           t.read(1, (base + int(t.thread.y)) * 12 + t.x());
         }
         t.write(2, t.y() * 12 + t.x());
       }},
      {"triangle",
       {3},
       {4},
       {buffer(1024), buffer(512), scalar(11)},
       copy,
       [](Thread& t) {
         if (t.x() >= 11) return;
         for (int j = 0; j <= t.x(); ++j)
           t.read(0, t.x() * 11 + j);
         t.write(1, t.x());
       }},
      {"upper_triangle",
       {3},
       {4},
       {buffer(1024), scalar(11)},
       {"writes exact"},
       [](Thread& t) {
         for (int j = t.x() + 1; j < 11; ++j)
           t.write(0, t.x() * 11 + j);
       }},
      {"three_loops",
       {2},
       {4},
       {buffer(1024), buffer(512), scalar(3), scalar(4), scalar(5)},
       copy,
       sums(0, 60, 1)},
  };
}

std::vector<KernelCase> counters() {
  const Argument in = buffer(1024), out = buffer(512);
  return {
      {"grid_stride",
       {3},
       {4},
       {in, out, scalar(40)},
       copy,
       [](Thread& t) {
         for (int i = t.x(); i < 40; i += 12) {
           t.read(0, i);
           t.write(1, i);
         }
       }},
      {"block_stride",
       {3},
       {4},
       {in, out, scalar(10)},
       copy,
       [](Thread& t) {
         for (int i = int(t.thread.x); i < 10; i += 4) {
           t.read(0, i);
           t.write(1, int(t.block.x) * 10 + i);
         }
       }},
      {"count_down", {2}, {4}, {in, out, scalar(17)}, copy, sums(0, 17, 1)},
      {"count_down_by_two", {2}, {4}, {in, out, scalar(17)}, copy, sums(1, 18, 2)},
      {"unsigned_counter", {2}, {4}, {in, out, scalar(17u)}, copy, sums(0, 17, 3)},
      {"unsigned_count_down", {2}, {4}, {in, out, scalar(17u)}, copy, sums(0, 17, 1)},
      {"long_counter", {2}, {4}, {in, out, scalar(17ll)}, copy, sums(0, 34, 2)},
      {"at_least_once", {2}, {4}, {in, out, scalar(9)}, copy, sums(0, 9, 1)},
      {"at_least_once", {2}, {4}, {in, out, scalar(-5)}, copy, sums(0, 1, 1)},
      {.kernel = "doubling",
       .grid = {2},
       .block = {4},
       .arguments = {in, out, scalar(40)},
       .footprint = {"reads bounded", "writes exact"},
       .model = sums(0, 0, 1),
       .wider_than_ideal = "six powers of two"},
      {.kernel = "halving_tree",
       .grid = {2},
       .block = {8},
       .arguments = {in},
       .footprint = {"reads bounded, may-writes exact"},
       .model = [](Thread& t) { t.write(0, t.x()); },
       .data_decides = true,
       .wider_than_ideal = "the four steps have known lengths"},
  };
}

std::vector<KernelCase> lengths_in_data() {
  const Argument in = buffer(1024), out = buffer(512);
  const auto rows = ints(16, [](size_t i) { return int(i) * 2; });
  const auto columns = ints(64, [](size_t i) { return int(i) * 7 % 16; });
  const Model own = [](Thread& t) {
    t.read(0, t.x());
    t.write(2, t.x());
  };
  return {
      {"until_data_says",
       {2},
       {4},
       {in, out, scalar(20)},
       {"reads bounded", "writes exact"},
       sums(0, 20, 1)},
      {.kernel = "rows_of_data_length",
       .grid = {2},
       .block = {4},
       .arguments = {ints(8, [](size_t i) { return int(i); }), in, out, scalar(8)},
       .footprint = {"reads exact", "reads whole", "writes exact"},
       .model = own},
      {.kernel = "sparse_rows",
       .grid = {2},
       .block = {4},
       .arguments = {rows, columns, in, in, out, scalar(7)},
       .footprint = {"reads exact", "reads whole", "reads whole", "reads whole", "writes exact"},
       .model =
           [](Thread& t) {
             if (t.x() >= 7) return;
             t.read(0, t.x());
             t.read(0, t.x() + 1);
             t.write(4, t.x());
           }},
      {"escape_time",
       {2},
       {4},
       {out, scalar(7), scalar(4.0f)},
       {"writes exact"},
       [](Thread& t) {
         if (t.x() < 7) t.write(0, t.x());
       }},
      {"ten_time_steps",
       {2},
       {4},
       {in, out, scalar(7), scalar(10)},
       copy,
       [](Thread& t) {
         if (t.x() >= 7) return;
         t.read(0, t.x());
         t.write(1, t.x());
       }},
  };
}

}  // namespace

std::vector<KernelCase> loop_cases() {
  std::vector<KernelCase> cases = matrices();
  for (const auto& more : {counters(), lengths_in_data()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace sluice::footprints
