// References of arithmetic of f32 and f64, and of conversions.
#include <algorithm>
#include <cmath>

#include "ptx/lift/lift_on_host.hpp"
#include "ptx/opcode_tables.hpp"

namespace sluice::ptx::test {
namespace {

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

float saturated(float value) {
  return value > 0 ? std::min(value, 1.0F) : 0.0F;  // a NaN becomes 0
}

using FloatReference = std::function<float(float, float, float)>;
using DoubleReference = std::function<double(double, double, double)>;

void add_float(Sheet& sheet, const std::string& text, const FloatReference& reference) {
  sheet.add(text, [reference](uint64_t a, uint64_t b, uint64_t c) {
    return bits(reference(as_float(a), as_float(b), as_float(c)));
  });
}

// An operation of f32 plainly, with .ftz and with .sat, as far as it has them.
void add_forms(Sheet& sheet, const std::string& name, const std::string& sources, bool has_sat,
               const FloatReference& reference) {
  add_float(sheet, name + ".f32 %f9" + sources, reference);
  add_float(sheet, name + ".ftz.f32 %f9" + sources, [reference](float a, float b, float c) {
    return flushed(reference(flushed(a), flushed(b), flushed(c)));
  });
  if (!has_sat) return;
  add_float(sheet, name + ".sat.f32 %f9" + sources,
            [reference](float a, float b, float c) { return saturated(reference(a, b, c)); });
}

void add_double(Sheet& sheet, const std::string& name, const std::string& sources,
                const DoubleReference& reference) {
  sheet.add(name + ".f64 %fd9" + sources, [reference](uint64_t a, uint64_t b, uint64_t c) {
    return bits(reference(as_double(a), as_double(b), as_double(c)));
  });
}

// The number where one is a NaN; -0 is below +0.
template <class Value>
Value smaller(Value a, Value b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class Value>
Value larger(Value a, Value b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

struct IntegerType {
  const char* name;
  unsigned bits;
  bool is_signed;
  const char* letter;

  std::string source() const { return std::string("%") + letter + "0"; }
  std::string result() const { return std::string("%") + letter + "9"; }
  __int128 value(uint64_t from) const {
    const unsigned unused = 64 - bits;
    if (is_signed) return static_cast<int64_t>(from << unused) >> unused;
    return from << unused >> unused;
  }
  __int128 highest() const { return (__int128{1} << (is_signed ? bits - 1 : bits)) - 1; }
  __int128 lowest() const { return is_signed ? -highest() - 1 : 0; }
};

constexpr IntegerType integer_types[] = {{"u8", 8, false, "h"},    {"s8", 8, true, "h"},
                                         {"u16", 16, false, "h"},  {"s16", 16, true, "h"},
                                         {"u32", 32, false, "r"},  {"s32", 32, true, "r"},
                                         {"u64", 64, false, "rd"}, {"s64", 64, true, "rd"}};

// A narrower result fills its register by its own sign.
uint64_t in_register(const IntegerType& type, __int128 value) {
  return static_cast<uint64_t>(type.value(static_cast<uint64_t>(value)));
}

void add_integer_conversions(Sheet& sheet) {
  for (const IntegerType& from : integer_types) {
    for (const IntegerType& to : integer_types) {
      const std::string types = std::string(".") + to.name + "." + from.name;
      const std::string operands = std::string(" ") + to.result() + ", " + from.source();
      sheet.add("cvt" + types + operands,
                [=](uint64_t a, uint64_t, uint64_t) { return in_register(to, from.value(a)); });
      const bool can_leave = to.lowest() > from.lowest() || to.highest() < from.highest();
      if (!can_leave) continue;
      sheet.add("cvt.sat" + types + operands, [=](uint64_t a, uint64_t, uint64_t) {
        return in_register(to, std::clamp(from.value(a), to.lowest(), to.highest()));
      });
    }
  }
}

// Conversions to integers clamp. A NaN of f32 becomes 0, but where 64 bits are involved the highest
// bit alone.
__int128 to_integer(const IntegerType& type, double rounded, bool from_double) {
  if (std::isnan(rounded)) {
    return from_double || type.bits == 64 ? __int128{1} << (type.bits - 1) : 0;
  }
  if (rounded >= std::ldexp(1.0, static_cast<int>(type.bits) - (type.is_signed ? 1 : 0))) {
    return type.highest();
  }
  if (rounded <= static_cast<double>(type.lowest())) return type.lowest();
  return static_cast<__int128>(rounded);
}

void add_float_conversions(Sheet& sheet) {
  for (const IntegerType& type : integer_types) {
    const std::string name(type.name);
    sheet.add(
        "cvt.rn.f32." + name + " %f9, " + type.source(),
        [type](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(type.value(a))); });
    sheet.add("cvt.rn.f64." + name + " %fd9, " + type.source(),
              [type](uint64_t a, uint64_t, uint64_t) {
                return bits(static_cast<double>(type.value(a)));
              });
    if (type.bits < 16) continue;
    struct Rounding {
      const char* name;
      double (*apply)(double);
    };
    for (const Rounding& rounding : {Rounding{"rni", std::nearbyint}, Rounding{"rzi", std::trunc},
                                     Rounding{"rmi", std::floor}, Rounding{"rpi", std::ceil}}) {
      const std::string start = std::string("cvt.") + rounding.name + "." + name;
      const auto apply = rounding.apply;
      sheet.add(start + ".f32 " + type.result() + ", %f0", [=](uint64_t a, uint64_t, uint64_t) {
        return in_register(type, to_integer(type, apply(double{as_float(a)}), false));
      });
      sheet.add(start + ".f64 " + type.result() + ", %fd0", [=](uint64_t a, uint64_t, uint64_t) {
        return in_register(type, to_integer(type, apply(as_double(a)), true));
      });
    }
  }
  sheet.add("cvt.rn.f32.f64 %f9, %fd0",
            [](uint64_t a, uint64_t, uint64_t) { return bits(static_cast<float>(as_double(a))); });
  sheet.add("cvt.f64.f32 %fd9, %f0",
            [](uint64_t a, uint64_t, uint64_t) { return bits(double{as_float(a)}); });
  sheet.add("cvt.rmi.f64.f64 %fd9, %fd0",
            [](uint64_t a, uint64_t, uint64_t) { return bits(std::floor(as_double(a))); });
}

}  // namespace

Sheet float_sheet() {
  Sheet sheet;
  const std::string one = ", %f0";
  const std::string two = ", %f0, %f1";
  const std::string three = ", %f0, %f1, %f2";
  add_forms(sheet, "add.rn", two, true, [](float a, float b, float) { return a + b; });
  add_forms(sheet, "sub.rn", two, true, [](float a, float b, float) { return a - b; });
  add_forms(sheet, "mul.rn", two, true, [](float a, float b, float) { return a * b; });
  add_forms(sheet, "fma.rn", three, true,
            [](float a, float b, float c) { return std::fma(a, b, c); });
  add_forms(sheet, "div.rn", two, false, [](float a, float b, float) { return a / b; });
  add_forms(sheet, "rcp.rn", one, false, [](float a, float, float) { return 1.0F / a; });
  add_forms(sheet, "sqrt.rn", one, false, [](float a, float, float) { return std::sqrt(a); });
  add_forms(sheet, "abs", one, false, [](float a, float, float) { return std::fabs(a); });
  add_forms(sheet, "neg", one, false, [](float a, float, float) { return -a; });
  add_forms(sheet, "min", two, false, [](float a, float b, float) { return smaller(a, b); });
  add_forms(sheet, "max", two, false, [](float a, float b, float) { return larger(a, b); });
  const auto sign = [](float a, float b) {
    return std::signbit(a) != std::signbit(b) ? -1.0F : 1.0F;
  };
  add_float(sheet, "min.xorsign.abs.f32 %f9" + two, [=](float a, float b, float) {
    return std::copysign(smaller(std::fabs(a), std::fabs(b)), sign(a, b));
  });
  add_float(sheet, "max.xorsign.abs.f32 %f9" + two, [=](float a, float b, float) {
    return std::copysign(larger(std::fabs(a), std::fabs(b)), sign(a, b));
  });
  add_float(sheet, "copysign.f32 %f9" + two,
            [](float a, float b, float) { return std::copysign(b, a); });
  const std::string wide_one = ", %fd0";
  const std::string wide_two = ", %fd0, %fd1";
  add_double(sheet, "add.rn", wide_two, [](double a, double b, double) { return a + b; });
  add_double(sheet, "sub.rn", wide_two, [](double a, double b, double) { return a - b; });
  add_double(sheet, "mul.rn", wide_two, [](double a, double b, double) { return a * b; });
  add_double(sheet, "fma.rn", ", %fd0, %fd1, %fd2",
             [](double a, double b, double c) { return std::fma(a, b, c); });
  add_double(sheet, "div.rn", wide_two, [](double a, double b, double) { return a / b; });
  add_double(sheet, "rcp.rn", wide_one, [](double a, double, double) { return 1.0 / a; });
  add_double(sheet, "sqrt.rn", wide_one, [](double a, double, double) { return std::sqrt(a); });
  add_double(sheet, "abs", wide_one, [](double a, double, double) { return std::fabs(a); });
  add_double(sheet, "neg", wide_one, [](double a, double, double) { return -a; });
  add_double(sheet, "min", wide_two, [](double a, double b, double) { return smaller(a, b); });
  add_double(sheet, "max", wide_two, [](double a, double b, double) { return larger(a, b); });
  add_double(sheet, "copysign", wide_two,
             [](double a, double b, double) { return std::copysign(b, a); });
  return sheet;
}

Sheet conversion_sheet() {
  Sheet sheet;
  add_integer_conversions(sheet);
  add_float_conversions(sheet);
  return sheet;
}

}  // namespace sluice::ptx::test
