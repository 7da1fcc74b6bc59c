#include <cstdlib>

#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

std::vector<KernelCase> by_position() {
  const Argument in = buffer(1024), out = buffer(1024);
  return {
      {"first_thread",
       {4},
       {8},
       {out},
       {"writes exact"},
       [](Thread& t) {
         if (t.thread.x == 0) t.write(0, t.block.x);
       }},
      {"first_block",
       {4},
       {8},
       {in, out},
       copy,
       [](Thread& t) {
         if (t.block.x != 0) return;
         t.read(0, t.thread.x);
         t.write(1, t.thread.x);
       }},
      {"last_block",
       {4},
       {8},
       {out, scalar(30)},
       {"writes exact"},
       [](Thread& t) {
         if (t.block.x == 3 && t.x() < 30) t.write(0, t.x());
       }},
      {"odd_threads",
       {4},
       {8},
       {out, scalar(30)},
       {"writes exact"},
       [](Thread& t) {
         if (t.x() < 30 && t.thread.x % 2 == 1) t.write(0, t.x());
       }},
      {"odd_blocks",
       {4},
       {8},
       {in, out},
       copy,
       [](Thread& t) {
         t.read(0, t.block.x & 1 ? t.x() : t.x() + 1);
         t.write(1, t.x());
       }},
      {"inside_or_outside",
       {3, 3},
       {4, 4},
       {in, out, scalar(10), scalar(9)},
       {"writes exact", "writes exact"},
       [](Thread& t) {
         const int x = t.x(), y = t.y();
         if (x >= 10 || y >= 9) return;
         const bool border = x == 0 || y == 0 || x == 9 || y == 8;
         t.write(border ? 1 : 0, y * 10 + x);
       }},
      {"diagonal_band",
       {3, 3},
       {4, 4},
       {out, scalar(10)},
       {"writes exact"},
       [](Thread& t) {
         const int x = t.x(), y = t.y();
         if (x < 10 && y < 10 && std::abs(x - y) <= 1) t.write(0, y * 10 + x);
       }},
      {"below_diagonal",
       {3, 3},
       {4, 4},
       {out, scalar(10)},
       {"writes exact"},
       [](Thread& t) {
         if (t.x() < 10 && t.y() < 10 && t.x() < t.y()) t.write(0, t.y() * 10 + t.x());
       }},
      {"warp_guard",
       {3},
       {64},
       {in, out},
       copy,
       [](Thread& t) {
         t.read(0, t.x());
         if (t.thread.x % 32 == 0) t.write(1, t.x() / 32);
       }},
  };
}

std::vector<KernelCase> by_scalar() {
  const Argument in = buffer(1024), out = buffer(1024);
  std::vector<KernelCase> cases;
  for (const int mode : {0, 1, 2}) {
    cases.push_back(
        {"by_mode", {4}, {8}, {in, out, scalar(30), scalar(mode)}, copy, [=](Thread& t) {
           if (t.x() >= 30) return;
           t.read(0, mode == 2 ? 2 * t.x() : t.x());
           t.write(1, mode == 1 ? 2 * t.x() : t.x());
         }});
  }
  for (const float threshold : {0.25f, 0.75f}) {
    const bool writes = threshold > 0.5f;
    cases.push_back({"by_float",
                     {4},
                     {8},
                     {out, scalar(30), scalar(threshold)},
                     {writes ? "writes exact" : ""},
                     [=](Thread& t) {
                       if (writes && t.x() < 30) t.write(0, t.x());
                     }});
  }
  return cases;
}

std::vector<KernelCase> by_data() {
  const Argument in = buffer(1024), out = buffer(1024);
  const auto set = ints(32, [](size_t) { return 1; });
  const Model flag_and_own = [](Thread& t) {
    if (t.x() >= 30) return;
    t.read(0, t.x());
    t.read(1, t.x());
    t.write(2, t.x());
  };
  return {
      {"by_data",
       {4},
       {8},
       {set, in, out, scalar(30)},
       {"reads exact", "reads bounded", "may-writes exact"},
       flag_and_own},
      {"return_on_data",
       {4},
       {8},
       {set, in, out, scalar(30)},
       {"reads exact", "reads bounded", "may-writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.block.x);
         t.read(1, t.x());
         t.write(2, t.x());
       }},
      {.kernel = "both_ways_on_data",
       .grid = {4},
       .block = {8},
       .arguments = {set, out, scalar(30)},
       .footprint = {"reads bounded", "may-writes exact"},
       .model = reads([](int i) { return i; }),
       .wider_than_ideal = "one of the two writes always happens"},
      {.kernel = "either_place_by_data",
       .grid = {4},
       .block = {8},
       .arguments = {set, out, scalar(30)},
       .footprint = {"reads exact", "may-writes exact"},
       .model =
           [](Thread& t) {
             if (t.x() >= 30) return;
             t.read(0, t.x());
             t.write(1, t.x());
             t.write(1, t.x() + 30);
           },
       .data_decides = true},
      {"by_vote",
       {2},
       {32},
       {ints(64, [](size_t) { return 1; }), out},
       {"reads exact", "may-writes exact"},
       [](Thread& t) {
         t.read(0, t.x());
         t.write(1, t.x());
       }},
  };
}

}  // namespace

std::vector<KernelCase> guard_cases() {
  std::vector<KernelCase> cases = by_position();
  for (const auto& more : {by_scalar(), by_data()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace sluice::footprints
