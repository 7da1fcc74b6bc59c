// An access relation as a footprint gives it: read once, used for every launch of its family.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/footprint.hpp"
#include "dro/boxes/box_template.hpp"
#include "dro/relations/access_loops.hpp"
#include "dro/relations/relations.hpp"

namespace sluice::dro {

// AccessTemplate is one relation's text, with parameters or without. isl reads the text when it is
// needed, which takes some hundred microseconds: not where the text shows boxes. Not thread-safe.
class AccessTemplate {
 public:
  // read() takes { B[x, y, z] -> A[o] } whose parameters are among `symbols`; an error where the
  // text is something else. `context` is needed as long as the template is.
  static Result<std::shared_ptr<AccessTemplate>> read(const IslContext& context,
                                                      const std::string& text,
                                                      std::span<const analysis::Symbol> symbols);

  // at() is the relation where the symbols have these values; an error where it has blocks outside
  // the grid. `symbols` have the names that read() was given, in the same order.
  Result<isl::map> at(std::span<const analysis::Symbol> symbols, const Dim3& grid) const;

  // list() does as AccessLoops::list(); false also where there are no such loops.
  bool list(std::span<const analysis::Symbol> symbols, const Dim3& grid, size_t most_steps,
            std::vector<ByteRun>& runs);

  // boxes() does as BoxTemplate::at(); nothing also where there is no such template.
  std::optional<Boxes> boxes(std::span<const analysis::Symbol> symbols, const Dim3& grid);

  const std::string& text() const { return text_; }

 private:
  // relation() is null where isl gives up.
  const isl::map& relation() const;
  std::vector<int64_t> values_of(std::span<const analysis::Symbol> symbols) const;

  const IslContext* context_ = nullptr;
  std::string text_;
  mutable std::optional<isl::map> relation_;  // from when it is needed
  std::vector<size_t> symbol_of_;             // by parameter of the relation: which symbol it is

  std::optional<BoxTemplate> boxes_of_text_;  // without parameters only
  std::optional<BoxTemplate> boxes_of_relation_;
  bool boxes_of_relation_made_ = false;
  std::optional<AccessLoops> loops_;
  bool loops_made_ = false;
};

}  // namespace sluice::dro
