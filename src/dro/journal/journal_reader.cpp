#include "dro/journal/journal_reader.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace sluice::dro {
namespace {

using nlohmann::json;

// text_member() finds a string or number member in text that may be damaged elsewhere.
std::string text_member(std::string_view line, std::string_view name) {
  const std::string key = fmt::format("\"{}\":", name);
  const size_t place = line.find(key);
  if (place == std::string_view::npos) return {};
  std::string value;
  size_t at = place + key.size();
  if (at < line.size() && line[at] == '"') ++at;
  while (at < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '_')) {
    value += line[at++];
  }
  return value;
}

// name_of() is "footprint 3", as well as the line allows.
std::string name_of(std::string_view line) {
  std::string kind = text_member(line, "record");
  if (kind.empty()) return line.find("\"journal\":") != std::string_view::npos ? "header" : "";
  const char* number = kind == "launch" ? "number" : kind == "host_write" ? "buffer" : "id";
  const std::string id = kind == "warning" ? "" : text_member(line, number);
  return id.empty() ? kind : kind + " " + id;
}

// taken() runs `take`, which may throw nlohmann's exceptions, and makes them errors.
template <class Take>
auto taken(const JournalRecord& record, Take&& take) -> Result<decltype(take(record.value))> {
  try {
    return take(record.value);
  } catch (const json::exception& error) {
    return invalid_input(std::string("the record is not as it should be: ") + error.what(),
                         record.where);
  }
}

Dim3 extent_of(const json& value) {
  return {value.at(0).get<uint32_t>(), value.at(1).get<uint32_t>(), value.at(2).get<uint32_t>()};
}

BlockBox box_of(const json& value) {
  const Dim3 first = extent_of(value.at(0));
  const Dim3 last = extent_of(value.at(1));
  return {first.x, first.y, first.z, last.x, last.y, last.z};
}

analysis::Access access_of(const json& argument, const char* name) {
  analysis::Access access;
  if (!argument.contains(name)) return access;
  const json& value = argument.at(name);
  const auto precision = value.at("precision").get<std::string>();
  access.precision = precision == "exact"     ? analysis::Precision::exact
                     : precision == "bounded" ? analysis::Precision::bounded
                                              : analysis::Precision::whole_buffer;
  access.relation = value.at("relation").get<std::string>();
  access.reason = value.value("reason", "");
  return access;
}

}  // namespace

Result<JournalReader> JournalReader::open(const std::string& path) {
  JournalReader reader(path);
  if (!reader.file_) return system_error(std::string("cannot read: ") + std::strerror(errno), path);
  std::string line;
  if (!std::getline(reader.file_, line)) {
    if (errno == EISDIR) return system_error("cannot read: it is a directory", path);
    return invalid_input("the journal is empty", path);
  }
  ++reader.line_number_;
  const json header = json::parse(line, nullptr, false);
  if (!header.is_object() || header.value("journal", json()) != "sluice") {
    return invalid_input("this is no journal of Sluice", path);
  }
  if (header.value("version", json()) != journal_version) {
    return unsupported(fmt::format("the journal has version {}, and this program reads version {}",
                                   header.value("version", json()).dump(), journal_version),
                       path);
  }
  if (!unsealed(line)) {
    return invalid_input("seal does not match: the record was changed or damaged",
                         path + ":1 (header)");
  }
  reader.header_.rule = header.value("rule", json()) == "buffer" ? Rule::buffer : Rule::exact;
  reader.header_.program = header.value("program", "");
  return reader;
}

Result<std::optional<JournalRecord>> JournalReader::next() {
  std::string line;
  if (!std::getline(file_, line)) return std::nullopt;
  ++line_number_;
  const std::string name = name_of(line);
  JournalRecord record;
  record.where = fmt::format("{}:{}{}", path_, line_number_, name.empty() ? "" : " (" + name + ")");
  auto text = unsealed(line);
  if (!text && file_.eof()) {
    note_ = fmt::format("{}:{}: the last line is not whole; the program ended while it was written",
                        path_, line_number_);
    return std::nullopt;
  }
  if (!text) {
    return invalid_input("seal does not match: the record was changed or damaged", record.where);
  }
  record.text = std::move(*text);
  record.value = json::parse(record.text, nullptr, false);
  if (!record.value.is_object() || !record.value.value("record", json()).is_string()) {
    return invalid_input("the line is no record", record.where);
  }
  record.kind = record.value["record"].get<std::string>();
  return record;
}

Result<LaunchRecord> launch_of(const JournalRecord& record) {
  return taken(record, [](const json& value) {
    LaunchRecord launch;
    launch.number = value.at("number").get<LaunchNumber>();
    launch.details.kernel = value.at("kernel").get<std::string>();
    launch.details.grid = extent_of(value.at("grid"));
    launch.details.block = extent_of(value.at("block"));
    launch.details.stream = value.at("stream").get<uint64_t>();
    launch.details.passed_through = value.value("reason", "");
    if (!value.contains("footprint")) return launch;
    launch.footprint = value.at("footprint").get<FootprintId>();
    launch.interned = value.at("interned").get<InternedId>();
    for (const json& argument : value.at("arguments")) {
      launch.arguments.push_back({argument.at(0).get<BufferId>(), argument.at(1).get<uint64_t>()});
    }
    for (const json& dependence : value.at("dependences")) {
      launch.dependences.emplace_back(dependence.at(0).get<LaunchNumber>(),
                                      dependence.at(1).get<DroId>());
    }
    return launch;
  });
}

Result<std::pair<FootprintId, analysis::Footprint>> footprint_of(const JournalRecord& record) {
  return taken(record, [](const json& value) {
    analysis::Footprint footprint;
    footprint.kernel = value.at("kernel").get<std::string>();
    footprint.shape.grid = extent_of(value.at("grid"));
    footprint.shape.block = extent_of(value.at("block"));
    footprint.shape.dynamic_shared_bytes = value.at("dynamic_shared_bytes").get<uint32_t>();
    footprint.shape.shape_values = value.at("shape_values").get<std::vector<uint64_t>>();
    for (const json& symbol : value.at("symbols")) {
      footprint.symbols.push_back({symbol.at(0).get<std::string>(), symbol.at(1).get<int64_t>()});
    }
    for (const json& argument : value.at("arguments")) {
      footprint.arguments.push_back({access_of(argument, "reads"),
                                     access_of(argument, "may_writes"),
                                     access_of(argument, "must_writes")});
    }
    return std::pair{value.at("id").get<FootprintId>(), std::move(footprint)};
  });
}

Result<Dro> dro_of(const JournalRecord& record) {
  return taken(record, [](const json& value) {
    Dro dro;
    dro.id = value.at("id").get<DroId>();
    dro.master = value.at("master").get<InternedId>();
    dro.slave = value.at("slave").get<InternedId>();
    dro.master_state = value.at("master_state").get<uint32_t>();
    const auto hazards = value.at("hazards").get<std::string>();
    const auto holds = [&](const char* name) { return hazards.find(name) != std::string::npos; };
    dro.hazards = {holds("raw"), holds("war"), holds("waw")};
    dro.retires_master = value.at("retires_master").get<bool>();
    dro.buffers = value.at("buffers").get<std::vector<BufferId>>();
    dro.edges = value.at("edges").get<EdgeTableId>();
    return dro;
  });
}

Result<std::pair<EdgeTableId, EdgeTable>> edges_of(const JournalRecord& record) {
  return taken(record, [](const json& value) {
    EdgeTable table;
    const auto form = value.at("form").get<std::string>();
    table.form = form == "neighbours" ? EdgeForm::neighbours
                 : form == "all"      ? EdgeForm::all
                                      : EdgeForm::ranges;
    table.master_grid = extent_of(value.at("master_grid"));
    table.slave_grid = extent_of(value.at("slave_grid"));
    table.edge_count = value.at("edge_count").get<uint64_t>();
    if (table.form != EdgeForm::ranges) {
      table.master_box = box_of(value.at("master_box"));
      table.slave_box = box_of(value.at("slave_box"));
    }
    if (table.form == EdgeForm::neighbours) {
      for (const json& offset : value.at("offsets")) {
        table.offsets.push_back({offset.at(0).get<int32_t>(), offset.at(1).get<int32_t>(),
                                 offset.at(2).get<int32_t>()});
      }
    }
    if (table.form == EdgeForm::ranges) {
      table.rows = value.at("rows").get<std::vector<uint32_t>>();
      for (const json& range : value.at("ranges")) {
        table.ranges.push_back({range.at(0).get<uint32_t>(), range.at(1).get<uint32_t>()});
      }
    }
    return std::pair{value.at("id").get<EdgeTableId>(), std::move(table)};
  });
}

Result<uint64_t> number_in(const JournalRecord& record, const char* member) {
  return taken(record, [member](const json& value) { return value.at(member).get<uint64_t>(); });
}

}  // namespace sluice::dro
