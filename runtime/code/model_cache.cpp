#include "runtime/code/model_cache.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/json_text.hpp"
#include "dro/journal/journal_format.hpp"
#include "dro/journal/journal_reader.hpp"

namespace sluice::runtime {
namespace {

using nlohmann::json;

constexpr size_t most_footprints = 16;

JsonText json_of(const std::vector<analysis::ParameterSlot>& slots) {
  JsonText list = JsonText::array({});
  for (const analysis::ParameterSlot& slot : slots)
    list.add(JsonText::array({slot.name, slot.offset, slot.size, slot.is_variable}));
  return list;
}

// number_of() throws where a value is no number that fits.
uint32_t number_of(const json& value) {
  const uint64_t number = value.get_ref<const json::number_unsigned_t&>();
  if (!std::in_range<uint32_t>(number)) throw std::out_of_range("a number does not fit");
  return static_cast<uint32_t>(number);
}

std::vector<analysis::ParameterSlot> slots_of(const json& list) {
  std::vector<analysis::ParameterSlot> slots;
  for (const json& slot : list) {
    slots.push_back({slot.at(0).get<std::string>(), number_of(slot.at(1)), number_of(slot.at(2)),
                     slot.at(3).get<bool>()});
  }
  return slots;
}

std::string text_of(const analysis::KernelSignature& signature) {
  return JsonText::object({{"kernel", signature.kernel},
                           {"parameter_bytes", signature.parameter_bytes},
                           {"parameters", json_of(signature.parameters)},
                           {"pointers", json_of(signature.pointers)},
                           {"shape_scalars", json_of(signature.shape_scalars)}})
      .text();
}

std::string text_of(const analysis::LaunchShape& shape) {
  return fmt::format("{} {} {}, {} {} {}, {}, {}", shape.grid.x, shape.grid.y, shape.grid.z,
                     shape.block.x, shape.block.y, shape.block.z, shape.dynamic_shared_bytes,
                     fmt::join(shape.shape_values, " "));
}

// take_line() is the value of the first line of a text, which it takes out; nothing where the line
// is damaged.
std::optional<json> take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const auto line = dro::unsealed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  json value = line ? parsed_json(*line) : json();
  return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
}

std::optional<analysis::Footprint> take_footprint(std::string_view& text) {
  const std::optional<json> line = take_line(text);
  if (!line) return std::nullopt;
  auto read = dro::record_of(*line, "");
  auto* record = read ? std::get_if<dro::FootprintRecord>(&*read) : nullptr;
  return record == nullptr ? std::nullopt : std::optional(std::move(record->footprint));
}

// Source is where a kernel's models come from.
struct Source {
  ModelMaker maker;
  std::shared_ptr<const CacheFolder> folder;
  PtxCode* code = nullptr;  // lives as long as the model
  std::string kernel;
  std::string key;  // of the signature; with a shape's text behind it, of footprints

  Result<std::unique_ptr<KernelModel>> make() const { return maker(*code, kernel); }
};

class CachedModel final : public KernelModel {
 public:
  CachedModel(Source source, analysis::KernelSignature signature, std::unique_ptr<KernelModel> real)
      : source_(std::move(source)), signature_(std::move(signature)), real_(std::move(real)) {}

  const analysis::KernelSignature& signature() const override { return signature_; }

  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    const bool is_known = is_kept(shape);
    const size_t place = asked_++;
    if (is_known) return known_[place];
    if (is_following_) leave(place);
    if (real_ == nullptr) return nothing(shape);
    analysis::Footprint answer = real_->footprint(shape);
    if (place < most_footprints) {
      known_.push_back(answer);
      store();
    }
    return answer;
  }

  bool is_like_last(const analysis::LaunchShape& shape) override {
    return !is_following_ || is_known(asked_, shape);
  }

  bool is_kept(const analysis::LaunchShape& shape) override {
    if (!is_following_) return false;
    if (asked_ == 0) load(shape);
    return is_known(asked_, shape);
  }

  std::vector<uint64_t> figures(const std::string& name) const override {
    const std::optional<std::string> text = source_.folder->load(name_of_figures(name));
    if (!text) return {};
    std::string_view rest = *text;
    const std::optional<json> line = take_line(rest);
    const auto found = line ? line->find("figures") : json::const_iterator();
    if (!line || found == line->end() || !found->is_array()) return {};
    std::vector<uint64_t> figures;
    for (const json& figure : *found) {
      if (!figure.is_number_unsigned()) return {};
      figures.push_back(figure.get<uint64_t>());
    }
    return figures;
  }

  void keep_figures(const std::string& name, const std::vector<uint64_t>& figures) const override {
    source_.folder->store(name_of_figures(name),
                          dro::sealed(JsonText::object({{"figures", figures}}).text()) + "\n");
  }

  Budget::Cost dearest() const override {
    return real_ == nullptr ? Budget::Cost{} : real_->dearest();
  }

  Result<analysis::ValueFlow> values(std::span<const std::byte> parameters) override {
    const Result<std::unique_ptr<KernelModel>> made = source_.make();
    if (!made) return tl::unexpected(made.error());
    return (*made)->values(parameters);
  }

 private:
  std::string name_of_figures(const std::string& name) const {
    return digest(fmt::format("{}figures {}", source_.key, name));
  }

  bool is_known(size_t place, const analysis::LaunchShape& shape) {
    while (known_.size() <= place && !unread_.empty()) {
      auto footprint = take_footprint(unread_);
      if (!footprint) unread_ = {};  // what was read before is good
      if (footprint) known_.push_back(std::move(*footprint));
    }
    return place < known_.size() && known_[place].shape == shape;
  }

  void load(const analysis::LaunchShape& first) {
    std::string name = digest(source_.key + text_of(first));
    if (name == name_) return;
    name_ = std::move(name);
    known_.clear();
    text_ = source_.folder->load(name_).value_or("");
    unread_ = text_;
  }

  // leave() makes the real model take over after `place` answers from the folder.
  void leave(size_t place) {
    is_following_ = false;
    unread_ = {};
    known_.resize(std::min(place, known_.size()));
    if (real_ == nullptr) {
      if (auto made = source_.make()) real_ = std::move(*made);
    }
    if (real_ == nullptr) return;
    for (const analysis::Footprint& earlier : known_)
      real_->footprint(earlier.shape);
  }

  void store() const {
    std::string text;
    for (const analysis::Footprint& footprint : known_)
      text += dro::sealed(dro::text_of(dro::FootprintRecord{0, footprint})) + "\n";
    source_.folder->store(name_, text);
  }

  analysis::Footprint nothing(const analysis::LaunchShape& shape) const {
    analysis::Footprint footprint;
    footprint.kernel = source_.kernel;
    footprint.shape = shape;
    footprint.opaque_reason.why = analysis::Widening::lost;
    return footprint;
  }

  const Source source_;
  const analysis::KernelSignature signature_;
  std::unique_ptr<KernelModel> real_;  // null until the folder does not know
  bool is_following_ = true;           // all answers so far came from the folder
  size_t asked_ = 0;
  std::string name_;
  std::vector<analysis::Footprint> known_;  // by place in the sequence
  // What the folder has beyond these. A footprint is read when its place in the sequence comes: a
  // launch waits for no others.
  std::string text_;
  std::string_view unread_;  // of it
};

std::optional<analysis::KernelSignature> load_signature(const Source& source) {
  const std::optional<std::string> text = source.folder->load(digest(source.key));
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const std::optional<json> read = take_line(rest);
  if (!read || !rest.empty()) return std::nullopt;
  try {
    const json& line = *read;
    return analysis::KernelSignature{
        line.at("kernel").get<std::string>(), slots_of(line.at("parameters")),
        number_of(line.at("parameter_bytes")), slots_of(line.at("pointers")),
        slots_of(line.at("shape_scalars"))};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Cache is what makers of one folder share.
struct Cache {
  ModelMaker maker;
  std::shared_ptr<const CacheFolder> folder;
  std::string identity;

  Source source_of(PtxCode& code, std::string_view kernel) const {
    return {maker, folder, &code, std::string(kernel),
            fmt::format("{}\n{}\n{}\n", identity, kernel, code.digest())};
  }

  std::unique_ptr<KernelModel> kept(PtxCode& code, std::string_view kernel) const {
    Source source = source_of(code, kernel);
    std::optional<analysis::KernelSignature> signature = load_signature(source);
    if (!signature) return nullptr;
    return std::make_unique<CachedModel>(std::move(source), std::move(*signature), nullptr);
  }

  ModelMaker::Made make(PtxCode& code, std::string_view kernel) const {
    if (std::unique_ptr<KernelModel> model = kept(code, kernel)) return model;
    Source source = source_of(code, kernel);
    Result<std::unique_ptr<KernelModel>> made = source.make();
    if (!made) return made;
    analysis::KernelSignature signature = (*made)->signature();
    folder->store(digest(source.key), dro::sealed(text_of(signature)) + "\n");
    return std::make_unique<CachedModel>(std::move(source), std::move(signature), std::move(*made));
  }
};

}  // namespace

ModelMaker cached_model_maker(ModelMaker maker, std::shared_ptr<const CacheFolder> folder,
                              std::string identity) {
  const auto cache = std::make_shared<const Cache>(
      Cache{std::move(maker), std::move(folder), std::move(identity)});
  return {[cache](PtxCode& code, std::string_view kernel) { return cache->make(code, kernel); },
          [cache](PtxCode& code, std::string_view kernel) { return cache->kept(code, kernel); }};
}

}  // namespace sluice::runtime
