#include "runtime/code/model_cache.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "base/json_text.hpp"
#include "dro/journal/journal_format.hpp"
#include "runtime/code/kept_answers.hpp"

namespace sluice::runtime {
namespace {

using nlohmann::json;

constexpr size_t most_answers = 16;

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

std::string text_of(const std::vector<Answer>& answers) {
  std::string text;
  for (const Answer& answer : answers)
    text += text_of(answer);
  return text;
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
      : source_(std::move(source)),
        signature_(std::move(signature)),
        real_(std::move(real)),
        families_(signature_.shape_scalars) {}

  const analysis::KernelSignature& signature() const override { return signature_; }

  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    is_last_kept_ = true;
    if (auto footprint = families_.at(shape)) return *std::move(footprint);
    if (const auto found = find_kept(shape)) return take_kept(*found, shape);
    FamiliesOfBlock& of_block = families_of(shape);
    if (auto footprint = of_block.families.at(shape)) return *std::move(footprint);
    is_last_kept_ = false;
    const size_t place = asked_++;
    if (is_following_) leave(place);
    if (real_ == nullptr) return nothing(shape);
    Answer answer{real_->footprint(shape), std::nullopt};
    if (real_->family() != nullptr) answer.family = *real_->family();
    if (answer.family && families_.add(answer)) keep_family(of_block, answer);
    if (place < most_answers) {
      known_.push_back(answer);
      store();
    }
    return std::move(answer.footprint);
  }

  bool is_like_last(const analysis::LaunchShape& shape) override {
    return is_kept(shape) == is_last_kept_;
  }

  bool is_kept(const analysis::LaunchShape& shape) override {
    return families_.covers(shape) || find_kept(shape) || families_of(shape).families.covers(shape);
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
  // FamiliesOfBlock are those that starts have found for launches of one block, whatever shape they
  // began with: which one comes first may be chance.
  struct FamiliesOfBlock {
    Dim3 block;
    uint32_t dynamic_shared_bytes = 0;
    Families families;
    std::vector<Answer> kept;
  };

  // families_of() reads them the first time.
  FamiliesOfBlock& families_of(const analysis::LaunchShape& shape) {
    for (FamiliesOfBlock& known : blocks_) {
      if (known.block == shape.block && known.dynamic_shared_bytes == shape.dynamic_shared_bytes)
        return known;
    }
    FamiliesOfBlock& added = blocks_.emplace_back(FamiliesOfBlock{
        shape.block, shape.dynamic_shared_bytes, Families(signature_.shape_scalars), {}});
    const std::string text = source_.folder->load(name_of(added)).value_or("");
    std::string_view rest = text;
    while (auto answer = take_answer(rest))
      if (added.families.add(*answer)) added.kept.push_back(*std::move(answer));
    return added;
  }

  void keep_family(FamiliesOfBlock& of_block, const Answer& answer) const {
    if (of_block.kept.size() == most_answers) return;
    of_block.kept.push_back(answer);
    source_.folder->store(name_of(of_block), text_of(of_block.kept));
  }

  std::string name_of(const FamiliesOfBlock& of) const {
    return digest(fmt::format("{}families {} {} {}, {}", source_.key, of.block.x, of.block.y,
                              of.block.z, of.dynamic_shared_bytes));
  }

  std::string name_of_figures(const std::string& name) const {
    return digest(fmt::format("{}figures {}", source_.key, name));
  }

  // find_kept() is the next answer's place where that is of the shape, or else of a later one whose
  // family holds for it: of shapes that come while others are found nobody may have asked before.
  std::optional<size_t> find_kept(const analysis::LaunchShape& shape) {
    if (!is_following_) return std::nullopt;
    if (asked_ == 0) load(shape);
    if (is_read(asked_) && known_[asked_].footprint.shape == shape) return asked_;
    for (size_t place = asked_; is_read(place); ++place)
      if (families_.would_cover(known_[place], shape)) return place;
    return std::nullopt;
  }

  analysis::Footprint take_kept(size_t place, const analysis::LaunchShape& shape) {
    known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(asked_),
                 known_.begin() + static_cast<std::ptrdiff_t>(place));
    const Answer& answer = known_[asked_++];
    if (answer.family && families_.add(answer)) return *families_.at(shape);
    return answer.footprint;
  }

  bool is_read(size_t place) {
    while (known_.size() <= place && !unread_.empty()) {
      auto answer = take_answer(unread_);
      if (!answer) unread_ = {};  // what was read before is good
      if (answer) known_.push_back(std::move(*answer));
    }
    return place < known_.size();
  }

  void load(const analysis::LaunchShape& first) {
    std::string name = digest(source_.key + text_of(first));
    if (name == name_) return;
    name_ = std::move(name);
    known_.clear();
    text_ = source_.folder->load(name_).value_or("");
    unread_ = text_;
  }

  // leave() makes the real model take over after `place` answers from the folder. Families that
  // would have come later serve none the less.
  void leave(size_t place) {
    is_following_ = false;
    for (size_t later = place; is_read(later); ++later)
      families_.add(known_[later]);
    unread_ = {};
    known_.resize(std::min(place, known_.size()));
    if (real_ == nullptr) {
      if (auto made = source_.make()) real_ = std::move(*made);
    }
    if (real_ == nullptr) return;
    for (const Answer& earlier : known_)
      real_->footprint(earlier.footprint.shape);
  }

  void store() const { source_.folder->store(name_, text_of(known_)); }

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
  bool is_last_kept_ = true;
  Families families_;  // of the answers so far
  std::list<FamiliesOfBlock> blocks_;
  size_t asked_ = 0;  // shapes that no family covered
  std::string name_;
  std::vector<Answer> known_;  // by place in their sequence
  // What the folder has beyond these. An answer is read when its place in the sequence comes: a
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
