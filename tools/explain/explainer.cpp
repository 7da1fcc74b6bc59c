#include "tools/explain/explainer.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "analysis/kernel_analysis.hpp"
#include "analysis/shape/footprint_comparison.hpp"
#include "analysis/value_flow.hpp"
#include "dro/records/widening.hpp"
#include "relation/isl_relation.hpp"
#include "tools/explain/advice.hpp"
#include "tools/explain/example_shape.hpp"
#include "tools/explain/signature.hpp"
#include "tools/explain/words.hpp"

namespace sluice::tools {
namespace {

using analysis::Access;
using analysis::Footprint;
using analysis::ParameterSlot;
using analysis::Precision;
using ptx::SourceFiles;
using ptx::SourceLines;
using ptx::SourcePlace;

// Slot is a pointer or scalar slot as it is called in a sentence.
struct Slot {
  std::string name;
  std::string type;
  // Whether two blocks may store different values in one place; nothing where that is not known.
  // Empty: nobody can be asked.
  std::function<std::optional<bool>()> stores_differ = {};
};

// slot_of() finds the parameter that holds a slot; a field of a structure is named by its place.
Slot slot_of(const ParameterSlot& slot, const std::vector<ParameterSlot>& parameters,
             const KernelSignatureText& text) {
  if (slot.is_variable) return {fmt::format("variable {}", slot.name), {}};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSlot& parameter = parameters[i];
    if (slot.offset < parameter.offset || slot.offset >= parameter.offset + parameter.size) {
      continue;
    }
    const std::string name = text.argument(i);
    if (slot.size != parameter.size) {
      return {fmt::format("{}, field at byte {}", name, slot.offset - parameter.offset), {}};
    }
    return {name, i < text.parameters.size() ? text.parameters[i].type : ""};
  }
  return {slot.name, {}};
}

std::string extent_text(const Dim3& extent) {
  if (extent.z > 1) return fmt::format("{} x {} x {}", extent.x, extent.y, extent.z);
  if (extent.y > 1) return fmt::format("{} x {}", extent.x, extent.y);
  return std::to_string(extent.x);
}

std::string shape_text(const analysis::LaunchShape& shape, const std::vector<NamedNumber>& numbers,
                       const std::string& origin) {
  std::string text =
      fmt::format("{} {} of {} threads", extent_text(shape.grid),
                  shape.grid.count() == 1 ? "block" : "blocks", extent_text(shape.block));
  for (const NamedNumber& number : numbers)
    text += fmt::format(", {} = {}", number.name, int64_t(number.value));
  return origin.empty() ? text : fmt::format("{} ({})", text, origin);
}

// KernelText puts the text of one kernel together.
class KernelText {
 public:
  KernelText(KernelSignatureText signature, const SourceLines& lines, SourceFiles& files, bool isl)
      : signature_(std::move(signature)), lines_(lines), files_(files), isl_(isl) {}

  void heading() {
    text_ += fmt::format("kernel {}", signature_.declaration());
    if (!lines_.file().empty()) {
      text_ += fmt::format(" in {}", std::filesystem::path(lines_.file()).filename().string());
    }
    text_ += "\n";
  }

  void sentence(const std::string& sentence, size_t indent = 2) {
    text_ += wrapped(sentence, indent);
  }

  // why() gives a reason with its source lines, and what to change.
  void why(const std::string& lead, const std::string& words,
           const analysis::WideningReason& reason, bool writes, size_t indent) {
    std::vector<SourcePlace> places;
    sentence(fmt::format("{}: {}.", lead, lines_.named(words, places)), indent);
    for (const SourcePlace& place : places) {
      if (const auto line = files_.line(place.user_file(), place.user_line())) {
        const size_t first = std::min(line->find_first_not_of(" \t"), line->size());
        text_ += fmt::format("{}{:>5} | {}\n", std::string(indent, ' '), place.user_line(),
                             line->substr(first));
      }
    }
    const std::string advice = advice_for(reason, writes);
    if (!advice.empty()) sentence("What helps: " + advice, indent);
  }

  void argument(const Slot& slot, const analysis::ArgumentFootprint& argument,
                const analysis::LaunchShape& shape, const std::vector<NamedNumber>& numbers) {
    const bool is_named = slot.name.find('(') == std::string::npos && !slot.type.empty();
    text_ += fmt::format("\n  {}{}\n", slot.name, is_named ? " (" + slot.type + ")" : "");
    AccessWords words{{}, shape.grid, element_bytes(slot.type), numbers};
    if (!argument.reads.present() && !argument.may_writes.present() &&
        !argument.must_writes.present()) {
      sentence("No block touches it in this launch.", 4);
    }
    access(argument.reads,
           argument.reads.precision == Precision::exact ? AccessVerb{"read", "reads"}
                                                        : AccessVerb{"may read", "may read"},
           words, false);
    access(argument.must_writes, {"write", "writes"}, words, true);
    meeting(slot, argument.must_writes, shape.grid);
    access(argument.may_writes, {"may write", "may write"}, words, true);
  }

  std::string take() { return std::move(text_); }

 private:
  // meeting() says what is left where several blocks write.
  void meeting(const Slot& slot, const Access& writes, const Dim3& grid) {
    if (writes.relation.empty() || grid.count() < 2 || !slot.stores_differ) return;
    const auto picture = picture_of(writes.relation, grid);
    if (!picture || (!picture->sharing.everyone && picture->sharing.others.empty())) return;
    const std::optional<bool> differ = slot.stores_differ();
    if (!differ) return;
    sentence(*differ ? "Blocks may write different values to the same place there, and they run in "
                       "no order: what is left is what one of them wrote (sluice check)."
                     : "The values that they write to the same place are equal.",
             4);
  }

  void access(const Access& access, const AccessVerb& verb, AccessWords words, bool writes) {
    if (!access.present()) return;
    words.verb = verb;
    if (access.precision == Precision::whole_buffer) {
      sentence(
          fmt::format("Every block {} any byte of the buffer, as far as is known.", verb.plural),
          4);
    } else if (const auto picture = picture_of(access.relation, words.grid)) {
      sentence(describe(*picture, words), 4);
    } else {
      sentence(fmt::format("Blocks {} what this relation says: {}", verb.plural,
                           text_of(access.relation)),
               4);
    }
    if (!access.reason.empty()) {
      why(access.precision == Precision::whole_buffer ? "Why" : "Why not exactly",
          dro::sentence_of(access.reason), access.reason, writes, 6);
    } else if (writes && verb.singular == "may write") {
      sentence(
          "That these bytes are overwritten in every case is not certain: it is an atomic, or it "
          "happens under a condition on data. So earlier writers of them stay awaited.",
          6);
    }
    if (isl_ && !access.relation.empty())
      text_ += fmt::format("      isl: {}\n", text_of(access.relation));
  }

  KernelSignatureText signature_;
  const SourceLines& lines_;
  SourceFiles& files_;
  bool isl_;
  std::string text_;
};

void write_opaque(KernelText& writer, const std::string& words,
                  const analysis::WideningReason& reason) {
  writer.sentence(
      "Its launches are not followed: each waits for all launches before it, and all after it wait "
      "for it.");
  writer.why("Why", words, reason, true, 4);
}

void write_footprint(KernelText& writer, const Footprint& footprint,
                     const std::vector<Slot>& pointers, const std::vector<NamedNumber>& numbers) {
  if (footprint.opaque()) {
    write_opaque(writer, dro::sentence_of(footprint.opaque_reason), footprint.opaque_reason);
    return;
  }
  for (size_t i = 0; i < footprint.arguments.size(); ++i)
    writer.argument(pointers[i], footprint.arguments[i], footprint.shape, numbers);
}

}  // namespace

Result<std::string> Explainer::kernel(const ptx::Module& module, const ptx::Function& function,
                                      const ShapeChoice& choice) {
  const SourceLines lines(module, function);
  KernelSignatureText text = signature_of(function.name);
  if (!lines.file().empty()) {
    take_source(text, files_.text(lines.file()), function.parameters.size());
  }
  text.shorten(width_);
  KernelText writer(text, lines, files_, isl_);
  writer.heading();
  auto analysis = analysis::KernelAnalysis::create(module, function.name);
  if (!analysis) {
    const bool unknown = analysis.error().kind == ErrorKind::unsupported;
    write_opaque(writer, analysis.error().line(),
                 {unknown ? analysis::Widening::unknown_instruction : analysis::Widening::none});
    return writer.take();
  }
  const analysis::KernelSignature& signature = (*analysis)->signature();
  const auto shape = shape_for(function, **analysis, choice);
  if (!shape) return tl::unexpected(shape.error());
  std::vector<NamedNumber> numbers;
  for (size_t i = 0; i < signature.shape_scalars.size(); ++i) {
    const std::string name = slot_of(signature.shape_scalars[i], signature.parameters, text).name;
    numbers.push_back({name.substr(0, name.find(" (")), shape->shape_values[i]});
  }
  const Footprint footprint = analysis::closed((*analysis)->footprint(*shape));
  if (!footprint.opaque()) {
    writer.sentence(shape_text(*shape, numbers, choice.origin));
  }
  std::optional<Result<analysis::ValueFlow>> values;
  std::vector<Slot> pointers;
  for (const ParameterSlot& pointer : signature.pointers) {
    pointers.push_back(slot_of(pointer, signature.parameters, text));
    pointers.back().stores_differ = [&]() -> std::optional<bool> {
      if (!values) values = analysis::value_flow(module, function.name);
      const analysis::SlotValues* const known = *values ? (*values)->find(pointer) : nullptr;
      return known == nullptr ? std::nullopt : std::optional(known->stores_differ);
    };
  }
  write_footprint(writer, footprint, pointers, numbers);
  return writer.take();
}

std::string Explainer::footprint(const Footprint& footprint, const std::string& origin) {
  const SourceLines none;
  KernelSignatureText text = signature_of(footprint.kernel);
  text.shorten(width_);
  KernelText writer(text, none, files_, isl_);
  writer.heading();
  if (!footprint.opaque()) writer.sentence(shape_text(footprint.shape, {}, origin));
  std::vector<Slot> pointers;
  for (size_t i = 0; i < text.parameters.size(); ++i) {
    if (text.parameters[i].is_pointer()) {
      pointers.push_back({text.argument(i), text.parameters[i].type});
    }
  }
  if (pointers.size() != footprint.arguments.size()) {
    pointers.clear();
    for (size_t i = 0; i < footprint.arguments.size(); ++i)
      pointers.push_back({fmt::format("pointer argument {}", i), {}});
  }
  write_footprint(writer, analysis::closed(footprint), pointers, {});
  return writer.take();
}

std::string Explainer::not_followed(const RecordedKernel& recorded) {
  const SourceLines none;
  KernelText writer(signature_of(recorded.kernel), none, files_, isl_);
  writer.heading();
  write_opaque(writer, recorded.reason.empty() ? "its launches failed" : recorded.reason,
               {recorded.widening.value_or(analysis::Widening::none)});
  return writer.take();
}

}  // namespace sluice::tools
