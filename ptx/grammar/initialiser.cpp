#include "ptx/grammar/initialiser.hpp"

#include "base/number/divide_up.hpp"
#include "ptx/grammar/constant_expression.hpp"
#include "ptx/grammar/literal.hpp"
#include "ptx/grammar/operand.hpp"

namespace sluice::ptx::grammar {
namespace {

// A few bytes of text must not make gigabytes of zeros.
constexpr uint64_t most_elements = uint64_t{1} << 20;

bool is_float(ScalarType type) {
  return type == ScalarType::f16 || type == ScalarType::bf16 || type == ScalarType::f32 ||
         type == ScalarType::f64;
}

class InitialiserParser {
 public:
  InitialiserParser(TokenStream& stream, Variable& variable)
      : stream_(stream), variable_(variable), extents_(variable.dimensions) {
    if (variable.vector_elements > 1) extents_.push_back(variable.vector_elements);
  }

  void run() {
    if (!stream_.at("{")) {
      variable_.initialiser.push_back(element());
      return;
    }
    variable_.initialiser_has_braces = true;
    if (extents_.empty()) stream_.fail("a single constant");
    braces(0);
    if (!variable_.dimensions.empty() && variable_.dimensions[0] == 0) {
      uint64_t row = elements_below(0);
      variable_.dimensions[0] = divide_up(variable_.initialiser.size(), row);
    }
  }

 private:
  // elements_below() is the number of elements of one row of dimension `level`.
  uint64_t elements_below(size_t level) const {
    uint64_t count = 1;
    for (size_t i = level + 1; i < extents_.size(); ++i) {
      if (__builtin_mul_overflow(count, extents_[i], &count) || count > most_elements) {
        stream_.fail("an initialiser of at most " + std::to_string(most_elements) + " elements");
      }
    }
    return count;
  }

  void braces(size_t level) {
    if (level >= extents_.size()) stream_.fail("a constant");
    const Token begin = stream_.peek();
    stream_.expect("{");
    std::vector<Operand>& flat = variable_.initialiser;
    const size_t first = flat.size();
    const uint64_t row = elements_below(level);
    if (row == 0) stream_.fail("an array whose dimensions have sizes", begin);
    if (!stream_.accept("}")) {
      do {
        if (stream_.at("{")) {
          pad(first + round_up(flat.size() - first, row));
          braces(level + 1);
        } else {
          flat.push_back(element());
        }
      } while (stream_.accept(","));
      if (!stream_.accept("}")) stream_.fail("',' or '}'");
    }
    // Whole rows, also where the elements stand without braces of their own.
    pad(first + round_up(flat.size() - first, row));
    if (extents_[level] == 0 && level == 0) return;
    uint64_t most = 0;
    if (__builtin_mul_overflow(row, extents_[level], &most)) most = ~uint64_t{0};
    if (flat.size() - first > most) {
      stream_.fail("at most " + std::to_string(most) + " elements in this brace", begin);
    }
    if (level > 0) pad(first + most);
  }

  void pad(uint64_t size) {
    if (size > most_elements) {
      stream_.fail("an initialiser of at most " + std::to_string(most_elements) + " elements");
    }
    Operand zero{IntegerLiteral{}};
    if (is_float(variable_.type)) zero.value = FloatLiteral{};
    while (variable_.initialiser.size() < size)
      variable_.initialiser.push_back(zero);
  }

  // element() reads `7`, `1.5`, `name`, `name+4`, `generic(name)+4`, `0xFF00(name+4)` or
  // `0xFF00(generic(name)+4)`.
  Operand element() {
    if (stream_.at(Token::Kind::number) && stream_.second().is("(")) {
      IntegerLiteral mask = parse_mask();
      stream_.expect("(");
      Offset address = this->address();
      address.mask = mask.bits;
      stream_.expect(")");
      return {std::move(address)};
    }
    if (begins_constant(stream_)) {
      return std::visit([](auto literal) { return Operand{literal}; }, parse_constant(stream_));
    }
    if (!stream_.at(Token::Kind::word)) stream_.fail("a constant or the name of a variable");
    Offset address = this->address();
    if (address.bytes == 0 && !address.is_generic) return {Identifier{address.name, {}}};
    return {std::move(address)};
  }

  // Only the literal: what follows it in brackets is the address.
  IntegerLiteral parse_mask() {
    const Token begin = stream_.peek();
    Constant value = parse_literal(stream_);
    auto* mask = std::get_if<IntegerLiteral>(&value);
    if (!mask || mask->bits == 0) stream_.fail("a mask that is not zero", begin);
    return *mask;
  }

  Offset address() {
    Offset address;
    if (stream_.at("generic") && stream_.second().is("(")) {
      address.is_generic = true;
      stream_.expect("generic");
      stream_.expect("(");
      address.name = stream_.expect_word("the name of a variable");
      stream_.expect(")");
    } else {
      address.name = stream_.expect_word("the name of a variable");
    }
    address.bytes = parse_byte_offset(stream_);
    return address;
  }

  TokenStream& stream_;
  Variable& variable_;
  std::vector<uint64_t> extents_;
};

}  // namespace

void parse_initialiser(TokenStream& stream, Variable& variable) {
  InitialiserParser(stream, variable).run();
}

}  // namespace sluice::ptx::grammar
