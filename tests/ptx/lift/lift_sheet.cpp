#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "ptx/lift/lift_on_host.hpp"
#include "ptx/opcode_sheet.hpp"

namespace sluice::ptx::test {
namespace {

unsigned width_of(const std::string& result) {
  if (result == "%p9") return 1;
  if (result == "%h9") return 16;
  return result == "%rd9" || result == "%fd9" ? 64 : 32;
}

bool same(const std::string& result, uint64_t actual, uint64_t expected) {
  if (result == "%f9" && std::isnan(as_float(expected))) return std::isnan(as_float(actual));
  if (result == "%fd9" && std::isnan(as_double(expected))) return std::isnan(as_double(actual));
  const unsigned width = width_of(result);
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return actual == (expected & mask);
}

std::string prologue() {
  std::string text =
      ".visible .entry k(.param .u64 memory)\n{\n"
      ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<10>;\n.reg .b64 %rd<10>;\n"
      ".reg .f32 %f<10>;\n.reg .f64 %fd<10>;\n.reg .b64 %m;\nld.param.u64 %m, [memory];\n";
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    const std::string place = n + ", [%m+" + std::to_string(8 * i) + "];\n";
    text += "ld.global.b16 %h" + place + "ld.global.b32 %r" + place + "ld.global.b64 %rd" + place +
            "ld.global.f32 %f" + place + "ld.global.f64 %fd" + place + "setp.ne.b64 %p" + n +
            ", %rd" + n + ", 0;\n";
  }
  return text;
}

}  // namespace

void Sheet::add(std::string instruction, Reference expected) {
  const size_t begin = instruction.find('%');
  const size_t end = instruction.find_first_of(",|.", begin);
  std::string result = instruction.substr(begin, end - begin);
  rows_.push_back({std::move(instruction), std::move(result), std::move(expected)});
}

std::vector<std::string> Sheet::opcodes() const {
  std::vector<std::string> opcodes;
  for (const Row& row : rows_)
    opcodes.push_back(row.instruction.substr(0, row.instruction.find('.')));
  return opcodes;
}

void Sheet::check(const std::vector<uint64_t>& values) const {
  constexpr size_t rows_in_kernel = 64;
  for (size_t first = 0; first < rows_.size(); first += rows_in_kernel)
    check(first, std::min(rows_.size(), first + rows_in_kernel), values);
}

void Sheet::check(size_t first, size_t last, const std::vector<uint64_t>& values) const {
  std::string text = prologue();
  for (size_t i = first; i < last; ++i) {
    const Row& row = rows_[i];
    const std::string place = std::string("[%m+") + std::to_string(24 + 8 * (i - first)) + "]";
    text += row.instruction + ";\n";
    if (row.result == "%p9") {
      text += "selp.b32 %r9, 1, 0, %p9;\nst.global.b32 " + place + ", %r9;\n";
    } else {
      const std::string width = std::to_string(width_of(row.result));
      text += "st.global.b" + width + " " + place + ", " + row.result + ";\n";
    }
  }
  const HostKernel kernel(unit(text + "ret;\n}\n"), "k");
  ASSERT_TRUE(kernel.usable()) << text;
  for (uint64_t a : values) {
    for (uint64_t b : values) {
      const uint64_t c = (a << 7) ^ (b >> 3) ^ (a + b);
      std::vector<uint64_t> memory(3 + last - first);
      memory[0] = a;
      memory[1] = b;
      memory[2] = c;
      kernel.run(memory);
      for (size_t i = first; i < last; ++i) {
        const uint64_t expected = rows_[i].expected(a, b, c);
        ASSERT_TRUE(same(rows_[i].result, memory[3 + i - first], expected))
            << rows_[i].instruction << " of " << std::hex << a << ", " << b << ", " << c << " gave "
            << memory[3 + i - first] << " and not " << expected;
      }
    }
  }
}

}  // namespace sluice::ptx::test
