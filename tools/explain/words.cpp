#include "tools/explain/words.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>

namespace sluice::tools {
namespace {

constexpr size_t most_runs_listed = 4;
constexpr std::array<const char*, 3> axis_names = {"x", "y", "z"};

size_t axes_of(const Dim3& grid) {
  if (grid.z > 1) return 3;
  return grid.y > 1 ? 2 : 1;
}

std::string any_block(const Dim3& grid) {
  if (grid.count() == 1) return "The only block";
  static constexpr std::array<const char*, 3> names = {"Block (x)", "Block (x, y)",
                                                       "Block (x, y, z)"};
  return names[axes_of(grid) - 1];
}

std::string place_of(const BlockIndex& block, const Dim3& grid) {
  switch (axes_of(grid)) {
    case 1:
      return fmt::format("({})", block.x);
    case 2:
      return fmt::format("({}, {})", block.x, block.y);
    default:
      return fmt::format("({}, {}, {})", block.x, block.y, block.z);
  }
}

// line_text() is "16y - 1".
std::string line_text(const Linear& line) {
  std::string text;
  const auto add = [&](int64_t factor, const std::string& of) {
    if (factor == 0) return;
    const std::string size =
        std::abs(factor) == 1 && !of.empty() ? "" : std::to_string(std::abs(factor));
    if (text.empty()) {
      text = (factor < 0 ? "-" : "") + size + of;
    } else {
      text += (factor < 0 ? " - " : " + ") + size + of;
    }
  };
  for (size_t axis = 3; axis-- > 0;)
    add(line.slope[axis], axis_names[axis]);
  add(line.constant, "");
  return text.empty() ? "0" : text;
}

// range_text() is "rows 16y - 1 to 16y + 16", or "row 16y" where it is one.
std::string range_text(const std::string& noun, const Linear& first, const Linear& last) {
  if (first == last) return fmt::format("{} {}", noun, line_text(first));
  return fmt::format("{}s {} to {}", noun, line_text(first), line_text(last));
}

bool is_multiple(const Linear& line, int64_t of) {
  return line.constant % of == 0 &&
         std::all_of(line.slope.begin(), line.slope.end(), [of](int64_t s) { return s % of == 0; });
}

Linear divided(Linear line, int64_t by) {
  line.constant /= by;
  for (int64_t& slope : line.slope)
    slope /= by;
  return line;
}

Linear plus(Linear line, int64_t summand) {
  line.constant += summand;
  return line;
}

using Bounds = std::pair<Linear, Linear>;

// Speaker tells a box in elements where everything about it is a multiple of them, else in bytes.
class Speaker {
 public:
  Speaker(const AccessWords& words, const Pitches& pitches, const Bounds& innermost)
      : words_(words), pitches_(pitches) {
    const int64_t size = words.element_bytes;
    const auto fits = [size](int64_t pitch) { return pitch % size == 0; };
    if (size > 1 && std::all_of(pitches.begin(), pitches.end(), fits) &&
        is_multiple(innermost.first, size) && is_multiple(plus(innermost.second, 1), size)) {
      unit_ = size;
    }
    in_elements_ = words.element_bytes != 0 && unit_ == size;
  }

  // box() is "rows 16y - 1 to 16y + 16, columns 16x - 1 to 16x + 16".
  std::string box(const std::vector<Bounds>& box) const {
    std::string text;
    for (size_t i = 0; i < box.size(); ++i) {
      const bool is_innermost = i + 1 == box.size();
      const Bounds bounds = is_innermost ? in_units(box[i]) : box[i];
      if (i > 0) text += ", ";
      text += range_text(noun(i), bounds.first, bounds.second);
    }
    return text;
  }

  // layout() is "A row is 64 elements (n)."; empty where there are no rows.
  std::string layout() const {
    std::string text;
    for (size_t i = 0; i < pitches_.size(); ++i) {
      const uint64_t length = uint64_t(pitches_[i] / unit_);
      text += fmt::format("{}a {} is {} {}{}", text.empty() ? "" : ", ", noun(i), length,
                          in_elements_ ? "elements" : "bytes", named(length));
    }
    if (!text.empty()) text = fmt::format("A{}.", text.substr(1));
    return text;
  }

 private:
  std::string noun(size_t level) const {
    if (level == pitches_.size()) {
      if (!pitches_.empty() && in_elements_) return "column";
      return in_elements_ ? "element" : "byte";
    }
    return level + 1 == pitches_.size() ? "row" : "plane";
  }

  Bounds in_units(const Bounds& bytes) const {
    return {divided(bytes.first, unit_), plus(divided(plus(bytes.second, 1), unit_), -1)};
  }

  std::string named(uint64_t length) const {
    for (const NamedNumber& number : words_.numbers) {
      if (number.value == length) return fmt::format(" ({})", number.name);
      if (number.value != 0 && number.value * number.value == length) {
        return fmt::format(" ({0} * {0})", number.name);
      }
    }
    return {};
  }

  const AccessWords& words_;
  const Pitches& pitches_;
  int64_t unit_ = 1;
  bool in_elements_ = false;
};

std::vector<Bounds> constant_box(const Box& box) {
  std::vector<Bounds> bounds;
  for (const Range& range : box)
    bounds.push_back({Linear{range.begin, {}}, Linear{range.end - 1, {}}});
  return bounds;
}

std::string runs_text(const ByteRuns& runs) {
  std::string text = runs.size() == 1 ? "bytes" : fmt::format("{} ranges of bytes:", runs.size());
  for (size_t i = 0; i < runs.size() && i < most_runs_listed; ++i)
    text += fmt::format("{} [{}, {})", i == 0 ? "" : ",", runs[i].begin, runs[i].end);
  if (runs.size() > most_runs_listed) {
    text += fmt::format(" ... [{}, {})", runs.back().begin, runs.back().end);
  }
  return text;
}

std::string pattern_text(const AccessPicture& picture, const AccessWords& words) {
  const BlockPattern& pattern = *picture.pattern;
  const Speaker speaker(words, pattern.pitches, pattern.box.back());
  const bool depends =
      std::any_of(pattern.box.begin(), pattern.box.end(), [](const Bounds& bounds) {
        return bounds.first.slope != std::array<int64_t, 3>{} ||
               bounds.second.slope != std::array<int64_t, 3>{};
      });
  const bool one = words.grid.count() == 1;
  const std::string who = depends || one ? any_block(words.grid) : "Every block";
  std::string text = fmt::format("{} {} {}", who, words.verb.singular, speaker.box(pattern.box));
  if (pattern.less_elsewhere) {
    text += ", some blocks less";
  } else if (pattern.less_at_edges) {
    text += ", less at the edge of the grid";
  }
  text += ".";
  if (const std::string layout = speaker.layout(); !layout.empty()) text += " " + layout;
  return text;
}

std::string example_text(const AccessPicture& picture, const AccessWords& words) {
  const std::string who =
      words.grid.count() == 1 ? std::string("It") : "Block " + place_of(picture.block, words.grid);
  const std::string start = fmt::format("{} {}", who, words.verb.singular);
  if (!picture.runs.empty() && !picture.pattern) {
    return fmt::format("{} {} bytes in {}.", start, *picture.bytes, runs_text(picture.runs));
  }
  const uint64_t around = picture.box.empty() ? 0 : box_bytes(picture.box);
  if (!picture.bytes) return fmt::format("{} at most {} bytes.", start, around);
  if (*picture.bytes == around) return fmt::format("{} {} bytes.", start, around);
  return fmt::format("{} {} bytes of the {} in that box.", start, *picture.bytes, around);
}

std::string sharing_text(const AccessPicture& picture, const AccessWords& words) {
  const Sharing& sharing = picture.sharing;
  if (words.grid.count() == 1) return {};
  if (sharing.none) return fmt::format("No two blocks {} the same byte.", words.verb.plural);
  if (sharing.everyone) return fmt::format("All blocks {} the same bytes.", words.verb.plural);
  if (sharing.others.empty()) return {};
  std::string list;
  for (const BlockIndex& other : sharing.others)
    list += (list.empty() ? "" : ", ") + place_of(other, words.grid);
  return fmt::format("It shares bytes with {} {}{}.",
                     sharing.others.size() == 1 ? "block" : "blocks", list,
                     sharing.more ? " and more" : "");
}

std::string total_text(const AccessPicture& picture, const AccessWords& words) {
  if (picture.total.empty() || words.grid.count() == 1) return {};
  const uint64_t bytes = runtime::count_bytes(picture.total);
  const auto box = box_of(picture.total, picture.pitches);
  const bool is_one = picture.total.size() == 1;
  if (is_one || (box && box_bytes(*box) == bytes)) {
    const Pitches& pitches = is_one ? Pitches{} : picture.pitches;
    const std::vector<Bounds> bounds = constant_box(*box_of(picture.total, pitches));
    const Speaker speaker(words, pitches, bounds.back());
    return fmt::format("Together: all of {}, {} bytes.", speaker.box(bounds), bytes);
  }
  return fmt::format("Together: {} of the bytes {} to {}.", bytes, picture.total.front().begin,
                     picture.total.back().end - 1);
}

}  // namespace

std::string describe(const AccessPicture& picture, const AccessWords& words) {
  if (picture.nothing) return fmt::format("No block {} anything.", words.verb.singular);
  std::string text = picture.pattern ? pattern_text(picture, words) + " " : "";
  text += example_text(picture, words);
  for (const std::string& sentence : {sharing_text(picture, words), total_text(picture, words)}) {
    if (!sentence.empty()) text += " " + sentence;
  }
  return text;
}

std::string wrapped(const std::string& text, size_t indent, size_t width) {
  const std::string margin(indent, ' ');
  std::istringstream words(text);
  std::string result, line = margin;
  for (std::string word; words >> word;) {
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line = margin;
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return result + line + "\n";
}

}  // namespace sluice::tools
