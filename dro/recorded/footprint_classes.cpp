#include "dro/recorded/footprint_classes.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "dro/journal/journal_reader.hpp"

namespace sluice::dro {
namespace {

using analysis::Access;
using analysis::ArgumentFootprint;
using analysis::Precision;

constexpr std::array class_names = {"exact", "bounded", "whole_buffer", "opaque"};

std::array<Access*, 3> accesses_of(ArgumentFootprint& argument) {
  return {&argument.reads, &argument.may_writes, &argument.must_writes};
}

ClassifiedShape classified(analysis::Footprint footprint) {
  ClassifiedShape result{footprint.kernel, footprint.shape, {}, std::move(footprint.arguments), {}};
  auto worst = Precision::exact;
  for (ArgumentFootprint& argument : result.arguments) {
    for (Access* access : accesses_of(argument)) {
      worst = std::max(worst, access->precision);
      if (!access->relation.empty()) access->relation = {0, {{}}};
    }
  }
  result.kind = static_cast<FootprintClass>(worst);
  return result;
}

// Collector keeps each pair once.
class Collector {
 public:
  void add(const auto&) {}
  void add(const FootprintRecord& record) {
    understood_.insert(record.footprint.kernel);
    add_shape(classified(record.footprint));
  }
  void add(const LaunchRecord& launch) {
    if (launch.footprint) return;
    const LaunchDetails& details = launch.details;
    add_shape({details.kernel,
               {.grid = details.grid,
                .block = details.block,
                .dynamic_shared_bytes = 0,
                .shape_values = {}},
               FootprintClass::opaque,
               {},
               details.passed_through});
  }

  std::vector<ClassifiedShape> take() {
    std::erase_if(shapes_, [&](const ClassifiedShape& shape) {
      return shape.kind == FootprintClass::opaque && understood_.contains(shape.kernel);
    });
    return std::move(shapes_);
  }

 private:
  void add_shape(ClassifiedShape added) {
    const bool known =
        std::any_of(shapes_.begin(), shapes_.end(), [&](const ClassifiedShape& other) {
          return other.kernel == added.kernel && other.shape == added.shape &&
                 (other.kind == FootprintClass::opaque) == (added.kind == FootprintClass::opaque);
        });
    if (!known) shapes_.push_back(std::move(added));
  }

  std::vector<ClassifiedShape> shapes_;
  std::set<std::string> understood_;
};

std::string tuple_text(const Dim3& extent) {
  return fmt::format("({}, {}, {})", extent.x, extent.y, extent.z);
}

void write_argument(size_t number, ArgumentFootprint argument, std::ostream& out) {
  static constexpr std::array kinds = {"reads", "may write", "writes"};
  const auto accesses = accesses_of(argument);
  for (size_t i = 0; i < accesses.size(); ++i) {
    if (accesses[i]->precision == Precision::exact) continue;
    out << fmt::format("    pointer {} {}: {}: {}\n", number, kinds[i],
                       class_names[size_t(accesses[i]->precision)],
                       sentence_of(accesses[i]->reason));
  }
}

}  // namespace

Result<std::vector<ClassifiedShape>> classify_footprints(const std::string& path) {
  auto reader = JournalReader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  Collector collector;
  const Status read = reader->each([&](const JournalRecord& record) -> Status {
    std::visit([&](const auto& kind) { collector.add(kind); }, record.value);
    return {};
  });
  if (!read) return tl::unexpected(read.error());
  return collector.take();
}

void write_classes(const std::vector<ClassifiedShape>& shapes, std::ostream& out, size_t width) {
  for (const ClassifiedShape& shape : shapes) {
    out << fmt::format("{:12}  {} grid {} block {}", class_names[size_t(shape.kind)],
                       name_in_line(shape.kernel, width), tuple_text(shape.shape.grid),
                       tuple_text(shape.shape.block));
    const auto& values = shape.shape.shape_values;
    for (size_t i = 0; i < values.size(); ++i)
      out << (i == 0 ? " scalars " : ", ") << values[i];
    out << '\n';
    if (!shape.reason.empty()) out << "    " << shape.reason << '\n';
    for (size_t i = 0; i < shape.arguments.size(); ++i)
      write_argument(i, shape.arguments[i], out);
  }
}

void write_shares(const std::vector<ClassifiedShape>& shapes, const std::string& name,
                  std::ostream& out) {
  std::array<uint64_t, class_names.size()> counts{};
  for (const ClassifiedShape& shape : shapes)
    ++counts[size_t(shape.kind)];
  out << fmt::format("{}: {} pairs of kernel and shape", name, shapes.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    const double share = shapes.empty() ? 0 : 100.0 * double(counts[i]) / double(shapes.size());
    out << fmt::format(", {} {} ({:.1f} %)", class_names[i], counts[i], share);
  }
  out << '\n';
}

}  // namespace sluice::dro
