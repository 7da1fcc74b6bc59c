#include "ptx/image/text.hpp"

#include <charconv>

namespace sluice::ptx::image {
namespace {

constexpr std::string_view blanks = " \t\r\n\f\v";

// skip_blanks_and_comments() returns the rest of the text.
std::string_view skip_blanks_and_comments(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    size_t end = std::string_view::npos;
    if (text.starts_with("//")) {
      end = text.find('\n');
    } else if (text.starts_with("/*")) {
      end = text.find("*/", 2);
      if (end != std::string_view::npos) end += 2;
    } else {
      return text;
    }
    text.remove_prefix(std::min(end, text.size()));
  }
}

// `.target sm_90a, debug` gives 90; 0 where there is no such directive.
uint32_t target_of(std::string_view text) {
  size_t at = text.find(".target");
  if (at == std::string_view::npos) return 0;
  text = skip_blanks_and_comments(text.substr(at + std::string_view(".target").size()));
  if (!text.starts_with("sm_")) return 0;
  uint32_t architecture = 0;
  std::from_chars(text.data() + 3, text.data() + text.size(), architecture);
  return architecture;
}

}  // namespace

Result<CodeEntry> text_entry(std::string_view text) {
  if (!skip_blanks_and_comments(text).starts_with(".version")) {
    return invalid_input("neither PTX text (which begins with .version) nor a fat binary");
  }
  return CodeEntry{CodeEntry::Kind::ptx, target_of(text), std::string(text)};
}

}  // namespace sluice::ptx::image
