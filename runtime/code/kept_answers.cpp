#include "runtime/code/kept_answers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "dro/journal/journal_format.hpp"
#include "dro/journal/journal_reader.hpp"

namespace sluice::runtime {
namespace {

using analysis::LaunchShape;
using analysis::ShapeFamily;
using analysis::SymbolicFootprint;
using nlohmann::json;

// As many as the analysis keeps.
constexpr size_t most_families = 16;

JsonText json_of(const ShapeFamily& family) {
  JsonText symbols = JsonText::array({});
  for (const analysis::SymbolicNumber& symbol : family.symbols)
    symbols.add(JsonText::array({symbol.number, symbol.low, symbol.high}));
  return JsonText::object({{"family", symbols}});
}

// whole_number() throws where a value is no whole number.
int64_t whole_number(const json& value) {
  if (!value.is_number_integer()) throw std::out_of_range("no whole number");
  return value.get<int64_t>();
}

// family_of() is the family of a footprint that has symbols.
std::optional<ShapeFamily> family_of(const analysis::Footprint& footprint, const json& line) {
  ShapeFamily family{footprint.shape, {}};
  const auto symbols = line.find("family");
  if (symbols == line.end() || symbols->size() != footprint.symbols.size()) return std::nullopt;
  try {
    for (const json& symbol : *symbols)
      family.symbols.push_back({static_cast<analysis::ShapeNumber>(whole_number(symbol.at(0))),
                                whole_number(symbol.at(1)), whole_number(symbol.at(2))});
  } catch (const std::exception&) {
    return std::nullopt;
  }
  const size_t numbers = footprint.shape.shape_values.size() + 3;  // of a shape
  if (std::ranges::any_of(family.symbols,
                          [&](const auto& symbol) { return symbol.number >= numbers; }))
    return std::nullopt;
  const bool are_named = std::ranges::equal(
      family.symbols, footprint.symbols, {},
      [](const auto& symbol) { return analysis::symbol_name(symbol.number); },
      &analysis::Symbol::name);
  return are_named ? std::optional(std::move(family)) : std::nullopt;
}

}  // namespace

std::optional<json> take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const auto line = dro::unsealed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  json value = line ? parsed_json(*line) : json();
  return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
}

std::string text_of(const Answer& answer) {
  std::string text = dro::sealed(dro::text_of(dro::FootprintRecord{0, answer.footprint})) + "\n";
  if (answer.family) text += dro::sealed(json_of(*answer.family).text()) + "\n";
  return text;
}

std::optional<Answer> take_answer(std::string_view& text) {
  const std::optional<json> line = take_line(text);
  if (!line) return std::nullopt;
  auto read = dro::record_of(*line, "");
  auto* record = read ? std::get_if<dro::FootprintRecord>(&*read) : nullptr;
  if (record == nullptr) return std::nullopt;
  Answer answer{std::move(record->footprint), std::nullopt};
  if (answer.footprint.symbols.empty()) return answer;
  const std::optional<json> symbols = take_line(text);
  if (symbols) answer.family = family_of(answer.footprint, *symbols);
  return answer.family ? std::optional(std::move(answer)) : std::nullopt;
}

Families::Families(std::vector<analysis::ParameterSlot> scalars) : scalars_(std::move(scalars)) {
  can_be_ = std::ranges::all_of(scalars_, [](const analysis::ParameterSlot& scalar) {
    return scalar.size >= 1 && scalar.size <= 8;
  });
}

std::optional<SymbolicFootprint> Families::made_of(const Answer& answer) const {
  const LaunchShape& shape = answer.footprint.shape;
  if (!can_be_ || !answer.family || answer.footprint.opaque()) return std::nullopt;
  if (shape.shape_values.size() != scalars_.size()) return std::nullopt;
  SymbolicFootprint family(*answer.family, answer.footprint, scalars_);
  return family.covers(shape) ? std::optional(std::move(family)) : std::nullopt;
}

bool Families::add(const Answer& answer) {
  std::optional<SymbolicFootprint> family = made_of(answer);
  if (!family) return false;
  all_.push_front(std::move(*family));
  if (all_.size() > most_families) all_.pop_back();
  return true;
}

bool Families::would_cover(const Answer& answer, const LaunchShape& shape) const {
  const std::optional<SymbolicFootprint> family = made_of(answer);
  return family && family->covers(shape);
}

bool Families::covers(const LaunchShape& shape) const {
  return std::ranges::any_of(all_, [&](const auto& family) { return family.covers(shape); });
}

std::optional<analysis::Footprint> Families::at(const LaunchShape& shape) {
  const auto family =
      std::ranges::find_if(all_, [&](const auto& known) { return known.covers(shape); });
  if (family == all_.end()) return std::nullopt;
  all_.splice(all_.begin(), all_, family);
  return all_.front().at(shape);
}

}  // namespace sluice::runtime
