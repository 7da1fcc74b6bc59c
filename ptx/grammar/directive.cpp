#include "ptx/grammar/directive.hpp"

#include <algorithm>

namespace sluice::ptx::grammar {
namespace {

void take(TokenStream& stream, Directive& directive) {
  directive.arguments.emplace_back(stream.next().text);
}

void take_number(TokenStream& stream, Directive& directive) {
  if (!stream.at(Token::Kind::number)) stream.fail("a number");
  take(stream, directive);
}

// A place in the debug text: `$L__info_string0` or `.debug_str+16`.
void take_label(TokenStream& stream, Directive& directive) {
  if (!stream.at(Token::Kind::word) && !stream.at(Token::Kind::dotted)) stream.fail("a label");
  take(stream, directive);
  if (stream.at("+")) {
    take(stream, directive);
    take_number(stream, directive);
  }
}

// `.loc 1 7 3, function_name $L, inlined_at 1 20 3`: no semicolon ends it.
void parse_loc(TokenStream& stream, Directive& directive) {
  for (int i = 0; i < 3; ++i)
    take_number(stream, directive);
  while (stream.at(",")) {
    take(stream, directive);
    if (stream.at("function_name")) {
      take(stream, directive);
      take_label(stream, directive);
    } else if (stream.at("inlined_at")) {
      take(stream, directive);
      for (int i = 0; i < 3; ++i)
        take_number(stream, directive);
    } else {
      stream.fail("'function_name' or 'inlined_at'");
    }
  }
}

// `.file 1 "path", 1234, 567`: time stamp and size may be missing.
void parse_file(TokenStream& stream, Directive& directive) {
  take_number(stream, directive);
  if (!stream.at(Token::Kind::string)) stream.fail("a file name in quotes");
  take(stream, directive);
  while (stream.at(",")) {
    take(stream, directive);
    take_number(stream, directive);
  }
}

// Whether a token may stand in a section: data, and the names and distances of labels.
bool is_debug_data(const TokenStream& stream) {
  if (stream.at(Token::Kind::number)) return true;
  const std::string_view text = stream.peek().text;
  if (stream.at(Token::Kind::word)) return text.front() != '%';
  if (stream.at(Token::Kind::dotted)) return text.size() > 1 && (text[1] < '0' || text[1] > '9');
  return stream.at(",") || stream.at(":") || stream.at("+") || stream.at("-");
}

// `.section .debug_str { $L: .b8 1,2 .b32 .debug_abbrev }`: debug data, kept as it is.
void parse_section(TokenStream& stream, Directive& directive) {
  if (!stream.at(Token::Kind::dotted) && !stream.at(Token::Kind::word)) {
    stream.fail("the name of a section");
  }
  take(stream, directive);
  if (!stream.at("{")) stream.fail("'{'");
  take(stream, directive);
  while (!stream.at("}")) {
    if (!is_debug_data(stream)) stream.fail("debug data, or '}' at the end of the section");
    take(stream, directive);
  }
  take(stream, directive);
}

// parse_list() reads words, numbers and strings between commas, without the commas.
void parse_list(TokenStream& stream, Directive& directive) {
  do {
    if (!stream.at(Token::Kind::word) && !stream.at(Token::Kind::number) &&
        !stream.at(Token::Kind::string)) {
      stream.fail("an argument of ." + directive.name);
    }
    take(stream, directive);
  } while (stream.accept(","));
}

// `.callprototype (.param .b32 _) _ (.param .b64 _);`
void parse_prototype(TokenStream& stream, Directive& directive) {
  while (!stream.at(";")) {
    if (stream.at(Token::Kind::end) || stream.at("{") || stream.at("}")) stream.fail("';'");
    take(stream, directive);
  }
}

}  // namespace

std::optional<Directive> parse_directive(TokenStream& stream) {
  static constexpr struct {
    std::string_view name;
    void (*parse)(TokenStream&, Directive&);
    bool has_semicolon;
  } directives[] = {
      {".loc", parse_loc, false},         {".file", parse_file, false},
      {".section", parse_section, false}, {".pragma", parse_list, true},
      {".alias", parse_list, true},       {".branchtargets", parse_list, true},
      {".calltargets", parse_list, true}, {".callprototype", parse_prototype, true},
  };
  for (const auto& row : directives) {
    if (!stream.at(row.name)) continue;
    Directive directive{std::string(row.name.substr(1)), {}, stream.location()};
    stream.next();
    row.parse(stream, directive);
    if (row.has_semicolon) stream.expect(";");
    return directive;
  }
  return std::nullopt;
}

std::vector<Directive> parse_function_attributes(TokenStream& stream) {
  static constexpr std::string_view with_arguments[] = {
      ".maxntid",        ".reqntid",      ".minnctapersm",
      ".maxnctapersm",   ".maxnreg",      ".reqnctapercluster",
      ".maxclusterrank", ".abi_preserve", ".abi_preserve_control",
      ".language"};
  static constexpr std::string_view without_arguments[] = {".noreturn", ".explicitcluster",
                                                           ".blocksareclusters", ".unified"};
  std::vector<Directive> attributes;
  while (stream.at(Token::Kind::dotted)) {
    const Token& name = stream.peek();
    auto is_name = [&](std::string_view candidate) { return name.is(candidate); };
    if (auto pragma = name.is(".pragma") ? parse_directive(stream) : std::nullopt) {
      attributes.push_back(std::move(*pragma));
    } else if (std::ranges::any_of(with_arguments, is_name)) {
      Directive& attribute = attributes.emplace_back();
      attribute.location = name.location;
      attribute.name = stream.next().text.substr(1);
      parse_list(stream, attribute);
    } else if (std::ranges::any_of(without_arguments, is_name)) {
      Directive& attribute = attributes.emplace_back();
      attribute.location = name.location;
      attribute.name = stream.next().text.substr(1);
    } else {
      stream.fail("a function attribute, '{' or ';'");
    }
  }
  return attributes;
}

}  // namespace sluice::ptx::grammar
