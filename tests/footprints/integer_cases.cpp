#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

Model reads(int n, const std::function<int64_t(int)>& from, int64_t bytes = 4) {
  return [=](Thread& t) {
    if (t.x() >= n) return;
    t.read(0, from(t.x()), bytes);
    t.write(1, t.x(), bytes);
  };
}

std::vector<KernelCase> wraps() {
  const Argument in = buffer(1024), out = buffer(1024);
  const std::vector<std::string> whole = {"may-writes whole"};
  return {
      {"scale_and_add",
       {4},
       {8},
       {out, scalar(3), scalar(5)},
       {"writes exact"},
       [](Thread& t) { t.write(0, t.x() * 3 + 5); }},
      {.kernel = "every_fourth_scaled",
       .grid = {4},
       .block = {8},
       .arguments = {out, scalar((1 << 30) + 1), scalar(5)},
       .footprint = whole,
       .wider_than_ideal = "each sum wraps back to X + 5"},
      {"wraps_and_returns",
       {4},
       {8},
       {in, out, scalar((1 << 30) + 1), scalar(5)},
       copy,
       reads(32, [](int i) { return 4 * i + 5; })},
      {"unsigned_scale_and_add",
       {4},
       {8},
       {out, scalar(3u), scalar(5u)},
       {"writes exact"},
       [](Thread& t) { t.write(0, t.x() * 3 + 5); }},
      {"unsigned_scale_and_add",
       {4},
       {8},
       {out, scalar(~0u), scalar(40u)},
       {"writes exact"},
       [](Thread& t) { t.write(0, 40 - t.x()); }},
      {"minus_one_unsigned",
       {4},
       {8},
       {in, out, scalar(30u)},
       copy,
       [](Thread& t) {
         if (t.x() < 1 || t.x() > 30) return;
         t.read(0, t.x() - 1);
         t.write(1, t.x() - 1);
       }},
      {"wrap_is_out_of_range",
       {4},
       {8},
       {in, out, scalar(20u)},
       copy,
       [](Thread& t) {
         if (t.x() < 5 || t.x() >= 25) return;
         t.read(0, t.x() - 5);
         t.write(1, t.x());
       }},
      {"byte_wrap",
       {4},
       {8},
       {buffer(1024), out, scalar(30)},
       copy,
       reads(30, [](int i) { return i * 10 % 256; })},
      {.kernel = "count_wraps",
       .grid = {2},
       .block = {4},
       .arguments = {in, out, scalar(4'294'967'290u), scalar(3u)},
       .footprint = {"reads whole", "may-writes bounded"},
       .wider_than_ideal = "every thread writes its element"},
      {.kernel = "truncated_long",
       .grid = {4},
       .block = {8},
       .arguments = {in, out, scalar((1ll << 32) + 7), scalar(30)},
       .footprint = copy,
       .model = reads(30, [](int i) { return i + 7; })},
  };
}

std::vector<KernelCase> widths() {
  const Argument in = buffer(1024), out = buffer(1024);
  return {
      {"long_index",
       {4},
       {8},
       {in, out, scalar(5'000'000'011ll), scalar(30)},
       {"reads exact", "writes exact"},
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x() + 11, 1);
         t.write(1, t.x() + 0, 1);
       }},
      {"size_product",
       {4},
       {8},
       {in, out, scalar(size_t{7}), scalar(30)},
       copy,
       reads(30, [](int i) { return 7 * i; })},
      {"short_index",
       {4},
       {8},
       {in, out, scalar(30)},
       copy,
       reads(30, [](int i) { return 4 * i; })},
      {"signed_short",
       {4},
       {8},
       {buffer(1024, 64), out, scalar(30)},
       copy,
       reads(30, [](int i) { return i - 4; })},
      {"high_product",
       {4},
       {8},
       {in, out, scalar(1u << 30), scalar(30)},
       copy,
       reads(30, [](int i) { return i / 4; })},
      {"narrow_multiply",
       {4},
       {8},
       {in, out, scalar(30)},
       copy,
       reads(30, [](int i) { return 3 * i; })},
      {"byte_counter",
       {2},
       {4},
       {in, out, scalar(static_cast<unsigned char>(200))},
       copy,
       [](Thread& t) {
         for (int i = 0; i < 200; ++i)
           t.read(0, i);
         t.write(1, t.x());
       }},
  };
}

}  // namespace

std::vector<KernelCase> integer_cases() {
  std::vector<KernelCase> cases = wraps();
  for (KernelCase& row : widths())
    cases.push_back(std::move(row));
  return cases;
}

}  // namespace sluice::footprints
