#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

void write_own(Thread& t, int argument, int n) {
  if (t.x() < n) t.write(argument, t.x());
}

}  // namespace

std::vector<KernelCase> polynomial_cases() {
  const Argument large = buffer(8192);
  return {
      {"square",
       {4},
       {8},
       {large, buffer(512), scalar(30)},
       {"reads bounded", "writes exact"},
       [](Thread& t) { write_own(t, 1, 30); }},
      {"triangular_number",
       {4},
       {8},
       {large, buffer(512), scalar(30)},
       {"reads bounded", "writes exact"},
       [](Thread& t) { write_own(t, 1, 30); }},
      {"product_of_indices",
       {3, 3},
       {4, 4},
       {large, buffer(512), scalar(10), scalar(9)},
       {"reads bounded", "writes exact"},
       [](Thread& t) {
         if (t.x() < 10 && t.y() < 9) t.write(1, t.y() * 10 + t.x());
       }},
      {"product_with_scalars",
       {4},
       {8},
       {large, buffer(512), scalar(3), scalar(5), scalar(30)},
       {"reads exact", "writes exact"},
       reads([](int i) { return i * 15 + 9; })},
      {"block_times_thread", {4}, {8}, {large}, {"may-writes bounded"}, [](Thread&) {}},
      {.kernel = "packed_triangle",
       .grid = {4},
       .block = {8},
       .arguments = {large, buffer(512), scalar(30)},
       .footprint = {"reads whole", "writes exact"},
       .model = [](Thread& t) { write_own(t, 1, 30); },
       .wider_than_ideal = "a range of the product bounds it"},
  };
}

}  // namespace sluice::footprints
