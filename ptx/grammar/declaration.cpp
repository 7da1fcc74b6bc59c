#include "ptx/grammar/declaration.hpp"

#include <bit>
#include <limits>

#include "ptx/grammar/constant_expression.hpp"
#include "ptx/grammar/initialiser.hpp"
#include "ptx/grammar/literal.hpp"

namespace sluice::ptx::grammar {
namespace {

// parse_alignment() reads what follows `.align`.
uint32_t parse_alignment(TokenStream& stream) {
  const Token begin = stream.peek();
  uint64_t bytes = parse_count(stream, uint64_t{1} << 31);
  if (!std::has_single_bit(bytes)) stream.fail("an alignment that is a power of two", begin);
  return static_cast<uint32_t>(bytes);
}

// `.ptr .global .align 8`: what a parameter points at.
void parse_pointer(TokenStream& stream, Variable& variable) {
  variable.is_pointer = true;
  if (auto space = state_space(stream.peek())) {
    variable.pointer_space = *space;
    stream.next();
  }
  if (stream.accept(".align")) variable.pointer_alignment = parse_alignment(stream);
}

// parse_qualifiers() reads the dotted words before the first name.
Variable parse_qualifiers(TokenStream& stream) {
  Variable variable;
  while (stream.at(Token::Kind::dotted)) {
    const Token& word = stream.peek();
    if (word.is(".attribute")) {
      variable.attributes = parse_attribute(stream);
    } else if (stream.accept(".align")) {
      variable.alignment = parse_alignment(stream);
    } else if (stream.accept(".ptr")) {
      parse_pointer(stream, variable);
    } else if (word.is(".v2") || word.is(".v4") || word.is(".v8")) {
      variable.vector_elements = static_cast<uint32_t>(stream.next().text[2] - '0');
    } else if (auto space = state_space(word); space && variable.space == StateSpace::none) {
      variable.space = *space;
      stream.next();
    } else if (auto type = scalar_type(word.text.substr(1));
               type && variable.type == ScalarType::none) {
      variable.type = *type;
      stream.next();
    } else {
      stream.fail(variable.type == ScalarType::none ? "a type" : "a name");
    }
  }
  if (variable.space == StateSpace::none) stream.fail("a state space");
  if (variable.type == ScalarType::none) stream.fail("a type");
  return variable;
}

// A plain number, since `>` would go on as a comparison in an expression.
uint32_t parse_register_count(TokenStream& stream) {
  const Token begin = stream.peek();
  Constant value = parse_literal(stream);
  auto* count = std::get_if<IntegerLiteral>(&value);
  if (!count || count->bits > std::numeric_limits<uint32_t>::max()) {
    stream.fail("a number of registers", begin);
  }
  return static_cast<uint32_t>(count->bits);
}

// parse_name() reads `name`, `name<12>` or `name[4][8]` into `variable`.
void parse_name(TokenStream& stream, Variable& variable, ElementSizes& sizes) {
  variable.location = stream.location();
  if (!stream.at(Token::Kind::word)) stream.fail("a name");
  sizes[stream.peek().text] = uint64_t{size_in_bytes(variable.type)} * variable.vector_elements;
  variable.name = stream.next().text;
  if (stream.accept("<")) {
    variable.range_count = parse_register_count(stream);
    stream.expect(">");
  }
  while (stream.accept("[")) {
    uint64_t extent = 0;
    if (!stream.at("]")) extent = parse_count(stream, std::numeric_limits<int64_t>::max());
    stream.expect("]");
    variable.dimensions.push_back(extent);
    if (variable.dimensions.size() > 16) stream.fail("at most 16 dimensions");
  }
}

}  // namespace

std::optional<StateSpace> state_space(const Token& token) {
  if (token.kind != Token::Kind::dotted) return std::nullopt;
  for (StateSpace space :
       {StateSpace::reg, StateSpace::sreg, StateSpace::constant, StateSpace::global,
        StateSpace::local, StateSpace::param, StateSpace::shared, StateSpace::tex}) {
    if (token.text.substr(1) == name(space)) return space;
  }
  return std::nullopt;
}

std::vector<Variable> parse_variables(TokenStream& stream, std::string_view linkage,
                                      ElementSizes& sizes) {
  Variable common = parse_qualifiers(stream);
  common.linkage = linkage;
  std::vector<Variable> variables;
  do {
    Variable& variable = variables.emplace_back(common);
    parse_name(stream, variable, sizes);
    if (stream.accept("=")) parse_initialiser(stream, variable);
  } while (stream.accept(","));
  if (!stream.accept(";")) stream.fail("',' or ';' after the declaration");
  return variables;
}

std::vector<Variable> parse_parameters(TokenStream& stream, ElementSizes& sizes) {
  std::vector<Variable> parameters;
  if (!stream.accept("(") || stream.accept(")")) return parameters;
  do {
    Variable parameter = parse_qualifiers(stream);
    parse_name(stream, parameter, sizes);
    parameters.push_back(std::move(parameter));
  } while (stream.accept(","));
  if (!stream.accept(")")) stream.fail("',' or ')' after the parameter");
  return parameters;
}

std::vector<std::string> parse_attribute(TokenStream& stream) {
  stream.expect(".attribute");
  stream.expect("(");
  std::vector<std::string> attributes;
  do {
    if (!stream.at(Token::Kind::dotted)) stream.fail("an attribute");
    std::string attribute(stream.next().text.substr(1));
    if (stream.accept("(")) {
      attribute += "(";
      do {
        if (!stream.at(Token::Kind::number)) stream.fail("a number");
        if (attribute.back() != '(') attribute += ", ";
        attribute += stream.next().text;
      } while (stream.accept(","));
      stream.expect(")");
      attribute += ")";
    }
    attributes.push_back(std::move(attribute));
  } while (stream.accept(","));
  stream.expect(")");
  return attributes;
}

}  // namespace sluice::ptx::grammar
