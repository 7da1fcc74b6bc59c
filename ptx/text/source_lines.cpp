#include "ptx/text/source_lines.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "ptx/visit.hpp"

namespace sluice::ptx {
namespace {

using FileNames = std::map<uint32_t, std::string>;

uint32_t number_of(const std::string& text) {
  uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

FileNames file_names(const ptx::Module& module) {
  FileNames names;
  for (const ptx::ModuleItem& item : module.items) {
    const auto* directive = std::get_if<ptx::Directive>(&item);
    if (directive == nullptr || directive->name != "file" || directive->arguments.size() < 2) {
      continue;
    }
    std::string name = directive->arguments[1];
    if (name.size() >= 2 && name.front() == '"') name = name.substr(1, name.size() - 2);
    names[number_of(directive->arguments[0])] =
        std::filesystem::path(name).lexically_normal().string();
  }
  return names;
}

std::string name_in(const FileNames& names, const std::string& number) {
  const auto found = names.find(number_of(number));
  return found == names.end() ? std::string() : found->second;
}

SourcePlace place_of(const ptx::Directive& loc, const FileNames& names) {
  const std::vector<std::string>& words = loc.arguments;
  SourcePlace place;
  if (words.size() < 2) return place;
  place.file = name_in(names, words[0]);
  place.line = number_of(words[1]);
  const auto inlined = std::find(words.begin(), words.end(), "inlined_at");
  if (words.end() - inlined > 2) {
    place.inlined_in_file = name_in(names, inlined[1]);
    place.inlined_in_line = number_of(inlined[2]);
  }
  return place;
}

}  // namespace

SourceLines::SourceLines(const ptx::Module& module, const ptx::Function& kernel) {
  const FileNames names = file_names(module);
  if (names.empty()) return;
  SourcePlace current;
  ptx::for_each_statement(kernel.body, [&](const ptx::Statement& statement) {
    if (const auto* directive = std::get_if<ptx::Directive>(&statement)) {
      if (directive->name == "loc") current = place_of(*directive, names);
    } else if (const auto* instruction = std::get_if<ptx::Instruction>(&statement)) {
      if (current.line != 0) places_[instruction->location.line] = current;
    }
  });
  if (!places_.empty()) file_ = places_.begin()->second.user_file();
}

std::optional<SourcePlace> SourceLines::at(uint32_t ptx_line) const {
  const auto found = places_.find(ptx_line);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

std::string SourceLines::named(const std::string& sentence,
                               std::vector<SourcePlace>& places) const {
  static const std::regex mention("PTX line ([0-9]+)");
  std::string result;
  size_t done = 0;
  for (std::sregex_iterator it(sentence.begin(), sentence.end(), mention), end; it != end; ++it) {
    result += sentence.substr(done, size_t(it->position()) - done);
    done = size_t(it->position() + it->length());
    const std::optional<SourcePlace> place = at(number_of((*it)[1]));
    if (!place) {
      result += it->str();
      continue;
    }
    result += fmt::format("{} (PTX line {})", place_text(*place), (*it)[1].str());
    const bool known = std::any_of(places.begin(), places.end(), [&](const SourcePlace& other) {
      return other.user_file() == place->user_file() && other.user_line() == place->user_line();
    });
    if (!known) places.push_back(*place);
  }
  return result + sentence.substr(done);
}

std::string place_text(const SourcePlace& place) {
  return fmt::format("{}:{}", std::filesystem::path(place.user_file()).filename().string(),
                     place.user_line());
}

const std::string& SourceFiles::text(const std::string& file) {
  const auto [entry, is_new] = texts_.try_emplace(file);
  if (is_new) {
    std::ostringstream text;
    if (std::ifstream stream(file); stream) text << stream.rdbuf();
    entry->second = text.str();
  }
  return entry->second;
}

std::optional<std::string> SourceFiles::line(const std::string& file, uint32_t line) {
  std::istringstream lines(text(file));
  std::string result;
  for (uint32_t i = 0; i < line; ++i) {
    if (!std::getline(lines, result)) return std::nullopt;
  }
  return result;
}

}  // namespace sluice::ptx
