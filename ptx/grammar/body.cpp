#include "ptx/grammar/body.hpp"

#include <iterator>

#include "ptx/grammar/declaration.hpp"
#include "ptx/grammar/directive.hpp"

namespace sluice::ptx::grammar {
namespace {

constexpr unsigned deepest_block = 128;

class BodyParser {
 public:
  BodyParser(TokenStream& stream, ElementSizes& sizes) : stream_(stream), sizes_(sizes) {}

  Block block() {
    NestingGuard guard(stream_, depth_, deepest_block);
    stream_.expect("{");
    Block block;
    while (!stream_.accept("}")) {
      if (stream_.at(Token::Kind::end)) stream_.fail("a statement or '}'");
      if (stream_.accept(";")) continue;
      statement(block.statements);
    }
    return block;
  }

 private:
  void statement(std::vector<Statement>& statements) {
    if (stream_.at("{")) {
      statements.emplace_back(block());
    } else if (stream_.at(Token::Kind::word) && stream_.second().is(":")) {
      Location location = stream_.location();
      statements.emplace_back(Label{std::string(stream_.next().text), location});
      stream_.expect(":");
    } else if (stream_.at(Token::Kind::word) || stream_.at("@")) {
      statements.emplace_back(instruction());
    } else if (stream_.at(Token::Kind::dotted)) {
      dotted(statements);
    } else {
      stream_.fail("a statement or '}'");
    }
  }

  // dotted() reads a declaration or a directive.
  void dotted(std::vector<Statement>& statements) {
    if (auto directive = parse_directive(stream_)) {
      statements.emplace_back(std::move(*directive));
      return;
    }
    std::string linkage;
    if (stream_.at(".extern") || stream_.at(".visible")) linkage = stream_.next().text.substr(1);
    if (!begins_declaration()) stream_.fail("a declaration, directive or instruction");
    for (Variable& variable : parse_variables(stream_, linkage, sizes_)) {
      statements.emplace_back(std::move(variable));
    }
  }

  // The space may stand after other qualifiers: `.align 4 .shared .b8 a[4];`.
  bool begins_declaration() const {
    return state_space(stream_.peek()) || stream_.at(".align") || stream_.at(".attribute");
  }

  Instruction instruction() {
    Instruction instruction;
    instruction.location = stream_.location();
    if (stream_.accept("@")) {
      Guard guard;
      guard.negated = stream_.accept("!");
      guard.predicate = stream_.expect_word("a predicate");
      instruction.guard = std::move(guard);
      instruction.location = stream_.location();
    }
    std::string opcode = stream_.expect_word("an instruction");
    instruction.opcode = find_opcode(opcode);
    if (instruction.opcode == Opcode::unknown) instruction.unknown_opcode = std::move(opcode);
    while (stream_.at(Token::Kind::dotted)) {
      instruction.modifiers.emplace_back(stream_.next().text.substr(1));
    }
    if (stream_.accept(";")) return instruction;
    const OperandContext context{instruction.opcode == Opcode::call,
                                 instruction.info().accesses_memory(), &sizes_};
    do {
      operands_.push_back(parse_operand(stream_, context));
    } while (stream_.accept(","));
    instruction.operands.assign(std::make_move_iterator(operands_.begin()),
                                std::make_move_iterator(operands_.end()));
    operands_.clear();
    if (!stream_.accept(";")) stream_.fail("',' or ';' after the operand");
    return instruction;
  }

  TokenStream& stream_;
  ElementSizes& sizes_;
  unsigned depth_ = 0;
  std::vector<Operand> operands_;  // of the instruction that is read
};

}  // namespace

Block parse_body(TokenStream& stream, ElementSizes& sizes) {
  return BodyParser(stream, sizes).block();
}

}  // namespace sluice::ptx::grammar
