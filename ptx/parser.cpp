#include "ptx/parser.hpp"

#include <charconv>
#include <unordered_set>

#include "ptx/grammar/body.hpp"
#include "ptx/grammar/constant_expression.hpp"
#include "ptx/grammar/declaration.hpp"
#include "ptx/grammar/directive.hpp"
#include "ptx/grammar/lexer.hpp"
#include "ptx/grammar/plain_form.hpp"
#include "ptx/grammar/token_stream.hpp"

namespace sluice::ptx {
namespace {

using grammar::SyntaxError;
using grammar::Token;
using grammar::TokenStream;

class ModuleParser {
 public:
  explicit ModuleParser(TokenStream& stream) : stream_(stream) {}

  Module run() {
    version();
    target();
    while (!stream_.at(Token::Kind::end))
      item();
    grammar::make_plain(module_);
    return std::move(module_);
  }

 private:
  // `.version 9.0`: the two parts of the number, so that 8.10 is not 8.1.
  void version() {
    stream_.expect(".version");
    const Token token = stream_.peek();
    if (!stream_.at(Token::Kind::number)) stream_.fail("a version such as 7.0");
    const char* begin = token.text.data();
    const char* end = begin + token.text.size();
    auto major = std::from_chars(begin, end, module_.version_major);
    bool dot = major.ec == std::errc{} && major.ptr != end && *major.ptr == '.';
    auto minor = dot ? std::from_chars(major.ptr + 1, end, module_.version_minor) : major;
    if (!dot || minor.ec != std::errc{} || minor.ptr != end) stream_.fail("a version such as 7.0");
    stream_.next();
  }

  void target() {
    stream_.expect(".target");
    do {
      module_.target.push_back(stream_.expect_word("a target such as sm_75"));
    } while (stream_.accept(","));
  }

  void item() {
    if (stream_.accept(";")) return;
    if (stream_.accept(".address_size")) {
      const Token begin = stream_.peek();
      uint64_t bits = grammar::parse_count(stream_, 64);
      if (bits != 32 && bits != 64) stream_.fail("an address size of 32 or 64", begin);
      module_.address_size = static_cast<uint32_t>(bits);
      return;
    }
    if (auto directive = grammar::parse_directive(stream_)) {
      module_.items.emplace_back(std::move(*directive));
      return;
    }
    std::string linkage = parse_linkage();
    if (stream_.at(".entry") || stream_.at(".func")) {
      module_.items.emplace_back(function(std::move(linkage)));
      return;
    }
    if (!stream_.at(Token::Kind::dotted) || !(grammar::state_space(stream_.peek()) ||
                                              stream_.at(".align") || stream_.at(".attribute"))) {
      stream_.fail("a function, variable or directive");
    }
    const Token begin = stream_.peek();
    for (Variable& variable : grammar::parse_variables(stream_, linkage, sizes_)) {
      if (linkage != "extern" && linkage != "common") define(variable.name, begin);
      module_.items.emplace_back(std::move(variable));
    }
  }

  std::string parse_linkage() {
    for (std::string_view word : {".visible", ".extern", ".weak", ".common"}) {
      if (stream_.accept(word)) return std::string(word.substr(1));
    }
    return {};
  }

  Function function(std::string linkage) {
    Function function;
    function.location = stream_.location();
    function.linkage = std::move(linkage);
    function.is_entry = stream_.next().is(".entry");
    if (stream_.at(".attribute")) {
      Location location = stream_.location();
      function.attributes.push_back({"attribute", grammar::parse_attribute(stream_), location});
    }
    // The names of parameters and locals hide those of the module only inside the function.
    grammar::ElementSizes sizes = sizes_;
    if (!function.is_entry) function.results = grammar::parse_parameters(stream_, sizes);
    const Token name = stream_.peek();
    function.name = stream_.expect_word("the name of a function");
    function.parameters = grammar::parse_parameters(stream_, sizes);
    for (Directive& attribute : grammar::parse_function_attributes(stream_)) {
      function.attributes.push_back(std::move(attribute));
    }
    if (stream_.accept(";")) return function;
    if (!stream_.at("{")) stream_.fail("'{' or ';'");
    define(function.name, name);
    function.is_definition = true;
    function.body = grammar::parse_body(stream_, sizes);
    return function;
  }

  void define(const std::string& name, const Token& token) {
    if (!defined_.insert(name).second) stream_.fail("one definition of '" + name + "'", token);
  }

  TokenStream& stream_;
  Module module_;
  std::unordered_set<std::string> defined_;
  grammar::ElementSizes sizes_;
};

}  // namespace

Result<Module> parse(std::string_view text, std::string_view file) {
  try {
    TokenStream stream(text, file);
    return ModuleParser(stream).run();
  } catch (SyntaxError& error) {
    return tl::unexpected(std::move(error.error));
  }
}

}  // namespace sluice::ptx
