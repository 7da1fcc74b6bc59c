// References of logic, shifts and bit fields, and of comparisons and selections.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "ptx/lift/lift_on_host.hpp"
#include "ptx/opcode_tables.hpp"

namespace sluice::ptx::test {
namespace {

struct Width {
  unsigned bits;
  const char* letter;

  std::string type(char kind) const { return std::string(".") + kind + std::to_string(bits); }
  std::string source(int number) const {
    return std::string("%") + letter + std::to_string(number);
  }
  std::string result() const { return std::string("%") + letter + "9"; }
  uint64_t mask() const { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }
  int64_t extend(uint64_t value) const {
    return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
  }
};

constexpr Width widths[] = {{16, "h"}, {32, "r"}, {64, "rd"}};

void add_logic(Sheet& sheet, const Width& width) {
  const std::string two =
      width.type('b') + " " + width.result() + ", " + width.source(0) + ", " + width.source(1);
  const std::string one = width.type('b') + " " + width.result() + ", " + width.source(0);
  sheet.add("and" + two, [](uint64_t a, uint64_t b, uint64_t) { return a & b; });
  sheet.add("or" + two, [](uint64_t a, uint64_t b, uint64_t) { return a | b; });
  sheet.add("xor" + two, [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; });
  sheet.add("not" + one, [](uint64_t a, uint64_t, uint64_t) { return ~a; });
  sheet.add("cnot" + one,
            [width](uint64_t a, uint64_t, uint64_t) { return (a & width.mask()) == 0 ? 1 : 0; });
  sheet.add("mov" + one, [](uint64_t a, uint64_t, uint64_t) { return a; });
  sheet.add("selp" + two + ", %p2",
            [](uint64_t a, uint64_t b, uint64_t c) { return c != 0 ? a : b; });
  sheet.add(
      std::string("slct") + width.type('u') + ".s32 " + width.result() + ", " + width.source(0) +
          ", " + width.source(1) + ", %r2",
      [](uint64_t a, uint64_t b, uint64_t c) { return static_cast<int32_t>(c) >= 0 ? a : b; });
  // A shift by the width or more leaves nothing, or the sign.
  const std::string shift = std::string(" ") + width.result() + ", " + width.source(0) + ", %r1";
  const auto by = [](uint64_t b) { return static_cast<uint32_t>(b); };
  sheet.add(std::string("shl") + width.type('b') + shift,
            [width, by](uint64_t a, uint64_t b, uint64_t) {
              return by(b) < width.bits ? a << by(b) : 0;
            });
  sheet.add(std::string("shr") + width.type('u') + shift,
            [width, by](uint64_t a, uint64_t b, uint64_t) {
              return by(b) < width.bits ? (a & width.mask()) >> by(b) : 0;
            });
  sheet.add(std::string("shr") + width.type('s') + shift,
            [width, by](uint64_t a, uint64_t b, uint64_t) {
              return static_cast<uint64_t>(width.extend(a) >> std::min(by(b), width.bits - 1));
            });
}

// Of 32 and 64 bits alone.
void add_counts(Sheet& sheet, const Width& width) {
  const std::string from = std::string(", ") + width.source(0);
  const unsigned unused = 64 - width.bits;
  sheet.add(std::string("popc") + width.type('b') + " %r9" + from,
            [width](uint64_t a, uint64_t, uint64_t) {
              return static_cast<uint64_t>(std::popcount(a & width.mask()));
            });
  const auto zeros = [width, unused](uint64_t a) {
    return static_cast<uint64_t>(std::countl_zero(a & width.mask())) - unused;
  };
  sheet.add(std::string("clz") + width.type('b') + " %r9" + from,
            [zeros](uint64_t a, uint64_t, uint64_t) { return zeros(a); });
  sheet.add(std::string("brev") + width.type('b') + " " + width.result() + from,
            [width](uint64_t a, uint64_t, uint64_t) {
              uint64_t reversed = 0;
              for (unsigned i = 0; i < width.bits; ++i)
                reversed |= (a >> i & 1) << (width.bits - 1 - i);
              return reversed;
            });
  for (bool is_signed : {false, true}) {
    for (bool shift : {false, true}) {
      const std::string name = std::string("bfind") + (shift ? ".shiftamt" : "") +
                               width.type(is_signed ? 's' : 'u') + " %r9" + from;
      sheet.add(name, [=](uint64_t a, uint64_t, uint64_t) -> uint64_t {
        const bool negative = is_signed && width.extend(a) < 0;
        const uint64_t left = zeros(negative ? ~a : a);
        if (left == width.bits) return ~uint64_t{0};
        return shift ? left : width.bits - 1 - left;
      });
    }
    sheet.add(std::string("bfe") + width.type(is_signed ? 's' : 'u') + " " + width.result() + from +
                  ", %r1, %r2",
              [=](uint64_t a, uint64_t b, uint64_t c) {
                const unsigned position = b & 0xFF;
                const unsigned length = c & 0xFF;
                const unsigned last = std::min(position + length - 1, width.bits - 1);
                const bool sign = is_signed && length != 0 && (a >> last & 1) != 0;
                uint64_t field = 0;
                for (unsigned i = 0; i < width.bits; ++i) {
                  const bool inside = i < length && position + i < width.bits;
                  field |= uint64_t{inside ? (a >> (position + i) & 1) != 0 : sign} << i;
                }
                return field;
              });
  }
  sheet.add(std::string("bfi") + width.type('b') + " " + width.result() + from + ", " +
                width.source(1) + ", %r2, %r0",
            [width](uint64_t a, uint64_t b, uint64_t c) {
              const unsigned position = c & 0xFF;
              const unsigned length = a & 0xFF;
              for (unsigned i = 0; i < length && position + i < width.bits; ++i) {
                b = (b & ~(uint64_t{1} << (position + i))) | (a >> i & 1) << (position + i);
              }
              return b;
            });
}

void add_funnel_and_tables(Sheet& sheet) {
  for (bool left : {true, false}) {
    for (bool wrap : {true, false}) {
      const std::string name =
          std::string("shf.") + (left ? "l" : "r") + (wrap ? ".wrap" : ".clamp");
      sheet.add(name + ".b32 %r9, %r0, %r1, %r2", [=](uint64_t a, uint64_t b, uint64_t c) {
        const auto amount = static_cast<uint32_t>(c);
        const unsigned by = wrap ? amount & 31 : std::min(amount, 32U);
        const uint64_t both = (b & 0xFFFFFFFF) << 32 | (a & 0xFFFFFFFF);
        return left ? both << by >> 32 : both >> by;
      });
    }
  }
  for (unsigned table : {0U, 0x1BU, 0x96U, 0xE8U, 0xFFU}) {
    sheet.add(std::string("lop3.b32 %r9, %r0, %r1, %r2, ") + std::to_string(table),
              [table](uint64_t a, uint64_t b, uint64_t c) {
                uint64_t result = 0;
                for (unsigned i = 0; i < 32; ++i) {
                  const unsigned row =
                      unsigned(a >> i & 1) << 2 | unsigned(b >> i & 1) << 1 | unsigned(c >> i & 1);
                  result |= uint64_t{table >> row & 1} << i;
                }
                return result;
              });
  }
  sheet.add("prmt.b32 %r9, %r0, %r1, %r2", [](uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t both = b << 32 | (a & 0xFFFFFFFF);
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned selector = c >> 4 * i & 15;
      uint64_t byte = both >> 8 * (selector & 7) & 0xFF;
      if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
      result |= byte << 8 * i;
    }
    return result;
  });
  const std::pair<const char*, std::array<unsigned, 4>> modes[] = {
      {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
      {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
      {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
  for (const auto& [mode, selectors] : modes) {
    sheet.add(std::string("prmt.b32.") + mode + " %r9, %r0, %r1, %r2",
              [selectors = selectors](uint64_t a, uint64_t b, uint64_t c) {
                const uint64_t both = b << 32 | (a & 0xFFFFFFFF);
                uint64_t result = 0;
                for (unsigned i = 0; i < 4; ++i)
                  result |= (both >> 8 * (selectors[c % 4] >> 4 * i & 15) & 0xFF) << 8 * i;
                return result;
              });
  }
}

struct Comparison {
  const char* name;
  bool less, equal, greater;
};
constexpr Comparison comparisons[] = {{"eq", false, true, false}, {"ne", true, false, true},
                                      {"lt", true, false, false}, {"le", true, true, false},
                                      {"gt", false, false, true}, {"ge", false, true, true}};
constexpr Comparison unsigned_comparisons[] = {{"lo", true, false, false},
                                               {"ls", true, true, false},
                                               {"hi", false, false, true},
                                               {"hs", false, true, true}};

template <class Value>
bool holds(const Comparison& comparison, Value a, Value b) {
  return (a < b && comparison.less) || (a == b && comparison.equal) ||
         (a > b && comparison.greater);
}

void add_integer_comparison(Sheet& sheet, const Comparison& comparison, const Width& width,
                            bool is_signed) {
  const std::string type = width.type(is_signed ? 's' : 'u');
  const std::string sources = std::string(", ") + width.source(0) + ", " + width.source(1);
  const auto result = [=](uint64_t a, uint64_t b) {
    return is_signed ? holds(comparison, width.extend(a), width.extend(b))
                     : holds(comparison, a & width.mask(), b & width.mask());
  };
  const std::string name(comparison.name);
  sheet.add("setp." + name + type + " %p9" + sources,
            [=](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return result(a, b); });
  sheet.add(
      "setp." + name + ".xor" + type + " %p9" + sources + ", %p2",
      [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t { return result(a, b) != (c != 0); });
  sheet.add("set." + name + ".u32" + type + " %r9" + sources,
            [=](uint64_t a, uint64_t b, uint64_t) { return result(a, b) ? ~uint64_t{0} : 0; });
}

// A comparison with a u after its name holds where a value is NaN, too.
void add_float_comparison(Sheet& sheet, const Comparison& comparison, bool is_double) {
  const std::string type = is_double ? ".f64" : ".f32";
  const std::string sources = is_double ? ", %fd0, %fd1" : ", %f0, %f1";
  const auto result = [=](uint64_t a, uint64_t b, bool unordered) {
    const double x = is_double ? as_double(a) : double{as_float(a)};
    const double y = is_double ? as_double(b) : double{as_float(b)};
    if (std::isnan(x) || std::isnan(y)) return unordered;
    return holds(comparison, x, y);
  };
  const std::string name(comparison.name);
  for (const bool unordered : {false, true}) {
    const std::string suffix = unordered ? "u" : "";
    sheet.add(
        "setp." + name + suffix + type + " %p9" + sources,
        [=](uint64_t a, uint64_t b, uint64_t) -> uint64_t { return result(a, b, unordered); });
    sheet.add("set." + name + suffix + ".f32" + type + " %f9" + sources,
              [=](uint64_t a, uint64_t b, uint64_t) {
                return bits(result(a, b, unordered) ? 1.0F : 0.0F);
              });
  }
}

}  // namespace

Sheet bit_sheet() {
  Sheet sheet;
  for (const Width& width : widths) {
    add_logic(sheet, width);
    if (width.bits > 16) add_counts(sheet, width);
  }
  add_funnel_and_tables(sheet);
  return sheet;
}

Sheet comparison_sheet() {
  Sheet sheet;
  for (const Width& width : widths) {
    for (const Comparison& comparison : comparisons) {
      add_integer_comparison(sheet, comparison, width, true);
      add_integer_comparison(sheet, comparison, width, false);
    }
    for (const Comparison& comparison : unsigned_comparisons)
      add_integer_comparison(sheet, comparison, width, false);
  }
  for (const Comparison& comparison : comparisons) {
    add_float_comparison(sheet, comparison, false);
    add_float_comparison(sheet, comparison, true);
  }
  return sheet;
}

}  // namespace sluice::ptx::test
