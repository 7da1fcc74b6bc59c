#include "runtime/code/ptx_code.hpp"

#include <algorithm>
#include <cctype>

#include "base/digest.hpp"
#include "ptx/link.hpp"

namespace sluice::runtime {
namespace {

bool is_part_of_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' ||
         letter == '%' || letter == '$' || letter == ':';
}

bool is_call(std::string_view word) {
  return word == "call" || word.starts_with("call.");
}

// reaches_host() is of an opcode with its modifiers.
bool reaches_host(std::string_view word) {
  const auto has = [word](std::string_view part) { return word.find(part) != word.npos; };
  if (has(".shared") || has(".cta")) return false;
  constexpr std::string_view opcodes[] = {"atom.", "red.", "membar", "fence"};
  constexpr std::string_view strong[] = {".volatile", ".relaxed", ".acquire",
                                         ".release",  ".mmio",    ".sys"};
  return std::ranges::any_of(opcodes, [&](auto opcode) { return word.starts_with(opcode); }) ||
         std::ranges::any_of(strong, has);
}

// any_word() is whether `is_wanted` holds for some word of the text.
template <class IsWanted>
bool any_word(std::string_view text, IsWanted&& is_wanted) {
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), is_part_of_word);
    const auto end = std::find_if_not(begin, text.end(), is_part_of_word);
    if (is_wanted(std::string_view(begin, end))) return true;
    begin = end;
  }
  return false;
}

// body_of() is the text of a kernel from its name to the next function or the end; empty where it
// is not here.
std::string_view body_of(std::string_view text, std::string_view kernel) {
  const std::string_view entry = ".entry";
  for (size_t at = text.find(entry); at != text.npos; at = text.find(entry, at + 1)) {
    const size_t name = text.find_first_not_of(" \t\r\n", at + entry.size());
    if (name == text.npos || text.compare(name, kernel.size(), kernel) != 0) continue;
    const size_t end = name + kernel.size();
    if (end < text.size() && is_part_of_word(text[end])) continue;
    return text.substr(end, std::min(text.find(entry, end), text.find(".func", end)) - end);
  }
  return {};
}

bool says_may_signal(const std::vector<std::string>& units, std::string_view kernel) {
  for (const std::string& unit : units) {
    const std::string_view body = body_of(unit, kernel);
    if (body.empty()) continue;
    if (!any_word(body, is_call)) return any_word(body, reaches_host);
    return std::ranges::any_of(units,
                               [](const std::string& any) { return any_word(any, reaches_host); });
  }
  return true;
}

}  // namespace

PtxCode::PtxCode(std::vector<std::string> units)
    : units_(std::move(units)),
      has_managed_(std::ranges::any_of(units_, [](const std::string& unit) {
        return unit.find(".managed") != std::string::npos;
      })) {}

bool PtxCode::may_signal(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = may_signal_.try_emplace(kernel, true);
  if (is_new) known->second = says_may_signal(units_, kernel);
  return known->second;
}

const std::string& PtxCode::digest() {
  const std::lock_guard lock(mutex_);
  if (digest_.empty()) {
    std::string digests;
    for (const std::string& unit : units_)
      digests += sluice::digest(unit);
    digest_ = units_.size() == 1 ? digests : sluice::digest(digests);
  }
  return digest_;
}

Result<const ptx::Module*> PtxCode::module_with(std::string_view kernel) {
  const std::lock_guard lock(mutex_);
  // A look at the text spares parsing a large image that lacks the name.
  const bool may_hold = std::ranges::any_of(
      units_, [&](const std::string& unit) { return unit.find(kernel) != std::string::npos; });
  if (may_hold && !module_) module_ = ptx::link_texts(units_);
  if (may_hold && !*module_) return tl::unexpected<Error>(module_->error());
  const ptx::Function* function = may_hold ? (*module_)->find_function(kernel) : nullptr;
  const bool is_kernel = function != nullptr && function->is_entry && function->is_definition;
  if (!is_kernel) return unsupported("its PTX holds no kernel of that name");
  return &**module_;
}

}  // namespace sluice::runtime
