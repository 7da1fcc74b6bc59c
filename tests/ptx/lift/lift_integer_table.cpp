// References of integer instructions, in 128-bit arithmetic.
#include "ptx/opcode_tables.hpp"

namespace sluice::ptx::test {
namespace {

using Wide = __int128;
using Unsigned = unsigned __int128;

// Kind is an integer type of PTX.
struct Kind {
  const char* name;
  unsigned bits;
  bool is_signed;
  const char* letter;  // of its registers

  Wide value(uint64_t register_bits) const {
    const unsigned unused = 64 - bits;
    if (is_signed) return static_cast<int64_t>(register_bits << unused) >> unused;
    return register_bits << unused >> unused;
  }
  std::string source(int number) const {
    return std::string("%") + letter + std::to_string(number);
  }
  std::string result() const { return std::string("%") + letter + "9"; }
};

constexpr Kind kinds[] = {{"u16", 16, false, "h"},  {"s16", 16, true, "h"},
                          {"u32", 32, false, "r"},  {"s32", 32, true, "r"},
                          {"u64", 64, false, "rd"}, {"s64", 64, true, "rd"}};

uint64_t low(Wide value) {
  return static_cast<uint64_t>(static_cast<Unsigned>(value));
}

Wide product(const Kind& kind, uint64_t a, uint64_t b) {
  return static_cast<Wide>(static_cast<Unsigned>(kind.value(a)) *
                           static_cast<Unsigned>(kind.value(b)));
}

Wide upper(const Kind& kind, uint64_t a, uint64_t b) {
  const Wide whole = product(kind, a, b);
  return kind.is_signed ? whole >> kind.bits
                        : static_cast<Wide>(static_cast<Unsigned>(whole) >> kind.bits);
}

uint64_t quotient(const Kind& kind, uint64_t a, uint64_t b) {
  if (kind.value(b) == 0) return ~uint64_t{0};
  return low(kind.value(a) / kind.value(b));
}

uint64_t remainder(const Kind& kind, uint64_t a, uint64_t b) {
  if (kind.value(b) == 0) return a;
  return low(kind.value(a) % kind.value(b));
}

template <class Apply>
void unary(Sheet& sheet, const char* opcode, const Kind& kind, Apply apply) {
  sheet.add(std::string(opcode) + "." + kind.name + " " + kind.result() + ", " + kind.source(0),
            [kind, apply](uint64_t a, uint64_t, uint64_t) { return apply(kind, a); });
}

template <class Apply>
void binary(Sheet& sheet, const char* opcode, const Kind& kind, Apply apply) {
  sheet.add(std::string(opcode) + "." + kind.name + " " + kind.result() + ", " + kind.source(0) +
                std::string(", ") + kind.source(1),
            [kind, apply](uint64_t a, uint64_t b, uint64_t) { return apply(kind, a, b); });
}

template <class Apply>
void ternary(Sheet& sheet, const char* opcode, const Kind& kind, Apply apply) {
  sheet.add(std::string(opcode) + "." + kind.name + " " + kind.result() + ", " + kind.source(0) +
                std::string(", ") + kind.source(1) + ", " + kind.source(2),
            [kind, apply](uint64_t a, uint64_t b, uint64_t c) { return apply(kind, a, b, c); });
}

void add_common(Sheet& sheet, const Kind& kind) {
  binary(sheet, "add", kind, [](const Kind&, uint64_t a, uint64_t b) { return a + b; });
  binary(sheet, "sub", kind, [](const Kind&, uint64_t a, uint64_t b) { return a - b; });
  binary(sheet, "mul.lo", kind, [](const Kind&, uint64_t a, uint64_t b) { return a * b; });
  binary(sheet, "mul.hi", kind,
         [](const Kind& k, uint64_t a, uint64_t b) { return low(upper(k, a, b)); });
  binary(sheet, "min", kind,
         [](const Kind& k, uint64_t a, uint64_t b) { return k.value(a) < k.value(b) ? a : b; });
  binary(sheet, "max", kind,
         [](const Kind& k, uint64_t a, uint64_t b) { return k.value(a) < k.value(b) ? b : a; });
  ternary(sheet, "mad.lo", kind,
          [](const Kind&, uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
  ternary(sheet, "mad.hi", kind, [](const Kind& k, uint64_t a, uint64_t b, uint64_t c) {
    return low(upper(k, a, b)) + c;
  });
  ternary(sheet, "sad", kind, [](const Kind& k, uint64_t a, uint64_t b, uint64_t c) {
    const Wide difference = k.value(a) - k.value(b);
    return low(difference < 0 ? -difference : difference) + c;
  });
  // What 16 bits give on division by zero PTX leaves open.
  if (kind.bits > 16) {
    binary(sheet, "div", kind, quotient);
    binary(sheet, "rem", kind, remainder);
  }
  if (kind.is_signed) {
    unary(sheet, "abs", kind,
          [](const Kind& k, uint64_t a) { return k.value(a) < 0 ? low(-k.value(a)) : a; });
    unary(sheet, "neg", kind, [](const Kind& k, uint64_t a) { return low(-k.value(a)); });
  }
}

void add_wide(Sheet& sheet, const Kind& kind) {
  const std::string result = kind.bits == 16 ? "%r9" : "%rd9";
  const std::string third = kind.bits == 16 ? "%r2" : "%rd2";
  const std::string sources = std::string(", ") + kind.source(0) + ", " + kind.source(1);
  sheet.add(std::string("mul.wide.") + std::string(kind.name) + " " + result + sources,
            [kind](uint64_t a, uint64_t b, uint64_t) { return low(product(kind, a, b)); });
  sheet.add(
      std::string("mad.wide.") + std::string(kind.name) + " " + result + sources + ", " + third,
      [kind](uint64_t a, uint64_t b, uint64_t c) { return low(product(kind, a, b)) + c; });
}

uint64_t clamp32(Wide value) {
  if (value > INT32_MAX) return INT32_MAX;
  return value < INT32_MIN ? static_cast<uint64_t>(int64_t{INT32_MIN}) : low(value);
}

Wide signed24(uint64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << 8) >> 8;
}

void add_special(Sheet& sheet) {
  const Kind s32 = kinds[3];
  sheet.add("add.sat.s32 %r9, %r0, %r1", [s32](uint64_t a, uint64_t b, uint64_t) {
    return clamp32(s32.value(a) + s32.value(b));
  });
  sheet.add("sub.sat.s32 %r9, %r0, %r1", [s32](uint64_t a, uint64_t b, uint64_t) {
    return clamp32(s32.value(a) - s32.value(b));
  });
  sheet.add("mad.hi.sat.s32 %r9, %r0, %r1, %r2", [s32](uint64_t a, uint64_t b, uint64_t c) {
    return clamp32(upper(s32, a, b) + s32.value(c));
  });
  sheet.add("mul24.lo.u32 %r9, %r0, %r1",
            [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); });
  sheet.add("mul24.hi.s32 %r9, %r0, %r1", [](uint64_t a, uint64_t b, uint64_t) {
    return low((signed24(a) * signed24(b)) >> 16);
  });
  sheet.add("mad24.lo.s32 %r9, %r0, %r1, %r2",
            [](uint64_t a, uint64_t b, uint64_t c) { return low(signed24(a) * signed24(b)) + c; });
  sheet.add("dp4a.s32.u32 %r9, %r0, %r1, %r2", [](uint64_t a, uint64_t b, uint64_t c) {
    int64_t sum = static_cast<int32_t>(c);
    for (unsigned i = 0; i < 4; ++i)
      sum += int64_t{static_cast<int8_t>(a >> 8 * i)} * static_cast<uint8_t>(b >> 8 * i);
    return static_cast<uint64_t>(sum);
  });
  sheet.add("dp2a.hi.u32.s32 %r9, %r0, %r1, %r2", [](uint64_t a, uint64_t b, uint64_t c) {
    int64_t sum = static_cast<int32_t>(c);
    for (unsigned i = 0; i < 2; ++i)
      sum += int64_t{static_cast<uint16_t>(a >> 16 * i)} * static_cast<int8_t>(b >> (16 + 8 * i));
    return static_cast<uint64_t>(sum);
  });
}

}  // namespace

Sheet integer_sheet() {
  Sheet sheet;
  for (const Kind& kind : kinds) {
    add_common(sheet, kind);
    if (kind.bits < 64) add_wide(sheet, kind);
  }
  add_special(sheet);
  return sheet;
}

}  // namespace sluice::ptx::test
