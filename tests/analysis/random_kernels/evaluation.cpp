#include "evaluation.hpp"

#include <algorithm>
#include <array>

#include "byte_collector.hpp"

namespace sluice::analysis::random {
namespace {

using Wide = __int128;

constexpr uint64_t most_steps_of_a_launch = 150'000;
constexpr uint64_t most_turns_of_a_loop = 64;
constexpr int64_t farthest_byte = int64_t{1} << 56;  // the tests' own arithmetic must not wrap

uint64_t cut(Wide value, Type type) {
  return bits_of(type) == 64 ? uint64_t(value) : uint64_t(uint32_t(value));
}

Wide ideal_of(uint64_t bits, Type type) {
  switch (type) {
    case Type::s32:
      return int32_t(uint32_t(bits));
    case Type::s64:
      return int64_t(bits);
    default:
      return bits;
  }
}

// Unfit ends the evaluation of a kernel that no test can use.
struct Unfit {};
// Left ends a thread.
enum class Flow { on, left };

class Evaluation {
 public:
  explicit Evaluation(const Kernel& kernel) : kernel_(kernel) {}

  Effects run() {
    const Dim3 &grid = kernel_.grid, &block = kernel_.block;
    specials_ = {0, 0, 0, 0, 0, 0, block.x, block.y, block.z, grid.x, grid.y, grid.z};
    for (uint32_t z = 0; z < grid.z; ++z)
      for (uint32_t y = 0; y < grid.y; ++y)
        for (uint32_t x = 0; x < grid.x; ++x) {
          specials_[3] = x;
          specials_[4] = y;
          specials_[5] = z;
          run_block();
        }
    return std::move(effects_);
  }

 private:
  struct Collectors {
    ByteCollector reads, stores, writes;
  };

  void run_block() {
    collectors_.assign(kernel_.parameters.size(), {});
    const Dim3& block = kernel_.block;
    for (uint32_t z = 0; z < block.z; ++z)
      for (uint32_t y = 0; y < block.y; ++y)
        for (uint32_t x = 0; x < block.x; ++x) {
          specials_[0] = x;
          specials_[1] = y;
          specials_[2] = z;
          variables_.assign(kernel_.variables.size(), 0);
          run(kernel_.body);
        }
    std::vector<Touched> touched;
    for (Collectors& of_parameter : collectors_) {
      touched.push_back(
          {of_parameter.reads.take(), of_parameter.stores.take(), of_parameter.writes.take()});
    }
    effects_.blocks.push_back(std::move(touched));
  }

  Flow run(const Statements& statements) {
    for (const Statement& statement : statements) {
      if (run(statement) == Flow::left) return Flow::left;
    }
    return Flow::on;
  }

  Flow run(const Statement& statement) {
    if (++steps_ > most_steps_of_a_launch) throw Unfit();
    switch (statement.kind) {
      case Statement::Kind::access:
        touch(statement.access);
        return Flow::on;
      case Statement::Kind::assign:
        variables_[statement.variable] = value(*statement.value);
        return Flow::on;
      case Statement::Kind::branch:
        return run(value(*statement.value) != 0 ? statement.first : statement.second);
      case Statement::Kind::loop:
        return loop(statement);
      case Statement::Kind::leave:
        return value(*statement.value) != 0 ? Flow::left : Flow::on;
      case Statement::Kind::barrier:
        return Flow::on;
    }
    return Flow::on;
  }

  Flow loop(const Statement& statement) {
    const Type type = kernel_.variables[statement.variable];
    uint64_t& counter = variables_[statement.variable];
    counter = value(*statement.start);
    const uint64_t bound = value(*statement.bound);
    const uint64_t step = value(*statement.step);
    for (uint64_t turns = 0; compare(statement.compare, counter, bound, type); ++turns) {
      if (turns == most_turns_of_a_loop) throw Unfit();
      if (run(statement.first) == Flow::left) return Flow::left;
      counter = checked(ideal_of(counter, type) + ideal_of(step, type), type);
    }
    return Flow::on;
  }

  void touch(const Access& access) {
    const auto offset = int64_t(value(*access.offset));
    const int64_t first = offset + access.immediate;
    const int64_t end = first + int64_t(access.bytes) * access.lanes;
    if (first > farthest_byte || first < -farthest_byte) throw Unfit();
    Collectors& collectors = collectors_[access.pointer];
    if (access.kind != AccessKind::store) collectors.reads.add(first, end);
    if (access.kind == AccessKind::store) collectors.stores.add(first, end);
    if (access.kind != AccessKind::load) collectors.writes.add(first, end);
  }

  uint64_t load(uint32_t pointer, int64_t offset, unsigned bytes) {
    if (offset > farthest_byte || offset < -farthest_byte) throw Unfit();
    collectors_[pointer].reads.add(offset, offset + bytes);
    uint64_t result = 0;
    for (unsigned i = 0; i < bytes; ++i)
      result |= uint64_t(data_byte(offset + i)) << (8 * i);
    return result;
  }

  // checked() is an ideal value as the type holds it.
  uint64_t checked(Wide ideal, Type type) {
    const uint64_t bits = cut(ideal, type);
    effects_.wrapped |= ideal_of(bits, type) != ideal;
    return bits;
  }

  static bool compare(Op op, uint64_t left, uint64_t right, Type type) {
    const Wide a = ideal_of(left, type), b = ideal_of(right, type);
    switch (op) {
      case Op::less:
        return a < b;
      case Op::less_equal:
        return a <= b;
      case Op::greater:
        return a > b;
      case Op::greater_equal:
        return a >= b;
      case Op::equal:
        return a == b;
      default:
        return a != b;
    }
  }

  uint64_t value(const Expression& e) {
    switch (e.op) {
      case Op::constant:
        return cut(e.value, e.type);
      case Op::special:
        return specials_[e.index];
      case Op::scalar:
        return kernel_.parameters[e.index].value;
      case Op::variable:
        return variables_[e.index];
      case Op::loaded:
        return load(e.index, int64_t(value(*e.operands[0])), unsigned(e.value));
      case Op::select:
        return selected(e);
      case Op::both:
      case Op::either: {
        const bool a = value(*e.operands[0]) != 0, b = value(*e.operands[1]) != 0;
        return e.op == Op::both ? a && b : a || b;
      }
      default:
        return computed(e);
    }
  }

  // selected() computes both values, as the code does; what it does not take may have wrapped.
  uint64_t selected(const Expression& e) {
    const bool first = value(*e.operands[0]) != 0;
    const uint64_t a = value(*e.operands[1]), b = value(*e.operands[2]);
    return first ? a : b;
  }

  uint64_t computed(const Expression& e) {
    const Type type = e.operands[0]->type;
    const uint64_t left = value(*e.operands[0]);
    const uint64_t right = e.operands.size() > 1 ? value(*e.operands[1]) : 0;
    const Wide a = ideal_of(left, type);
    const Wide b = e.operands.size() > 1 ? ideal_of(right, e.operands[1]->type) : 0;
    const Wide width = bits_of(e.type);
    switch (e.op) {
      case Op::convert:
        return checked(a, e.type);
      case Op::add:
        return checked(a + b, e.type);
      case Op::subtract:
        return checked(a - b, e.type);
      case Op::multiply:
      case Op::multiply_wide:
        return product(a, b, e.type);
      case Op::divide:
        return checked(a / b, e.type);
      case Op::remainder:
        return checked(a % b, e.type);
      case Op::shift_left:
        if (b >= width) return checked(a == 0 ? Wide(0) : Wide(1) << 100, e.type);
        return product(a, Wide(1) << b, e.type);
      case Op::shift_right:
        return checked(a >> std::min<Wide>(b, width), e.type);
      case Op::bit_and:
        return left & right;
      case Op::bit_or:
        return left | right;
      case Op::bit_xor:
        return left ^ right;
      case Op::bit_not:
        return cut(~left, e.type);
      case Op::minimum:
        return a < b ? left : right;
      case Op::maximum:
        return a > b ? left : right;
      case Op::negate:
        return checked(-a, e.type);
      case Op::absolute:
        return checked(a < 0 ? -a : a, e.type);
      default:
        return compare(e.op, left, right, type) ? 1 : 0;
    }
  }

  // product() minds that two unsigned 64-bit numbers may exceed even the wide type.
  uint64_t product(Wide a, Wide b, Type type) {
    Wide ideal = 0;
    if (!__builtin_mul_overflow(a, b, &ideal)) return checked(ideal, type);
    effects_.wrapped = true;
    return cut(Wide(uint64_t(a) * uint64_t(b)), type);
  }

  const Kernel& kernel_;
  Effects effects_;
  std::vector<Collectors> collectors_;  // by parameter
  std::array<uint64_t, size_t(Special::count)> specials_{};
  std::vector<uint64_t> variables_;
  uint64_t steps_ = 0;
};

}  // namespace

std::optional<Effects> evaluate(const Kernel& kernel) {
  try {
    return Evaluation(kernel).run();
  } catch (const Unfit&) {
    return std::nullopt;
  }
}

uint8_t data_byte(int64_t offset) {
  // Words are small numbers, so that gathers stay near.
  if ((offset & 3) != 0) return 0;
  const uint64_t mixed = (uint64_t(offset) + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  return uint8_t((mixed >> 40) % 61);
}

}  // namespace sluice::analysis::random
