#include "dro/journal/journal_format.hpp"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dro/journal/checksum.hpp"

namespace sluice::dro {
namespace {

// quoted() is a JSON string; bytes that are no UTF-8 are replaced.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string extent_text(const Dim3& extent) {
  return fmt::format("[{},{},{}]", extent.x, extent.y, extent.z);
}

// list_text() is a JSON array of what `text` gives for each item.
template <class List, class Text>
std::string list_text(const List& list, Text&& text) {
  std::string result = "[";
  for (const auto& item : list) {
    if (result.size() > 1) result += ',';
    result += text(item);
  }
  result += ']';
  return result;
}

template <class List>
std::string numbers_text(const List& list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

const char* precision_name(analysis::Precision precision) {
  switch (precision) {
    case analysis::Precision::exact:
      return "exact";
    case analysis::Precision::bounded:
      return "bounded";
    case analysis::Precision::whole_buffer:
      break;
  }
  return "whole_buffer";
}

// append_access() adds one member to an argument's object, where there is such an access.
void append_access(std::string& object, const char* name, const analysis::Access& access) {
  if (!access.present()) return;
  fmt::format_to(std::back_inserter(object), "{}\"{}\":{{\"precision\":\"{}\",\"relation\":{}",
                 object.size() > 1 ? "," : "", name, precision_name(access.precision),
                 quoted(access.relation));
  if (!access.reason.empty()) object += ",\"reason\":" + quoted(access.reason);
  object += '}';
}

std::string argument_text(const analysis::ArgumentFootprint& argument) {
  std::string object = "{";
  append_access(object, "reads", argument.reads);
  append_access(object, "may_writes", argument.may_writes);
  append_access(object, "must_writes", argument.must_writes);
  return object + "}";
}

std::string box_text(const BlockBox& box) {
  return fmt::format("[[{},{},{}],[{},{},{}]]", box.first_x, box.first_y, box.first_z, box.last_x,
                     box.last_y, box.last_z);
}

// append_digits() appends a checksum as eight hexadecimal digits.
void append_digits(std::string& text, uint32_t checksum) {
  for (int shift = 28; shift >= 0; shift -= 4)
    text += "0123456789abcdef"[checksum >> static_cast<unsigned>(shift) & 15U];
}

constexpr std::string_view seal_member = ",\"seal\":\"";
constexpr size_t seal_digits = 8;

}  // namespace

const char* rule_name(Rule rule) {
  return rule == Rule::exact ? "exact" : "buffer";
}

const char* form_name(EdgeForm form) {
  switch (form) {
    case EdgeForm::neighbours:
      return "neighbours";
    case EdgeForm::all:
      return "all";
    case EdgeForm::ranges:
      break;
  }
  return "ranges";
}

std::string header_text(const JournalHeader& header) {
  return fmt::format("{{\"journal\":\"sluice\",\"version\":{},\"rule\":\"{}\",\"program\":{}}}",
                     journal_version, rule_name(header.rule), quoted(header.program));
}

std::string buffer_text(BufferId buffer, uint64_t bytes) {
  return fmt::format("{{\"record\":\"buffer\",\"id\":{},\"bytes\":{}}}", buffer, bytes);
}

std::string free_text(BufferId buffer) {
  return fmt::format("{{\"record\":\"free\",\"id\":{}}}", buffer);
}

std::string footprint_text(FootprintId id, const analysis::Footprint& footprint) {
  const analysis::LaunchShape& shape = footprint.shape;
  return fmt::format(
      "{{\"record\":\"footprint\",\"id\":{},\"kernel\":{},\"grid\":{},\"block\":{},"
      "\"dynamic_shared_bytes\":{},\"shape_values\":{},\"symbols\":{},\"arguments\":{}}}",
      id, quoted(footprint.kernel), extent_text(shape.grid), extent_text(shape.block),
      shape.dynamic_shared_bytes, numbers_text(shape.shape_values),
      list_text(footprint.symbols,
                [](const analysis::Symbol& symbol) {
                  return fmt::format("[{},{}]", quoted(symbol.name), symbol.value);
                }),
      list_text(footprint.arguments, argument_text));
}

std::string edge_table_text(EdgeTableId id, const EdgeTable& table) {
  std::string text = fmt::format(
      "{{\"record\":\"edges\",\"id\":{},\"form\":\"{}\",\"master_grid\":{},\"slave_grid\":{},"
      "\"edge_count\":{}",
      id, form_name(table.form), extent_text(table.master_grid), extent_text(table.slave_grid),
      table.edge_count);
  if (table.form == EdgeForm::ranges) {
    text += ",\"rows\":" + numbers_text(table.rows) + ",\"ranges\":";
    text += list_text(table.ranges, [](const BlockRange& range) {
      return fmt::format("[{},{}]", range.first, range.last);
    });
  } else {
    text += ",\"master_box\":" + box_text(table.master_box);
    text += ",\"slave_box\":" + box_text(table.slave_box);
  }
  if (table.form == EdgeForm::neighbours) {
    text += ",\"offsets\":" + list_text(table.offsets, [](const BlockOffset& offset) {
              return fmt::format("[{},{},{}]", offset.x, offset.y, offset.z);
            });
  }
  return text + "}";
}

std::string dro_text(const Dro& dro) {
  return fmt::format(
      "{{\"record\":\"dro\",\"id\":{},\"master\":{},\"master_state\":{},\"slave\":{},"
      "\"hazards\":\"{}\",\"retires_master\":{},\"buffers\":{},\"edges\":{}}}",
      dro.id, dro.master, dro.master_state, dro.slave, hazard_names(dro.hazards),
      dro.retires_master, numbers_text(dro.buffers), dro.edges);
}

std::string launch_text(const LaunchRecord& launch) {
  const LaunchDetails& details = launch.details;
  std::string text = fmt::format(
      "{{\"record\":\"launch\",\"number\":{},\"kernel\":{},\"grid\":{},\"block\":{},\"stream\":{},"
      "\"how\":\"{}\"",
      launch.number, quoted(details.kernel), extent_text(details.grid), extent_text(details.block),
      details.stream, details.passed_through.empty() ? "tasks" : "passed_through");
  if (!details.passed_through.empty()) text += ",\"reason\":" + quoted(details.passed_through);
  if (launch.footprint) {
    text += fmt::format(",\"footprint\":{},\"interned\":{},\"arguments\":", *launch.footprint,
                        launch.interned);
    text += list_text(launch.arguments, [](const BoundArgument& argument) {
      return fmt::format("[{},{}]", argument.buffer, argument.offset);
    });
    text += ",\"dependences\":";
    text += list_text(launch.dependences, [](const std::pair<LaunchNumber, DroId>& dependence) {
      return fmt::format("[{},{}]", dependence.first, dependence.second);
    });
  }
  return text + "}";
}

std::string host_write_text(BufferId buffer, uint64_t begin, uint64_t end) {
  return fmt::format("{{\"record\":\"host_write\",\"buffer\":{},\"begin\":{},\"end\":{}}}", buffer,
                     begin, end);
}

std::string warning_text(const std::string& text) {
  return fmt::format("{{\"record\":\"warning\",\"text\":{}}}", quoted(text));
}

void append_sealed(std::string& lines, std::string_view text) {
  text.remove_suffix(1);  // the closing brace
  lines += text;
  lines += seal_member;
  append_digits(lines, crc32c(text));
  lines += "\"}";
}

std::string sealed(std::string_view text) {
  std::string line;
  append_sealed(line, text);
  return line;
}

std::optional<std::string> unsealed(std::string_view line) {
  const size_t tail = seal_member.size() + seal_digits + 2;
  if (line.size() < tail) return std::nullopt;
  const std::string_view text = line.substr(0, line.size() - tail);
  const std::string_view seal = line.substr(line.size() - tail);
  std::string expected(seal_member);
  append_digits(expected, crc32c(text));
  if (seal != expected + "\"}") return std::nullopt;
  std::string whole(text);
  whole += '}';
  return whole;
}

}  // namespace sluice::dro
