#include "tools/explain/block_pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <regex>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "dro/relations/relations.hpp"

namespace sluice::tools {
namespace {

using runtime::BlockIndex;
using runtime::ByteRuns;
using runtime::RelationRuns;

// isl gets about a second for each question, then the sentence is left out.
constexpr unsigned long operation_budget = 4'000'000;
constexpr uint64_t most_blocks_looked_at = 512;
// The bytes of a block that lie further apart than this are not listed one by one: the loops that
// isl makes may visit each byte between them. Nor are those of more blocks than this comes to.
constexpr long most_bytes_listed = 1L << 19;
constexpr long most_bytes_looked_at = 1L << 23;
constexpr size_t most_sharers_listed = 8;

std::array<int64_t, 3> coordinates(const BlockIndex& block) {
  return {block.x, block.y, block.z};
}

// sampled_blocks() are all blocks of a small grid, those that tell most first: the middle, its
// neighbours, the corners.
std::vector<BlockIndex> sampled_blocks(const Dim3& grid, const BlockIndex& middle) {
  std::vector<BlockIndex> blocks = {middle};
  const auto add = [&](const BlockIndex& block) {
    const auto is_it = [&](const BlockIndex& other) {
      return coordinates(other) == coordinates(block);
    };
    const bool inside = block.x < grid.x && block.y < grid.y && block.z < grid.z;
    if (inside && std::none_of(blocks.begin(), blocks.end(), is_it)) blocks.push_back(block);
  };
  for (const int step : {-1, 1}) {
    add({middle.x + uint32_t(step), middle.y, middle.z});
    add({middle.x, middle.y + uint32_t(step), middle.z});
    add({middle.x, middle.y, middle.z + uint32_t(step)});
  }
  for (unsigned corner = 0; corner < 8; ++corner) {
    add({(corner & 1) != 0 ? grid.x - 1 : 0, (corner & 2) != 0 ? grid.y - 1 : 0,
         (corner & 4) != 0 ? grid.z - 1 : 0});
  }
  if (grid.count() > most_blocks_looked_at) return blocks;
  for (uint32_t z = 0; z < grid.z; ++z) {
    for (uint32_t y = 0; y < grid.y; ++y) {
      for (uint32_t x = 0; x < grid.x; ++x)
        add({x, y, z});
    }
  }
  return blocks;
}

bool at_edge(const BlockIndex& block, const Dim3& grid) {
  const auto is_end = [](uint32_t at, uint32_t extent) {
    return extent > 1 && (at == 0 || at == extent - 1);
  };
  return is_end(block.x, grid.x) || is_end(block.y, grid.y) || is_end(block.z, grid.z);
}

isl::set one_block(const dro::IslContext& context, const BlockIndex& block) {
  return isl::set(context.get(), fmt::format("{{ B[{}, {}, {}] }}", block.x, block.y, block.z));
}

// hull_of() is the first and the last byte of a set; nothing where it has none or isl gives up.
std::optional<dro::ByteRange> hull_of(const isl::set& bytes) {
  if (!dro::yes(bytes.is_empty().negate())) return std::nullopt;
  const isl::val low = bytes.dim_min_val(0), high = bytes.dim_max_val(0);
  if (low.is_null() || high.is_null() || !dro::yes(low.is_int()) || !dro::yes(high.is_int())) {
    return std::nullopt;
  }
  return dro::ByteRange{low.get_num_si(), high.get_num_si()};
}

// BlockBytes answers what single blocks touch: from the list of their bytes where that is short,
// else by isl.
class BlockBytes {
 public:
  BlockBytes(const dro::IslContext& context, const isl::map& relation, RelationRuns& lists,
             const Dim3& grid, const BlockIndex& middle)
      : context_(context), relation_(relation) {
    const auto hull = hull_of(of(middle));
    const long span = hull ? hull->last - hull->first + 1 : most_bytes_listed + 1;
    is_listed_ = span <= most_bytes_listed;
    const size_t most = is_listed_ ? size_t(most_bytes_looked_at / span) : 0;
    for (const BlockIndex& block : sampled_blocks(grid, middle)) {
      if (blocks_.size() > std::max(most, least_blocks_looked_at)) break;
      if (dro::yes(of(block).is_empty())) continue;
      blocks_.push_back(block);
      auto listed = is_listed_ ? lists.of(block, {}) : std::nullopt;
      is_listed_ = listed.has_value();
      if (listed) runs_.push_back(std::move(*listed));
    }
  }

  // blocks() are those of a sample that touch anything, the middle first.
  const std::vector<BlockIndex>& blocks() const { return blocks_; }
  bool is_listed() const { return is_listed_; }
  const ByteRuns& runs(size_t number) const { return runs_[number]; }

  std::optional<Box> box(size_t number, const Pitches& pitches) const {
    return is_listed_ ? box_of(runs_[number], pitches) : box_by_isl(blocks_[number], pitches);
  }

  // fills() is true where the middle block touches every byte of the box around it.
  bool fills(const Box& box, const Pitches& pitches) const {
    std::string variables, constraints, place = "c";
    for (size_t i = 0; i < pitches.size(); ++i) {
      variables += fmt::format("i{}, ", i);
      constraints += fmt::format("{} <= i{} <= {} and ", box[i].first, i, box[i].last);
      place += fmt::format(" + {} i{}", pitches[i], i);
    }
    const isl::set whole(
        context_.get(),
        fmt::format("{{ A[o] : exists {}c : {}{} <= c <= {} and o = {} }}", variables, constraints,
                    box.back().first, box.back().last, place));
    return dro::yes(whole.is_subset(of(blocks_.front())));
  }

 private:
  static constexpr size_t least_blocks_looked_at = 15;

  isl::set of(const BlockIndex& block) const { return one_block(context_, block).apply(relation_); }

  // box_by_isl() knows rows, but no planes.
  std::optional<Box> box_by_isl(const BlockIndex& block, const Pitches& pitches) const {
    const isl::set bytes = of(block);
    if (pitches.empty()) {
      const auto hull = hull_of(bytes);
      if (!hull) return std::nullopt;
      return Box{{hull->first, hull->last}};
    }
    const auto part = [&](const char* formula) {
      return hull_of(bytes.apply(
          isl::map(context_.get(), fmt::format("{{ A[o] -> A[p] : p = {} }}",
                                               fmt::format(fmt::runtime(formula), pitches[0])))));
    };
    const auto rows = part("floor(o/{0})"), columns = part("o - {0} * floor(o/{0})");
    if (pitches.size() > 1 || !rows || !columns) return std::nullopt;
    return Box{{rows->first, rows->last}, {columns->first, columns->last}};
  }

  const dro::IslContext& context_;
  const isl::map& relation_;
  bool is_listed_ = false;
  std::vector<BlockIndex> blocks_;
  std::vector<ByteRuns> runs_;
};

// pitches_in() are the divisors and the factors of bound variables that a relation names, since
// isl writes rows with them, and parts of them, since an unrolled loop does several rows at a time.
std::vector<Pitches> pitches_in(const std::string& relation) {
  static const std::regex divisor(R"(([0-9]+)(?=e[0-9])|/([0-9]+)(?=\)))");
  std::set<int64_t, std::greater<>> numbers;
  for (std::sregex_iterator it(relation.begin(), relation.end(), divisor), end; it != end; ++it) {
    const std::string digits = (*it)[1].matched ? (*it)[1] : (*it)[2];
    if (digits.length() > 15) continue;
    const int64_t number = std::stoll(digits);
    for (const int64_t unrolled : {1, 2, 4, 8}) {
      if (number % unrolled == 0) numbers.insert(number / unrolled);
    }
  }
  std::vector<Pitches> pitches;
  for (const int64_t number : numbers)
    pitches.push_back({number});
  pitches.push_back({});
  return pitches;
}

// Sample is the box around what a block touches.
struct Sample {
  BlockIndex block;
  Box box;
};

// PatternFinder fits a box that is linear in the block's indices.
class PatternFinder {
 public:
  PatternFinder(const BlockBytes& bytes, const Dim3& grid)
      : bytes_(bytes), grid_(grid), middle_(coordinates(bytes.blocks().front())) {}

  std::optional<BlockPattern> find(const Pitches& pitches) {
    samples_.clear();
    for (size_t i = 0; i < bytes_.blocks().size(); ++i) {
      auto box = bytes_.box(i, pitches);
      if (!box) return std::nullopt;
      samples_.push_back({bytes_.blocks()[i], std::move(*box)});
    }
    BlockPattern pattern;
    pattern.pitches = pitches;
    for (size_t i = 0; i <= pitches.size(); ++i) {
      const auto first = fit([i](const Box& box) { return box[i].first; }, false);
      const auto last = fit([i](const Box& box) { return box[i].last; }, true);
      if (!first || !last) return std::nullopt;
      pattern.box.emplace_back(*first, *last);
    }
    for (const Sample& sample : samples_) {
      if (meets(pattern, sample)) continue;
      (at_edge(sample.block, grid_) ? pattern.less_at_edges : pattern.less_elsewhere) = true;
    }
    return pattern;
  }

 private:
  // slopes() are how a number changes from the middle block to either neighbour along an axis.
  template <class Number>
  std::vector<int64_t> slopes(size_t axis, const Number& number) const {
    const Sample* middle = at(middle_);
    std::set<int64_t> found;
    for (const int64_t step : {-1, 1}) {
      std::array<int64_t, 3> place = middle_;
      place[axis] += step;
      const Sample* neighbour = at(place);
      if (middle && neighbour) found.insert(step * (number(neighbour->box) - number(middle->box)));
    }
    if (found.empty()) found.insert(0);
    return {found.begin(), found.end()};
  }

  // fit() is the line that meets the number of the most blocks and is never inside a block's box.
  template <class Number>
  std::optional<Linear> fit(const Number& number, bool is_upper) const {
    std::optional<Linear> best;
    size_t best_met = 0;
    for (const int64_t x : slopes(0, number)) {
      for (const int64_t y : slopes(1, number)) {
        for (const int64_t z : slopes(2, number)) {
          Linear line{0, {x, y, z}};
          line.constant =
              number(at(middle_)->box) - x * middle_[0] - y * middle_[1] - z * middle_[2];
          const auto is_outside = [&](const Sample& sample) {
            const int64_t here = line.at(sample.block), there = number(sample.box);
            return is_upper ? here >= there : here <= there;
          };
          if (!std::all_of(samples_.begin(), samples_.end(), is_outside)) continue;
          const size_t met =
              size_t(std::count_if(samples_.begin(), samples_.end(), [&](const Sample& sample) {
                return line.at(sample.block) == number(sample.box);
              }));
          if (!best || met > best_met) {
            best = line;
            best_met = met;
          }
        }
      }
    }
    return best;
  }

  const Sample* at(const std::array<int64_t, 3>& place) const {
    for (const Sample& sample : samples_) {
      if (coordinates(sample.block) == place) return &sample;
    }
    return nullptr;
  }

  static bool meets(const BlockPattern& pattern, const Sample& sample) {
    for (size_t i = 0; i < pattern.box.size(); ++i) {
      if (pattern.box[i].first.at(sample.block) != sample.box[i].first ||
          pattern.box[i].second.at(sample.block) != sample.box[i].last) {
        return false;
      }
    }
    return true;
  }

  const BlockBytes& bytes_;
  Dim3 grid_;
  std::array<int64_t, 3> middle_;
  std::vector<Sample> samples_;
};

std::string isl_text(const Linear& line) {
  return fmt::format("{} + {}x + {}y + {}z", line.constant, line.slope[0], line.slope[1],
                     line.slope[2]);
}

// relation_of() is the pattern as a relation, so that isl can prove that it covers every block and
// not only those that were looked at.
isl::map relation_of(const dro::IslContext& context, const BlockPattern& pattern) {
  std::string variables, constraints, rest = "o";
  for (size_t i = 0; i < pattern.pitches.size(); ++i) {
    variables += fmt::format("{}i{}", i == 0 ? "" : ", ", i);
    constraints += fmt::format("{} <= i{} <= {} and ", isl_text(pattern.box[i].first), i,
                               isl_text(pattern.box[i].second));
    rest += fmt::format(" - {} i{}", pattern.pitches[i], i);
  }
  constraints += fmt::format("{} <= {} <= {}", isl_text(pattern.box.back().first), rest,
                             isl_text(pattern.box.back().second));
  const std::string condition =
      variables.empty() ? constraints : fmt::format("exists {} : {}", variables, constraints);
  return isl::map(context.get(), fmt::format("{{ B[x, y, z] -> A[o] : {} }}", condition));
}

int64_t coordinate(const isl::point& point, int position) {
  const isl::val value =
      isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, position));
  return value.get_num_si();
}

BlockIndex block_of(const isl::point& point) {
  return {uint32_t(coordinate(point, 0)), uint32_t(coordinate(point, 1)),
          uint32_t(coordinate(point, 2))};
}

Sharing sharing_of(const dro::IslContext& context, const isl::map& relation, const Dim3& grid,
                   const BlockIndex& block) {
  Sharing sharing;
  sharing.none = dro::yes(relation.is_injective());
  if (sharing.none || grid.count() < 2) return sharing;
  const isl::set everything = relation.range();
  const isl::map product =
      isl::map::from_domain_and_range(dro::grid_blocks(context, grid), everything);
  sharing.everyone = dro::yes(product.is_equal(relation));
  if (sharing.everyone) return sharing;
  const isl::set own = one_block(context, block);
  const isl::set others = own.apply(relation).apply(relation.reverse()).subtract(own);
  others.foreach_point([&](const isl::point& point) {
    if (sharing.others.size() == most_sharers_listed) {
      sharing.more = true;
      return isl::stat::error();
    }
    sharing.others.push_back(block_of(point));
    return isl::stat::ok();
  });
  std::sort(sharing.others.begin(), sharing.others.end(), [](const auto& a, const auto& b) {
    return std::tie(a.z, a.y, a.x) < std::tie(b.z, b.y, b.x);
  });
  return sharing;
}

// total_of() is what all blocks together touch; nothing where that is too much to list.
ByteRuns total_of(const dro::IslContext& context, const isl::map& relation) {
  const isl::set bytes = relation.range();
  const auto hull = hull_of(bytes);
  if (!hull) return {};
  if (dro::yes(dro::byte_set(context, *hull).is_subset(bytes))) {
    return {{hull->first, hull->last + 1}};
  }
  if (hull->last - hull->first > most_bytes_listed) return {};
  const isl::map together =
      isl::map::from_domain_and_range(one_block(context, {}), dro::coalesced(bytes));
  char* text = isl_map_to_str(together.get());
  if (text == nullptr) return {};
  const auto runs = RelationRuns::create(text, {});
  std::free(text);
  return runs ? (*runs)->of({}, {}).value_or(ByteRuns{}) : ByteRuns{};
}

BlockIndex example_block(const dro::IslContext& context, const isl::map& relation,
                         const Dim3& grid) {
  const BlockIndex middle{grid.x / 2, grid.y / 2, grid.z / 2};
  const isl::set blocks = relation.domain();
  if (!dro::yes(one_block(context, middle).intersect(blocks).is_empty())) return middle;
  return block_of(blocks.lexmin().sample_point());
}

// take_pattern() fills in what the example touches and the formula for all blocks.
void take_pattern(dro::IslContext& context, const isl::map& relation, const BlockBytes& bytes,
                  const Dim3& grid, const std::string& text, AccessPicture& picture) {
  if (bytes.is_listed()) {
    picture.runs = bytes.runs(0);
    picture.bytes = runtime::count_bytes(picture.runs);
  }
  PatternFinder finder(bytes, grid);
  for (const Pitches& pitches :
       bytes.is_listed() ? likely_pitches(picture.runs) : pitches_in(text)) {
    const dro::IslContext::Budget budget(context, operation_budget);
    auto pattern = finder.find(pitches);
    if (!pattern || !dro::yes(relation.is_subset(relation_of(context, *pattern)))) continue;
    const Box box = *bytes.box(0, pitches);
    // Of several ways to see the rows, the one that claims the least.
    if (picture.pattern && box_bytes(box) >= box_bytes(picture.box)) continue;
    picture.pattern = std::move(pattern);
    picture.box = box;
    picture.pitches = pitches;
  }
  if (!picture.pattern) picture.box = bytes.box(0, {}).value_or(Box{});
  const dro::IslContext::Budget budget(context, operation_budget);
  if (!picture.bytes && picture.pattern && bytes.fills(picture.box, picture.pitches)) {
    picture.bytes = box_bytes(picture.box);
  }
}

}  // namespace

int64_t Linear::at(const BlockIndex& block) const {
  return constant + slope[0] * block.x + slope[1] * block.y + slope[2] * block.z;
}

Result<AccessPicture> picture_of(const std::string& text, const Dim3& grid) {
  dro::IslContext context;
  const Result<isl::map> relation = dro::parse_access(context, text, grid);
  if (!relation) return tl::unexpected(relation.error());
  AccessPicture picture;
  picture.nothing = dro::yes(relation->is_empty());
  if (picture.nothing) return picture;
  const auto runs = RelationRuns::create(text, {});
  if (!runs) return tl::unexpected(runs.error());
  picture.block = example_block(context, *relation, grid);
  take_pattern(context, *relation, BlockBytes(context, *relation, **runs, grid, picture.block),
               grid, text, picture);
  {
    const dro::IslContext::Budget budget(context, operation_budget);
    picture.sharing = sharing_of(context, *relation, grid, picture.block);
  }
  const dro::IslContext::Budget budget(context, operation_budget);
  picture.total = total_of(context, *relation);
  return picture;
}

}  // namespace sluice::tools
