// Many instructions in one kernel, each with a reference, so that tables of hundreds cost little.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::ptx::test {

// Sheet is a list of instructions over the sources of lift_on_host.hpp's Operation. The first
// operand of each is the register with its result: %h9, %r9, %rd9, %f9, %fd9 or %p9.
class Sheet {
 public:
  using Reference = std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)>;

  // add() takes a text without semicolon, "add.s32 %r9, %r0, %r1". The reference gives the bits of
  // the result; bits above the register's width are not compared, and a NaN is as good as another.
  void add(std::string instruction, Reference expected);

  // check() runs all of them on each pair of values, with a third one made of the two.
  void check(const std::vector<uint64_t>& values) const;

  std::vector<std::string> opcodes() const;

 private:
  struct Row {
    std::string instruction;
    std::string result;
    Reference expected;
  };
  void check(size_t first, size_t last, const std::vector<uint64_t>& values) const;

  std::vector<Row> rows_;
};

}  // namespace sluice::ptx::test
