#include <iterator>

#include <fmt/format.h>

#include "ptx/text/text.hpp"

namespace sluice::ptx::text {
namespace {

struct OperandPrinter {
  std::string& out;

  void operator()(const Identifier& name) {
    out += name.name;
    if (!name.component.empty()) out += "." + name.component;
  }
  void operator()(const IntegerLiteral& literal) {
    if (literal.is_unsigned) {
      fmt::format_to(std::back_inserter(out), "{}U", literal.bits);
    } else {
      fmt::format_to(std::back_inserter(out), "{}", static_cast<int64_t>(literal.bits));
    }
  }
  void operator()(const FloatLiteral& literal) {
    if (literal.width == 32) {
      fmt::format_to(std::back_inserter(out), "0f{:08X}", literal.bits);
    } else {
      fmt::format_to(std::back_inserter(out), "0d{:016X}", literal.bits);
    }
  }
  // ptxas takes `a+-4` everywhere, `a-4` not.
  void operator()(const Offset& offset) {
    if (offset.mask != 0) fmt::format_to(std::back_inserter(out), "0x{:X}(", offset.mask);
    out += offset.is_generic ? "generic(" + offset.name + ")" : offset.name;
    bool is_plain = offset.bytes == 0 && (offset.is_generic || offset.mask != 0);
    if (!is_plain) fmt::format_to(std::back_inserter(out), "+{}", offset.bytes);
    if (offset.mask != 0) out += ")";
  }
  void operator()(const Address& address) {
    if (address.base.empty()) {
      fmt::format_to(std::back_inserter(out), "[{}]", address.bytes);
    } else if (address.bytes == 0) {
      fmt::format_to(std::back_inserter(out), "[{}]", address.base);
    } else {
      fmt::format_to(std::back_inserter(out), "[{}+{}]", address.base, address.bytes);
    }
  }
  void operator()(const VectorOperand& vector) { list(vector.elements, '{', '}'); }
  void operator()(const ListOperand& arguments) { list(arguments.elements, '(', ')'); }
  void operator()(const BracketedList& address) { list(address.elements, '[', ']'); }
  void operator()(const PairOperand& pair) {
    out += pair.first;
    out += "|";
    out += pair.second;
  }
  void operator()(const NotOperand& negation) {
    out += "!";
    (*this)(negation.predicate);
  }

 private:
  void list(const std::vector<Operand>& elements, char open, char close) {
    out += open;
    for (const Operand& element : elements) {
      if (&element != elements.data()) out += ", ";
      std::visit(*this, element.value);
    }
    out += close;
  }
};

}  // namespace

void append(std::string& out, const Operand& operand) {
  std::visit(OperandPrinter{out}, operand.value);
}

void append(std::string& out, const Instruction& instruction) {
  if (instruction.guard) {
    out += instruction.guard->negated ? "@!" : "@";
    out += instruction.guard->predicate + " ";
  }
  out += instruction.opcode_name();
  for (const std::string& modifier : instruction.modifiers)
    out += "." + modifier;
  for (const Operand& operand : instruction.operands) {
    out += &operand == instruction.operands.data() ? " " : ", ";
    append(out, operand);
  }
  out += ";";
}

}  // namespace sluice::ptx::text
