// Video instructions: every operation, type, selector and second operation on edges and random
// values, against the pseudo-code of the PTX manual in plain C++.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "ptx/opcode_sheet.hpp"

namespace sluice::ptx::test {
namespace {

int64_t extend(uint64_t value, unsigned bits, bool is_signed) {
  value &= (uint64_t{1} << bits) - 1;
  if (is_signed && (value >> (bits - 1) & 1) != 0) return int64_t(value) - (int64_t{1} << bits);
  return int64_t(value);
}

int64_t saturate(int64_t value, unsigned bits, bool is_signed) {
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(value, is_signed ? -high - 1 : 0, high);
}

struct Selector {
  const char* text;
  unsigned first, bits;
};
constexpr Selector selectors[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                                  {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};

int64_t selected(uint64_t value, const Selector& selector, bool is_signed) {
  return extend((value & 0xFFFFFFFF) >> selector.first, selector.bits, is_signed);
}

using Reference = std::function<int64_t(int64_t, int64_t)>;
struct Named {
  const char* name;
  Reference apply;
};

const std::vector<Named>& operations() {
  static const std::vector<Named> all = {
      {"vadd", [](int64_t a, int64_t b) { return a + b; }},
      {"vsub", [](int64_t a, int64_t b) { return a - b; }},
      {"vabsdiff", [](int64_t a, int64_t b) { return std::abs(a - b); }},
      {"vmin", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"vmax", [](int64_t a, int64_t b) { return std::max(a, b); }}};
  return all;
}

const std::vector<Named>& comparisons() {
  static const std::vector<Named> all = {
      {"eq", [](int64_t a, int64_t b) -> int64_t { return a == b; }},
      {"ne", [](int64_t a, int64_t b) -> int64_t { return a != b; }},
      {"lt", [](int64_t a, int64_t b) -> int64_t { return a < b; }},
      {"le", [](int64_t a, int64_t b) -> int64_t { return a <= b; }},
      {"gt", [](int64_t a, int64_t b) -> int64_t { return a > b; }},
      {"ge", [](int64_t a, int64_t b) -> int64_t { return a >= b; }}};
  return all;
}

const char* type_name(bool is_signed) {
  return is_signed ? ".s32" : ".u32";
}

// values() are edges of bytes, halves and words, and random ones.
const std::vector<uint64_t>& values() {
  static const std::vector<uint64_t> all = [] {
    std::vector<uint64_t> result = {0,          1,          0x7F,       0x80,       0xFF,
                                    0x7FFF,     0x8000,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                                    0x80FF7F01, 0x01027FFE, 31,         32,         33};
    std::mt19937 random(1);
    for (int i = 0; i < 9; ++i)
      result.push_back(random());
    return result;
  }();
  return all;
}

// add() puts an instruction and its reference in 32 bits on a sheet.
template <class Expected>
void add(Sheet& sheet, const std::string& text, const Expected& expected) {
  sheet.add(text, [expected](uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<uint64_t>(
        expected(static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(c)));
  });
}

// Types, selectors and saturation by turns: each is met with each operation.
TEST(LiftVideo, ScalarOperationsSelectAndSaturate) {
  Sheet sheet;
  unsigned turn = 0;
  for (const Named& operation : operations()) {
    for (unsigned types = 0; types < 8; ++types) {
      const bool d = types & 1, a = types & 2, b = types & 4;
      const bool sat = turn % 3 == 0;
      const Selector& of_a = selectors[turn % 7];
      const Selector& of_b = selectors[(turn / 2 + 3) % 7];
      ++turn;
      const std::string text = std::string(operation.name) + type_name(d) + type_name(a) +
                               type_name(b) + (sat ? ".sat" : "") + " %r9, %r0" + of_a.text +
                               ", %r1" + of_b.text;
      add(sheet, text, [=](uint32_t x, uint32_t y, uint32_t) {
        const int64_t value = operation.apply(selected(x, of_a, a), selected(y, of_b, b));
        return sat ? saturate(value, 32, d) : value;
      });
    }
  }
  sheet.check(values());
}

TEST(LiftVideo, ScalarResultsMergeAndCombine) {
  Sheet sheet;
  unsigned turn = 0;
  for (const Named& operation : operations()) {
    for (bool d : {false, true}) {
      for (const Selector& to : selectors) {
        if (to.bits == 32) continue;
        const bool sat = turn++ % 2 == 0;
        const std::string text = std::string(operation.name) + type_name(d) + ".s32.u32" +
                                 (sat ? ".sat" : "") + " %r9" + to.text + ", %r0.h1, %r1.b0, %r2";
        add(sheet, text, [=](uint32_t x, uint32_t y, uint32_t z) {
          int64_t value = operation.apply(extend(x >> 16, 16, true), extend(y, 8, false));
          if (sat) value = saturate(value, to.bits, d);
          const uint64_t mask = ((uint64_t{1} << to.bits) - 1) << to.first;
          return ((uint64_t(value) << to.first) & mask) | (z & ~mask);
        });
      }
      for (const char* second : {"add", "min", "max"}) {
        const std::string text = std::string(operation.name) + type_name(d) + ".u32.u32." + second +
                                 " %r9, %r0.b3, %r1.h0, %r2";
        add(sheet, text, [=](uint32_t x, uint32_t y, uint32_t z) {
          const int64_t first = extend(uint64_t(operation.apply(x >> 24, y & 0xFFFF)), 32, d);
          const int64_t third = extend(z, 32, d);
          if (second[1] == 'd') return first + third;
          return second[1] == 'i' ? std::min(first, third) : std::max(first, third);
        });
      }
    }
  }
  sheet.check(values());
}

TEST(LiftVideo, ShiftsClampOrWrapTheirAmount) {
  Sheet sheet;
  for (bool left : {true, false}) {
    for (bool wrap : {true, false}) {
      for (bool is_signed : {true, false}) {
        const std::string type = type_name(is_signed);
        const std::string text = std::string(left ? "vshl" : "vshr") + type + type + ".u32" +
                                 (wrap ? ".wrap" : ".clamp") + " %r9, %r0, %r1";
        add(sheet, text, [=](uint32_t x, uint32_t y, uint32_t) {
          const uint32_t by = wrap ? y & 31 : std::min(y, 32U);
          const int64_t value = extend(x, 32, is_signed);
          return left ? int64_t(uint64_t(value) << by) : value >> by;
        });
      }
    }
  }
  sheet.check(values());
}

TEST(LiftVideo, MultipliesAddsAndScales) {
  Sheet sheet;
  struct Scale {
    const char* text;
    unsigned by;
  };
  for (const Scale& scale : {Scale{"", 0}, Scale{".shr7", 7}, Scale{".shr15", 15}}) {
    for (unsigned how = scale.by % 2; how < 16; how += 2) {
      const bool a = how & 1, b = how & 2, sat = how & 4, plus_one = how & 8;
      const std::string text = std::string("vmad.s32") + type_name(a) + type_name(b) +
                               (sat ? ".sat" : "") + scale.text + " %r9, %r0, %r1.h1, %r2" +
                               (plus_one ? ".po" : "");
      add(sheet, text, [=](uint32_t x, uint32_t y, uint32_t z) {
        const bool is_signed = a || b;
        __int128 value = __int128(extend(x, 32, a)) * extend(y >> 16, 16, b);
        value += extend(z, 32, is_signed);
        value += plus_one ? 1 : 0;
        const auto scaled = static_cast<int64_t>(value >> scale.by);
        return sat ? saturate(scaled, 32, is_signed) : scaled;
      });
    }
  }
  sheet.check(values());
}

TEST(LiftVideo, ComparisonsGiveOneOrZero) {
  Sheet sheet;
  for (const Named& comparison : comparisons()) {
    for (bool is_signed : {false, true}) {
      const std::string type = type_name(is_signed);
      const std::string name = "vset" + type + type + "." + comparison.name;
      add(sheet, name + " %r9, %r0.b1, %r1.b2", [=](uint32_t x, uint32_t y, uint32_t) {
        return comparison.apply(extend(x >> 8, 8, is_signed), extend(y >> 16, 8, is_signed));
      });
      add(sheet, name + ".add %r9, %r0, %r1, %r2", [=](uint32_t x, uint32_t y, uint32_t z) {
        return comparison.apply(extend(x, 32, is_signed), extend(y, 32, is_signed)) + z;
      });
    }
  }
  sheet.check(values());
}

// Simd is one instruction on `lanes` parts: which parts of {b, a} each lane takes, lanes that are
// written, and what happens with the third source.
struct Simd {
  std::string name;
  unsigned lanes;
  bool d, a, b, sat, sums;
  Reference apply;
  unsigned from_a[4], from_b[4];
  unsigned mask;
};

uint32_t reference(const Simd& simd, uint32_t x, uint32_t y, uint32_t z) {
  const unsigned bits = 32 / simd.lanes;
  const uint64_t both = uint64_t{y} << 32 | x;
  uint64_t result = z;
  for (unsigned i = 0; i < simd.lanes; ++i) {
    if ((simd.mask >> i & 1) == 0) continue;
    int64_t value = simd.apply(extend(both >> simd.from_a[i] * bits, bits, simd.a),
                               extend(both >> simd.from_b[i] * bits, bits, simd.b));
    if (simd.sat) value = saturate(value, bits, simd.d);
    if (simd.sums) {
      result += uint64_t(value);
      continue;
    }
    const uint64_t mask = ((uint64_t{1} << bits) - 1) << i * bits;
    result = (result & ~mask) | (uint64_t(value) << i * bits & mask);
  }
  return static_cast<uint32_t>(result);
}

TEST(LiftVideo, PairsAndQuadruples) {
  Sheet sheet;
  std::vector<Named> all = operations();
  all.push_back(
      {"vavrg", [](int64_t a, int64_t b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; }});
  unsigned turn = 0;
  for (const Named& operation : all) {
    for (unsigned lanes : {2U, 4U}) {
      for (unsigned how = turn % 3; how < 16; how += 3) {
        Simd simd{operation.name,
                  lanes,
                  (how & 1) != 0,
                  (how & 2) != 0,
                  (how & 2) != 0,
                  (how & 4) != 0,
                  (how & 8) != 0,
                  operation.apply,
                  {0, 1, 2, 3},
                  {},
                  15};
        for (unsigned i = 0; i < 4; ++i)
          simd.from_b[i] = lanes + i;
        std::string to, from_a;
        if (turn++ % 3 == 0) {
          // Parts of the second source, out of order, and one lane alone.
          to = lanes == 2 ? ".h1" : ".b20";
          simd.mask = lanes == 2 ? 2 : 5;
          from_a = lanes == 2 ? ".h03" : ".b1750";
          const unsigned digits[2][4] = {{3, 0, 0, 0}, {0, 5, 7, 1}};
          std::copy_n(digits[lanes / 4], 4, simd.from_a);
        }
        const std::string text = std::string(operation.name) + std::to_string(lanes) +
                                 type_name(simd.d) + type_name(simd.a) + type_name(simd.b) +
                                 (simd.sums  ? ".add"
                                  : simd.sat ? ".sat"
                                             : "") +
                                 " %r9" + to + ", %r0" + from_a + ", %r1, %r2";
        if (simd.sums) simd.sat = false;
        add(sheet, text,
            [=](uint32_t x, uint32_t y, uint32_t z) { return reference(simd, x, y, z); });
      }
    }
  }
  sheet.check(values());
}

TEST(LiftVideo, PairsAndQuadruplesCompare) {
  Sheet sheet;
  for (const Named& comparison : comparisons()) {
    for (unsigned lanes : {2U, 4U}) {
      for (bool sums : {false, true}) {
        Simd simd{"vset",           lanes,        false, true, true, false, sums,
                  comparison.apply, {0, 1, 2, 3}, {},    15};
        for (unsigned i = 0; i < 4; ++i)
          simd.from_b[i] = lanes + i;
        const std::string text = std::string("vset") + std::to_string(lanes) + ".s32.s32." +
                                 comparison.name + (sums ? ".add" : "") + " %r9, %r0, %r1, %r2";
        add(sheet, text,
            [=](uint32_t x, uint32_t y, uint32_t z) { return reference(simd, x, y, z); });
      }
    }
  }
  sheet.check(values());
}

}  // namespace
}  // namespace sluice::ptx::test
