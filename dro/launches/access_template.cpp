#include "dro/launches/access_template.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <isl/map.h>

namespace sluice::dro {

Result<std::shared_ptr<AccessTemplate>> AccessTemplate::read(
    const IslContext& context, const std::string& text, std::span<const analysis::Symbol> symbols) {
  auto made = std::make_shared<AccessTemplate>();
  made->context_ = &context;
  made->text_ = text;
  if (const std::optional<RelationText> parsed = parse_relation(text)) {
    made->boxes_of_text_ = BoxTemplate::make(*parsed);
    return made;
  }
  Result<isl::map> access = read_access(context, text);
  if (!access) return tl::unexpected(access.error());
  const int parameters = isl_map_dim(access->get(), isl_dim_param);
  for (int i = 0; i < parameters; ++i) {
    const char* name = isl_map_get_dim_name(access->get(), isl_dim_param, static_cast<unsigned>(i));
    const auto symbol = std::find_if(
        symbols.begin(), symbols.end(),
        [&](const analysis::Symbol& each) { return name != nullptr && each.name == name; });
    if (symbol == symbols.end()) {
      return invalid_input(fmt::format("the footprint gives no value for {}: {}",
                                       name == nullptr ? "?" : name, text));
    }
    made->symbol_of_.push_back(static_cast<size_t>(symbol - symbols.begin()));
  }
  made->relation_ = std::move(*access);
  return made;
}

const isl::map& AccessTemplate::relation() const {
  if (!relation_) {
    const Result<isl::map> access = read_access(*context_, text_);
    relation_ = access ? *access : isl::map();
  }
  return *relation_;
}

Result<isl::map> AccessTemplate::at(std::span<const analysis::Symbol> symbols,
                                    const Dim3& grid) const {
  isl::map access = relation();
  if (access.is_null()) return invalid_input("not a relation that isl can read: " + text_);
  for (size_t i = 0; i < symbol_of_.size(); ++i) {
    const isl::val value(context_->get(), static_cast<long>(symbols[symbol_of_[i]].value));
    access = isl::manage(isl_map_fix_val(access.release(), isl_dim_param, static_cast<unsigned>(i),
                                         isl::val(value).release()));
  }
  if (!symbol_of_.empty()) {
    access = coalesced(isl::manage(isl_map_project_out(access.release(), isl_dim_param, 0,
                                                       static_cast<unsigned>(symbol_of_.size()))));
  }
  return within_grid(*context_, std::move(access), grid, text_);
}

bool AccessTemplate::list(std::span<const analysis::Symbol> symbols, const Dim3& grid,
                          size_t most_steps, std::vector<ByteRun>& runs) {
  if (!std::exchange(loops_made_, true) && !relation().is_null())
    loops_ = AccessLoops::make(relation());
  return loops_ && loops_->list(values_of(symbols), grid, most_steps, runs);
}

std::optional<Boxes> AccessTemplate::boxes(std::span<const analysis::Symbol> symbols,
                                           const Dim3& grid) {
  const std::vector<int64_t> values = values_of(symbols);
  if (boxes_of_text_) {
    if (auto found = boxes_of_text_->at(values, grid)) return found;
  }
  if (!std::exchange(boxes_of_relation_made_, true) && !relation().is_null())
    boxes_of_relation_ = BoxTemplate::make(relation());
  return boxes_of_relation_ ? boxes_of_relation_->at(values, grid) : std::nullopt;
}

std::vector<int64_t> AccessTemplate::values_of(std::span<const analysis::Symbol> symbols) const {
  std::vector<int64_t> values;
  for (const size_t symbol : symbol_of_)
    values.push_back(symbols[symbol].value);
  return values;
}

}  // namespace sluice::dro
