#include <algorithm>
#include <cstdlib>

#include "kernel_case.hpp"

namespace sluice::footprints {
namespace {

std::vector<KernelCase> divisions() {
  const std::vector<Argument> two = {buffer(1024), buffer(1024), scalar(30)};
  return {
      {"take_quotient", {4}, {8}, two, copy, reads([](int i) { return i / 3; })},
      {"take_remainder", {4}, {8}, two, copy, reads([](int i) { return i % 7; })},
      {"divide_by_scalar",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30), scalar(10u)},
       copy,
       [](Thread& t) {
         const int i = t.x();
         if (i >= 30) return;
         t.read(0, i);
         t.write(1, i % 10 * 10 + i / 10);
       }},
      {.kernel = "remainder_of_negative",
       .grid = {4},
       .block = {8},
       .arguments = {buffer(512), buffer(512), scalar(30), scalar(12)},
       .footprint = {"reads whole", "writes exact"},
       .model =
           [](Thread& t) {
             if (t.x() < 30) t.write(1, t.x());
           },
       .wider_than_ideal = "quasi-affine with a case for each sign"},
      {.kernel = "tiles_in_a_row",
       .grid = {6},
       .block = {4, 4},
       .arguments = {buffer(2048), buffer(2048), scalar(3)},
       .footprint = {"reads bounded", "may-writes bounded"},
       .model = [](Thread&) {},
       .wider_than_ideal = "block / 3 and block % 3 are quasi-affine"},
      {"average_up",
       {2},
       {8},
       {buffer(512), buffer(512), scalar(29)},
       copy,
       [](Thread& t) {
         if (t.x() >= 15) return;
         t.read(0, 2 * t.x());
         t.read(0, std::min(2 * t.x() + 1, 28));
         t.write(1, t.x());
       }},
      {"periodic_remainder",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, (t.x() + 29) % 30);
         t.read(0, (t.x() + 1) % 30);
         t.write(1, t.x());
       }},
  };
}

std::vector<KernelCase> bits() {
  const std::vector<Argument> two = {buffer(1024), buffer(1024), scalar(30)};
  return {
      {"shift_left",
       {4},
       {8},
       {buffer(512), buffer(1024), scalar(30), scalar(2)},
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x());
         t.write(1, t.x() << 2);
       }},
      {"shift_right", {4}, {8}, two, copy, reads([](int i) { return i >> 3; })},
      {"mask_low", {4}, {8}, two, copy, reads([](int i) { return i & 7; })},
      {"mask_high", {4}, {8}, two, copy, reads([](int i) { return i & ~3; })},
      {"or_bits", {4}, {8}, two, copy, reads([](int i) { return (i << 1) | 1; })},
      {"exclusive_or", {4}, {8}, two, copy, reads([](int i) { return i ^ 1; })},
      {"butterfly",
       {4},
       {8},
       {buffer(512), scalar(8)},
       {"reads exact, writes exact"},
       [](Thread& t) {
         const int i = t.x(), partner = i ^ 8;
         if (partner <= i) return;
         t.update(0, i);
         t.update(0, partner);
       }},
      {"bit_reverse",
       {4},
       {8},
       {buffer(512), buffer(512)},
       {"reads bounded", "writes exact"},
       [](Thread& t) { t.write(1, t.x()); }},
  };
}

std::vector<KernelCase> choices() {
  const std::vector<Argument> two = {buffer(1024), buffer(1024), scalar(30)};
  return {
      {"clamp_1d",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, std::max(t.x() - 2, 0));
         t.read(0, std::min(t.x() + 2, 29));
         t.write(1, t.x());
       }},
      {"clamp_2d",
       {3, 3},
       {4, 4},
       {buffer(1024), buffer(1024), scalar(10), scalar(9)},
       copy,
       [](Thread& t) {
         if (t.x() >= 10 || t.y() >= 9) return;
         t.read(0, std::max(t.y() - 1, 0) * 10 + std::min(t.x() + 1, 9));
         t.write(1, t.y() * 10 + t.x());
       }},
      {"periodic",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.x() == 0 ? 29 : t.x() - 1);
         t.read(0, t.x() == 29 ? 0 : t.x() + 1);
         t.write(1, t.x());
       }},
      {"select_half",
       {4},
       {8},
       two,
       copy,
       [](Thread& t) {
         if (t.x() >= 30) return;
         t.read(0, t.thread.x < 4 ? t.x() : 2 * t.x());
         t.write(1, t.x());
       }},
      {"absolute_value",
       {4},
       {8},
       {buffer(512), buffer(512), scalar(30), scalar(11)},
       copy,
       reads([](int i) { return std::abs(i - 11); })},
  };
}

}  // namespace

std::vector<KernelCase> quasi_affine_cases() {
  std::vector<KernelCase> cases = divisions();
  for (const auto& more : {bits(), choices()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace sluice::footprints
