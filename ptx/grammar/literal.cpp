#include "ptx/grammar/literal.hpp"

#include <bit>
#include <charconv>
#include <optional>

namespace sluice::ptx::grammar {
namespace {

std::optional<uint64_t> digits(std::string_view text, int base) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool has_prefix(std::string_view text, char lower) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == lower;
}

// `0f` and `0d` are followed by exactly the digits of the bit pattern.
std::optional<Constant> bit_pattern(std::string_view text, char prefix, uint32_t width) {
  if (!has_prefix(text, prefix) || text.size() != 2 + width / 4) return std::nullopt;
  auto bits = digits(text.substr(2), 16);
  if (!bits) return std::nullopt;
  return FloatLiteral{*bits, width};
}

std::optional<Constant> integer(std::string_view text) {
  bool is_unsigned = text.back() == 'U';
  if (is_unsigned) text.remove_suffix(1);
  std::optional<uint64_t> value;
  if (has_prefix(text, 'x')) {
    value = digits(text.substr(2), 16);
  } else if (has_prefix(text, 'b')) {
    value = digits(text.substr(2), 2);
  } else {
    value = digits(text, text.size() > 1 && text[0] == '0' ? 8 : 10);
  }
  if (!value) return std::nullopt;
  return IntegerLiteral{*value, is_unsigned || *value >> 63 != 0};
}

std::optional<Constant> decimal(std::string_view text) {
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos ||
      text.find_first_of(".eE") == std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return FloatLiteral{std::bit_cast<uint64_t>(value), 64};
}

}  // namespace

Constant parse_literal(TokenStream& stream) {
  if (!stream.at(Token::Kind::number)) stream.fail("a constant");
  std::string_view text = stream.peek().text;
  std::optional<Constant> value;
  if (has_prefix(text, 'f')) {
    value = bit_pattern(text, 'f', 32);
    if (!value) stream.fail("8 hexadecimal digits after 0f");
  } else if (has_prefix(text, 'd')) {
    value = bit_pattern(text, 'd', 64);
    if (!value) stream.fail("16 hexadecimal digits after 0d");
  } else {
    value = integer(text);
    if (!value) value = decimal(text);
    if (!value) stream.fail("a number of at most 64 bits");
  }
  stream.next();
  return *value;
}

}  // namespace sluice::ptx::grammar
